\set a 1
\set A 2
\set _b 3
\set c_4 4
SELECT :a, :A, :_b, :c_4;

