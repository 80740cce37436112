-- corpus: simple
SELECT 1 \; SELECT 2\;SELECT 3;
SELECT 4;
