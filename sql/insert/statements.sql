-- name: x
SELECT 1
