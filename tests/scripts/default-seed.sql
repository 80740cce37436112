-- corpus: define=default_seed=77
\set a hash(10)
\set b hash_fnv1a(10)
SELECT :a::bigint, :b::bigint;
