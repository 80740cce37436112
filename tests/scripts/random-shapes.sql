-- corpus: random transactions=5
\set a random_exponential(1, 9, 3.0)
\set b random_gaussian(1, 9, 2.5)
\set c random_zipfian(1, 9, 1.5)
SELECT :a, :b, :c;
