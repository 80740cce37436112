-- corpus: random
\set size 10
\set a permute(3, :size)
\set b permute(3, :size, 42)
\set c permute(7, 1)
\set d permute(-3, 10, 5) = permute(3, 10, 5)
SELECT :a, :b, :c, :d::bool;
