-- corpus: fails
SELECT 1 AS a WHERE false \gset
SELECT 2;
