-- corpus: fails
SELECT 1 \gset
SELECT 2;
