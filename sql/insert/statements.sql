-- Loading bench1.

-- name: insert
INSERT INTO bench1 (id,id2,id3,dummy1) VALUES ({k},{k},{k},'{text}')

-- name: insert_fast
INSERT INTO bench1 VALUES ({k},{k},{k},'{text}')

-- name: insert_rows
INSERT INTO bench1 VALUES

-- name: row
({k},{k},{k},'{text}')

-- name: insert_duplicate
INSERT INTO bench1 (id,id2,id3,dummy1) VALUES ({k},{k},2,'D')

-- Prepared selects.

-- name: prepared_select
SELECT * FROM bench1 WHERE id={k}

-- name: once_prepared_select
SELECT * FROM bench1 WHERE id=?

-- Whole table.

-- name: select_big
SELECT id FROM bench1

-- name: order_by_big_key
SELECT id,id2 FROM bench1 ORDER BY id,id2

-- name: order_by_big_key_desc
SELECT id,id2 FROM bench1 ORDER BY id DESC, id2 DESC

-- name: order_by_big_key_prefix
SELECT id FROM bench1 ORDER BY id DESC

-- name: order_by_big_key2
SELECT id3 FROM bench1 ORDER BY id3

-- name: order_by_big_key_diff
SELECT id2 FROM bench1 ORDER BY id3

-- name: order_by_big
SELECT id FROM bench1 ORDER BY id2,id3

-- Ranges.

-- name: order_by_range
SELECT dummy1 FROM bench1 WHERE id>={start} AND id<={end} ORDER BY id3

-- name: order_by_key_prefix
SELECT dummy1 FROM bench1 WHERE id>={start} AND id<={end} ORDER BY id

-- name: order_by_key2_diff
SELECT id2 FROM bench1 WHERE id3>={start} AND id3<={end} ORDER BY id3

-- name: select_diff_key
SELECT id2 FROM bench1 WHERE id={i} OR id3={k}

-- name: select_range
SELECT * FROM bench1 WHERE {condition}

-- Look-ups by key.

-- name: select_key_prefix
SELECT * FROM bench1 WHERE id={k}

-- name: select_key
SELECT * FROM bench1 WHERE id={k} AND id2={k}

-- name: select_key_return_key
SELECT id,id2 FROM bench1 WHERE id={k} AND id2={k}

-- name: select_key2
SELECT * FROM bench1 WHERE id3={k}

-- name: select_key2_return_key
SELECT id3 FROM bench1 WHERE id3={k}

-- name: select_key2_return_prim
SELECT id,id2 FROM bench1 WHERE id3={k}

-- The fixed conditions on one column, in the suite's order.

-- name: compare_01
SELECT * FROM bench1 WHERE {x}=3 OR {x}=2 OR {x}=1 OR {x}=4 OR {x}=16 OR {x}=10

-- name: compare_02
SELECT * FROM bench1 WHERE {x}>={last} OR {x}<1

-- name: compare_03
SELECT * FROM bench1 WHERE {x}>=1 AND {x}<=2

-- name: compare_04
SELECT * FROM bench1 WHERE ({x}>=1 AND {x}<=2) OR ({x}>=1 AND {x}<=2)

-- name: compare_05
SELECT * FROM bench1 WHERE {x}>=1 AND {x}<=10 AND {x}<=5

-- name: compare_06
SELECT * FROM bench1 WHERE ({x}>0 AND {x}<2) OR {x}>={last}

-- name: compare_07
SELECT * FROM bench1 WHERE ({x}>0 AND {x}<2) OR ({x}>={middle} AND {x}<={middle_end}) OR {x}={before_middle}

-- name: compare_08
SELECT * FROM bench1 WHERE ({x}>=5 AND {x}<=10) OR ({x}>=1 AND {x}<=4)

-- name: compare_09
SELECT * FROM bench1 WHERE ({x}=1 OR {x}=2) AND ({x}=3 OR {x}=4)

-- name: compare_10
SELECT * FROM bench1 WHERE ({x}=1 OR {x}=2) AND ({x}=2 OR {x}=3)

-- name: compare_11
SELECT * FROM bench1 WHERE ({x}=1 OR {x}=5 OR {x}=20 OR {x}=40) AND ({x}=1 OR {x}>=20 OR {x}=4)

-- name: compare_12
SELECT * FROM bench1 WHERE (({x}=1 OR {x}=3) OR ({x}>1 AND {x}<3)) AND {x}<=2

-- name: compare_13
SELECT * FROM bench1 WHERE ({x}>=0 AND {x}<4) OR ({x}>=4 AND {x}<6)

-- name: compare_14
SELECT * FROM bench1 WHERE {x}<=-1 OR ({x}>=0 AND {x}<=5) OR ({x}>=4 AND {x}<6) OR ({x}>=6 AND {x}<=7) OR ({x}>7 AND {x}<=8)

-- name: compare_15
SELECT * FROM bench1 WHERE ({x}>=1 AND {x}<=2 OR {x}>=4 AND {x}<=5) OR ({x}>=0 AND {x}<=10)

-- name: compare_16
SELECT * FROM bench1 WHERE ({x}>=1 AND {x}<=2 OR {x}>=4 AND {x}<=5) OR ({x}>2 AND {x}<=10)

-- name: compare_17
SELECT * FROM bench1 WHERE ({x}>1 OR {x}<1) AND {x}<=2

-- name: compare_18
SELECT * FROM bench1 WHERE {x}<=2 AND ({x}>1 OR {x}<=1)

-- name: compare_19
SELECT * FROM bench1 WHERE ({x}>=1 OR {x}<1) AND {x}<=2

-- name: compare_20
SELECT * FROM bench1 WHERE ({x}>=1 OR {x}<=2) AND {x}<=2

