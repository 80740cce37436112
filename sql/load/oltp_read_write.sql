-- The reads of oltp_read_only and the writes of oltp_write_only, in one transaction.
BEGIN;
\set table random(1, :tables)
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:table WHERE id=:id;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT c FROM sbtest:table WHERE id BETWEEN :id AND :last;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT SUM(k) FROM sbtest:table WHERE id BETWEEN :id AND :last;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT c FROM sbtest:table WHERE id BETWEEN :id AND :last ORDER BY c;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT DISTINCT c FROM sbtest:table WHERE id BETWEEN :id AND :last ORDER BY c;
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
