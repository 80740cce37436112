-- One row more.
\set table random(1, :tables)
\set k random(1, :table_size)
\setstring c ###########-###########-###########-###########-###########-###########-###########-###########-###########-###########
\setstring pad ###########-###########-###########-###########-###########
INSERT INTO sbtest:table (k, c, pad) VALUES (:k, ':c', ':pad');
