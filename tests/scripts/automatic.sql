SELECT :client_id::int, :scale::int;
\set s :scale * 10
SELECT :s;
