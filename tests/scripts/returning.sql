BEGIN;
UPDATE corpus SET name = name WHERE id = 2 RETURNING id AS changed \gset
SELECT :changed::int;
ROLLBACK;
