-- corpus: fails
SELECT id FROM corpus \gset
SELECT 2;
