\set a true
\set b FALSE
\set c not :a
\set d :a and :b
\set e :a or :b
\set f :a is true
\set g :b is not false
SELECT :a::bool, :b::bool, :c::bool, :d::bool, :e::bool, :f::bool, :g::bool;
