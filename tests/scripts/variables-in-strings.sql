-- corpus: simple define=name=value
\set n 5
SELECT ':n', 'x:n:n', $$:n$$, ':name', 1 AS ":n";
