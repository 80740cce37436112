-- corpus: simple
\set v 5
SELECT 1 \:\: int, ':v', 'a\:b';
