-- A column that an index holds, of one row.
\set table random(1, :tables)
\set id random(1, :table_size)
UPDATE sbtest:table SET k=k+1 WHERE id=:id;
