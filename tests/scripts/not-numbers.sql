-- corpus: simple
\set a 1.0 / 0
\set b -1.0 / 0
\set c 0.0 / 0
SELECT ':a'::float8, ':b'::float8, ':c'::float8;
