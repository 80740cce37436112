-- name: insert_1
INSERT INTO bench1 VALUES ({id},{rev},'{region}',{grp},0)

-- name: insert_2
INSERT INTO bench2 VALUES ({id},{rev},'{region}',{grp},0)

-- name: update_1
UPDATE bench1 SET updated={value} WHERE idn={id}

-- name: update_2
UPDATE bench2 SET updated={value} WHERE idn={id}

-- name: delete_1
DELETE FROM bench1 WHERE idn={id}

-- name: delete_2
DELETE FROM bench2 WHERE idn={id}

-- name: count_1
SELECT count(*) FROM bench1 WHERE updated={value}

-- name: count_2
SELECT count(*) FROM bench2 WHERE updated={value}
