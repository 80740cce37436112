\set a \
  1 + \
  2
\set b\
  4
SELECT :a, :b;
