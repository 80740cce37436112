SELECT ';', 'a;b', 'it''s; fine', '\set x 1', '--', '/*';
SELECT 'line one;
line two;';
