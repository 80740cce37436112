-- A column that no index holds, of one row.
\set table random(1, :tables)
\set id random(1, :table_size)
\setstring c ###########-###########-###########-###########-###########-###########-###########-###########-###########-###########
UPDATE sbtest:table SET c=':c' WHERE id=:id;
