-- An index belongs to its table.
-- name: drop_index
DROP INDEX bench_ind{n} ON bench
