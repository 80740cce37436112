-- corpus: fails define=v=text
SELECT 1;
\set a :v + 1
SELECT 2;
