\if false
\set a 1 / 0
\sleep 100 s
SELECT 1 AS x \gset
\elif true
SELECT 'taken';
\elif 1 / 0
SELECT 'never';
\endif
