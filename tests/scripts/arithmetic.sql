\set a 7 / 2
\set b -7 / 2
\set c -7 % 3
\set d 7 % -3
\set e 2 + 3 * 4 - 10 / 3
\set f (2 + 3) * 4
\set g -9223372036854775808
\set h 9223372036854775807
\set i - - 3
\set j 10 - 3 - 2
SELECT :a, :b, :c, :d, :e, :f, (:g)::bigint, :h::bigint, :i, :j;
