-- corpus: fails
SELECT 1;
\set a 1 / 0
SELECT 2;
