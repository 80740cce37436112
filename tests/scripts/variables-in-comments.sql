-- corpus: simple
\set n 5
SELECT :n /* :n */ -- :n
;
-- :n
