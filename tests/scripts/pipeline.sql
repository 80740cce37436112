-- corpus: prepared
\set a 1
\startpipeline
SELECT :a::int;
SELECT 2;
\endpipeline
SELECT 3;
\startpipeline
\if :a = 1
SELECT 4;
\endif
\endpipeline
