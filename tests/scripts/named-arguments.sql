\set d 3
SELECT make_interval(days := 3), make_interval(days := :d);
