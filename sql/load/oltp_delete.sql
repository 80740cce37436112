-- One row by its key, if it is still there.
\set table random(1, :tables)
\set id random(1, :table_size)
DELETE FROM sbtest:table WHERE id=:id;
