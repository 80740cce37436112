-- corpus: simple
\set n 1
SELECT count(*) FROM corpus:n;
SELECT :n:n, :n+:n, -:n, :n:: int;
