-- corpus: transactions=3 define=n=0
\set n :n + 1
\if :n = 2
SELECT 'two';
\else
SELECT 'not two';
\endif
