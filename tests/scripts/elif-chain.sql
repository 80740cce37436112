-- corpus: transactions=5 define=n=0
\set n :n + 1
\if :n = 1
SELECT 'one';
\elif :n = 2
SELECT 'two';
\elif :n = 3 or 1 / (:n - 3) > 5
SELECT 'three';
\else
SELECT 'many';
\endif
