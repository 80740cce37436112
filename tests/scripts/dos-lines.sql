\set x 1
SELECT :x;
\if :x
SELECT 2
, 3;
\endif
