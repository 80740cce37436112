\set a 1 | 2 & 3 # 1 << 2
\set b ~ 1 + 2
\set c ~5
\set d 1 << 10 >> 3
\set e 12 & 10
\set f 12 # 10
\set g -1 >> 1
SELECT :a, :b, :c, :d, :e, :f, :g;
