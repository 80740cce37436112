SELECT 5 AS a, 'text' AS b \gset
SELECT :a::int;
\set c :a + 1
SELECT :c;
