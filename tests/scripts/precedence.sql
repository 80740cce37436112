-- corpus: simple
\set a not 1 = 2
\set b 1 = 2 is null
\set c true or false and false
\set d not false and false
\set e 1 + 2 < 4
\set f 1 < 2 is not null and not 3 >= 4
\set g -2 + 3 * -1
\set h 1 | 2 + 4
SELECT :a, :b, :c, :d, :e, :f, :g, :h;
