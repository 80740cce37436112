-- corpus: simple
\set a null
\set b :a + 1
\set c :a is null
\set d :a isnull
\set e :a notnull
\set f :a and false
\set g false and :a
\set h :a or true
\set i true or :a
\set j not :a
\set k greatest(1, :a)
\set l 1 is not null
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l;
