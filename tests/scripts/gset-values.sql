-- corpus: simple
SELECT NULL AS a, true AS b, 1.50 AS c, 'it is' AS d \gset
SELECT ':a', ':b', :c, ':d';
\set e :b is true
\set f :c + 1
SELECT :e, :f;
