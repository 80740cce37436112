-- One row by its key.
\set table random(1, :tables)
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
