-- corpus: simple random
SELECT :random_seed, :default_seed;
\set h hash(1)
SELECT :h;
