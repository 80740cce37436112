-- corpus: random transactions=5
\set a random(1, 9)
\set b random(-9, -1)
\set c random(100000, 999999)
\set d random(7, 7)
SELECT :a, :b, :c, :d;
