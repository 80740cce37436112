-- The division of two integers is one already, and the bundled SQLite is built without
-- mathematical functions.
-- name: divide_negative
UPDATE bench1 SET id3=(0-id3)/20 WHERE id3<0
