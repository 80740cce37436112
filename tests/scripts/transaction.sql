\set id 2
BEGIN;
SELECT name FROM corpus WHERE id = :id FOR UPDATE;
UPDATE corpus SET name = 'two' WHERE id = :id;
END;
