\set v 7
SELECT '12:30'::time, :v::int, 1::int, (:v)::text;
