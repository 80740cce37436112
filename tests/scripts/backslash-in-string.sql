SELECT 'ends with \', 'x;';
SELECT E'it\'s;', e'\\', E'\\''s';
