-- corpus: fails define=v=text
SELECT 1;
\sleep :v ms
SELECT 2;
