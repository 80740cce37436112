-- corpus: simple
\set a 1 < 2
\set b 2 <= 2
\set c 3 > 4
\set d 3 >= 4
\set e 1.0 = 1
\set f 1 <> 2
\set g 1 != 1
SELECT :a, :b, :c, :d, :e, :f, :g;
