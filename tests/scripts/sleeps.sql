\set n 2
\sleep 1 ms
SELECT 1;
\sleep 5us
\sleep :n ms
\sleep 0
SELECT 2;
