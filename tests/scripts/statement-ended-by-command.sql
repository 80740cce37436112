SELECT 1
\set a 2
SELECT :a
\if true
SELECT 3
\endif
