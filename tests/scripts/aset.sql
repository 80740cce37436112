-- corpus: simple
SELECT 1 AS a \; SELECT 2 AS b WHERE false \; SELECT 3 AS c UNION SELECT 4 ORDER BY 1 \aset
SELECT :a, ':b', :c;
SELECT 5 AS x \; SELECT 6 AS y \aset q_
SELECT :q_x, :q_y;
