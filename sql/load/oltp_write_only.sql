-- Two updates, then a row deleted and inserted again, in one transaction.
BEGIN;
\set table random(1, :tables)
\set id random(1, :table_size)
UPDATE sbtest:table SET k=k+1 WHERE id=:id;
\set table random(1, :tables)
\set id random(1, :table_size)
\setstring c ###########-###########-###########-###########-###########-###########-###########-###########-###########-###########
UPDATE sbtest:table SET c=':c' WHERE id=:id;
\set table random(1, :tables)
\set id random(1, :table_size)
\set k random(1, :table_size)
\setstring c ###########-###########-###########-###########-###########-###########-###########-###########-###########-###########
\setstring pad ###########-###########-###########-###########-###########
DELETE FROM sbtest:table WHERE id=:id;
INSERT INTO sbtest:table (id, k, c, pad) VALUES (:id, :k, ':c', ':pad');
COMMIT;
