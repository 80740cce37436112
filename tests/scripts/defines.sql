-- corpus: define=v=7 define=half=0.5 define=yes=on define=scale=9
\set w :v * 2
\set x :half + 1
\set z case when :yes then 1 else 2 end
SELECT :v::int, :w, :x::float8, :z, :scale::int;
