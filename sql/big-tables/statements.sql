-- name: select_all
SELECT * FROM bench1

-- name: select_fields
SELECT {fields} FROM bench1

-- name: insert
INSERT INTO bench1 VALUES ({values})

-- name: insert_fields
INSERT INTO bench1 ({fields}) VALUES ({values})
