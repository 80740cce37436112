-- corpus: fails
SELECT 1;
\set a true + 1
SELECT 2;
