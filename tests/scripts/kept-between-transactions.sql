-- corpus: transactions=4 define=n=0
\set n :n + 1
SELECT :n::int;