-- Groups.

-- name: group_count
SELECT count(*) FROM bench1

-- name: group_min_id
SELECT min(id) FROM bench1

-- name: group_max_id
SELECT max(id) FROM bench1

-- name: group_sum_id
SELECT sum(id+0.0) FROM bench1

-- name: group_id3
SELECT min(id3),max(id3),sum(id3-0.0) FROM bench1

-- name: group_text
SELECT min(dummy1),max(dummy1) FROM bench1

-- name: group_count_from
SELECT count(*) FROM bench1 WHERE id>={k}

-- name: group_all
SELECT count(*),sum(id+0.0),min(id),max(id),avg(id-0.0) FROM bench1

-- name: group_by_modulo
SELECT id % 10,count(*) FROM bench1 GROUP BY 1

-- name: group_by_three
SELECT id,id3,dummy1 FROM bench1 WHERE id<100+{c}-{c} GROUP BY id,id3,dummy1 ORDER BY id DESC,id3,dummy1

-- name: key_min_id
SELECT min(id) FROM bench1

-- name: key_max_id
SELECT max(id) FROM bench1

-- name: key_min_id2
SELECT min(id2) FROM bench1 WHERE id={j}

-- name: key_max_id2
SELECT max(id2) FROM bench1 WHERE id={j}

-- name: key_min_text
SELECT min(dummy1) FROM bench1 WHERE id={j}

-- name: key_max_text
SELECT max(dummy1) FROM bench1 WHERE id={j}

-- name: min_id2
SELECT min(id2) FROM bench1

-- name: max_id2
SELECT max(id2) FROM bench1

-- name: min_id3
SELECT min(id3) FROM bench1 WHERE id2={j}

-- name: max_id3
SELECT max(id3) FROM bench1 WHERE id2={j}

-- name: min_text
SELECT min(dummy1) FROM bench1 WHERE id2={j}

-- name: max_text
SELECT max(dummy1) FROM bench1 WHERE id2={j}

-- name: count_on_key
SELECT count(id) FROM bench1 WHERE id<{x}

-- name: count
SELECT count(dummy1) FROM bench1 WHERE id2<{x}

-- name: count_distinct_text
SELECT count(distinct dummy1) FROM bench1

-- name: count_distinct_by_text
SELECT dummy1,count(distinct id) FROM bench1 GROUP BY dummy1

-- Updates.

-- name: update_of_key
UPDATE bench1 SET id3=-{k} WHERE id3={k}

-- name: negate_from_zero
UPDATE bench1 SET id3=0-id3 WHERE id3>=0 AND id3<={i}

-- name: negate_below
UPDATE bench1 SET id3=0-id3 WHERE id3>=0 AND id3<{end}

-- name: negate_range
UPDATE bench1 SET id3=0-id3 WHERE id3>={start} AND id3<{end}

-- name: count_positive
SELECT count(*) FROM bench1 WHERE id3>=0

-- name: divide_negative
UPDATE bench1 SET id3=floor((0-id3)/20) WHERE id3<0

-- name: update_with_key
UPDATE bench1 SET dummy1='updated' WHERE id={i} AND id2={i}

-- name: update_with_key_prefix
UPDATE bench1 SET dummy1='updated' WHERE id={i}

-- name: update_big
UPDATE bench1 SET dummy1='updated {j}'

-- Joins.

-- name: outer_join_on_key
SELECT count(*) FROM bench1 a LEFT OUTER JOIN bench1 b ON a.id2=b.id3

-- name: outer_join
SELECT count(a.dummy1),count(b.dummy1) FROM bench1 a LEFT OUTER JOIN bench1 b ON a.id2=b.id3

-- name: outer_join_found
SELECT count(a.dummy1),count(b.dummy1) FROM bench1 a LEFT OUTER JOIN bench1 b ON a.id2=b.id3 WHERE b.id3 IS NOT NULL

-- name: outer_join_not_found
SELECT count(a.dummy1),count(b.dummy1) FROM bench1 a LEFT OUTER JOIN bench1 b ON a.id2=b.id3 WHERE b.id3 IS NULL

-- name: insert_list
INSERT INTO bench2 VALUES ({id})

-- name: select_in
SELECT bench1.* FROM bench1 WHERE id IN ({list})

-- name: select_join_in
SELECT bench1.* FROM bench2 LEFT OUTER JOIN bench1 ON bench1.id=bench2.id

-- name: insert_select_1_key
INSERT INTO bench2 SELECT * FROM bench1

-- name: insert_select_2_keys
INSERT INTO bench3 SELECT * FROM bench1

-- Deletes.

-- name: delete_key
DELETE FROM bench1 WHERE id3={k}

-- name: delete_from_zero
DELETE FROM bench1 WHERE id3>=0 AND id3<={end}

-- name: delete_range
DELETE FROM bench1 WHERE id>={start} AND id<={end}

-- name: delete_below
DELETE FROM bench1 WHERE id3<{end}

-- name: delete_all
DELETE FROM bench1

-- Many keys.

-- name: insert_key
INSERT INTO bench1 VALUES ({low},{low},{r},{third},'ABCDEF{r}',0,{r},{r}.0,'{r}','{r}','{r}','{r}','{r}','{r}','{r}','{r}','{r}')

-- name: key_row
({low},{low},{r},{third},'ABCDEF{r}',0,{r},{r}.0,'{r}','{r}','{r}','{r}','{r}','{r}','{r}','{r}','{r}')

-- name: update_many_keys
UPDATE bench1 SET field5=1 WHERE field_search={i}

-- name: delete_many_keys
DELETE FROM bench1 WHERE field_search={i}

-- name: delete_all_many_keys
DELETE FROM bench1 WHERE field1>0

-- name: truncate
TRUNCATE TABLE bench1
