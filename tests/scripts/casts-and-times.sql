-- corpus: simple
\set v 7
SELECT '12:30'::time, '12:30:45'::time, :v::int, 1::int, '2024-01-01 00:00:00'::timestamp;
SELECT ':v'::text::int AS once WHERE false;
