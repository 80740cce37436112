-- name: insert
INSERT INTO bench VALUES ({values})

-- name: alter
ALTER TABLE bench {changes}

-- name: add
ADD i{n} integer

-- name: drop
DROP i{n}

-- name: create_index
CREATE INDEX bench_ind{n} ON bench (i{n})

-- name: drop_index
DROP INDEX bench_ind{n}
