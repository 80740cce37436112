\set a 1.5 + 1
\set b 1e3
\set c .5
\set d 5.
\set e 1 / 3.0
\set f 1e20 * 10
\set g 1e-5
\set h 0.1 + 0.2
\set i 123456789012345678.5
\set j 2 * 0.5
\set k -0.0
\set l 100000.0 * 10
SELECT :a::float8, :b::float8, :c::float8, :d::float8, :e::float8, :f::float8, :g::float8, :h::float8, :i::float8, :j::float8, :k::float8, :l::float8;
