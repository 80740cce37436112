-- corpus: fails
SELECT 1;
\set a 9223372036854775807 + 1
SELECT 2;
