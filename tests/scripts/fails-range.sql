-- corpus: fails
SELECT 1;
\set a random(5, 1)
SELECT 2;
