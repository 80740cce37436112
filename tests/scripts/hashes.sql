\set a hash(10, 5432)
\set b hash_fnv1a(10, 5432)
\set c hash_murmur2(10, 5432)
\set d hash_fnv1a(-1, 7)
\set e hash(9223372036854775807, -1)
\set f hash(0, 0)
\set g hash_fnv1a(0, 0)
SELECT :a::bigint, :b::bigint, :c::bigint, :d::bigint, :e::bigint, :f::bigint, :g::bigint;
