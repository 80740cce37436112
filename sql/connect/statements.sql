-- name: select_simple
SELECT {i}

-- name: select_simple_cache
SELECT 10000

-- name: insert
INSERT INTO bench1 VALUES ({a},{i},'{s}')

-- name: select_row
SELECT a,i,s,{i} FROM bench1

-- name: select_row_cache
SELECT a,i,s FROM bench1

-- name: select_column+column
SELECT a+a+a+a+a+a+a+a+a+{i} FROM bench1

-- name: insert_blob
INSERT INTO bench1 VALUES (?)

-- name: select_big_str
SELECT b,{i} FROM bench1

-- name: select_blob
SELECT b FROM bench1
