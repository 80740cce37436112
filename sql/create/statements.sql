-- name: count_rows
SELECT count(*) FROM bench_{i}

-- name: drop_table
DROP TABLE bench_{i}
