-- corpus: simple
\set a 5
\shell test :a = 5
\setshell b expr :a + 12
SELECT :b;
\setshell c echo ::a | wc -c
SELECT :c;
