SELECT id AS one, id + 1 AS two FROM corpus WHERE id = 1 \gset p_
SELECT :p_one::int, :p_two::int;
