-- corpus: simple
SELECT 1 AS a \; SELECT 2 AS b \gset
SELECT ':a', :b;
