-- name: insert
INSERT INTO {table} VALUES ({u},{s},{two},{four},{ten},{twenty},{hundred},{thousand},
  {twothousand},{fivethous},{u},{odd},{even},'{stringu1}','{stringu2}','{string4}')

-- name: select_100
SELECT * FROM tenk1 WHERE unique2>301 AND unique2<402

-- name: select_1000
SELECT * FROM tenk1 WHERE unique2>647 AND unique2<1648

-- name: select_1
SELECT * FROM tenk1 WHERE unique2=2001

-- name: join_self
SELECT t1.*,t2.unique1 AS t2unique1,t2.unique2 AS t2unique2,t2.two AS t2two,t2.four AS t2four,
  t2.ten AS t2ten,t2.twenty AS t2twenty,t2.hundred AS t2hundred,t2.thousand AS t2thousand,
  t2.twothousand AS t2twothousand,t2.fivethous AS t2fivethous,t2.tenthous AS t2tenthous,
  t2.odd AS t2odd,t2.even AS t2even,t2.stringu1 AS t2stringu1,t2.stringu2 AS t2stringu2,
  t2.string4 AS t2string4 FROM tenk1 t1,tenk1 t2 WHERE t1.unique2=t2.unique2 AND t2.unique2<1000

-- name: join_bprime
SELECT t.*,B.unique1 AS Bunique1,B.unique2 AS Bunique2,B.two AS Btwo,B.four AS Bfour,
  B.ten AS Bten,B.twenty AS Btwenty,B.hundred AS Bhundred,B.thousand AS Bthousand,
  B.twothousand AS Btwothousand,B.fivethous AS Bfivethous,B.tenthous AS Btenthous,B.odd AS Bodd,
  B.even AS Beven,B.stringu1 AS Bstringu1,B.stringu2 AS Bstringu2,B.string4 AS Bstring4
  FROM tenk1 t,Bprime B WHERE t.unique2=B.unique2

-- name: join_three
SELECT t1.*,o.unique1 AS ounique1,o.unique2 AS ounique2,o.two AS otwo,o.four AS ofour,
  o.ten AS oten,o.twenty AS otwenty,o.hundred AS ohundred,o.thousand AS othousand,
  o.twothousand AS otwothousand,o.fivethous AS ofivethous,o.tenthous AS otenthous,o.odd AS oodd,
  o.even AS oeven,o.stringu1 AS ostringu1,o.stringu2 AS ostringu2,o.string4 AS ostring4
  FROM onek o,tenk1 t1,tenk1 t2 WHERE o.unique2=t1.unique2 AND t1.unique2=t2.unique2
  AND t1.unique2<1000 AND t2.unique2<1000

-- name: project
SELECT two,four,ten,twenty,hundred,string4 FROM tenk1

-- name: select_onek
SELECT * FROM onek

-- name: minimum
SELECT min(unique2) FROM tenk1

-- name: insert_1
INSERT INTO tenk1 (unique1,unique2,two,four,ten,twenty,hundred,thousand,twothousand,fivethous,
  tenthous,odd,even,stringu1,stringu2,string4) VALUES (10001,74001,0,2,0,10,50,688,1950,4950,
  9950,1,100,'ron may choi','jae kwang choi','u. c. berkeley')

-- name: insert_2
INSERT INTO tenk1 (unique1,unique2,two,four,ten,twenty,hundred,thousand,twothousand,fivethous,
  tenthous,odd,even,stringu1,stringu2,string4) VALUES (19991,60001,0,2,0,10,50,688,1950,4950,
  9950,1,100,'ron may choi','jae kwang choi','u. c. berkeley')

-- name: delete_1
DELETE FROM tenk1 WHERE unique2=877

-- name: delete_2
DELETE FROM tenk1 WHERE unique2=876

-- name: update_1
UPDATE tenk1 SET unique2=10001 WHERE unique2=1491

-- name: update_2
UPDATE tenk1 SET unique2=10023 WHERE unique2=1480

-- name: insert_3
INSERT INTO tenk1 (unique1,unique2,two,four,ten,twenty,hundred,thousand,twothousand,fivethous,
  tenthous,odd,even,stringu1,stringu2,string4) VALUES (20002,70002,0,2,0,10,50,688,1950,4950,
  9950,1,100,'ron may choi','jae kwang choi','u. c. berkeley')

-- name: insert_4
INSERT INTO tenk1 (unique1,unique2,two,four,ten,twenty,hundred,thousand,twothousand,fivethous,
  tenthous,odd,even,stringu1,stringu2,string4) VALUES (50002,40002,0,2,0,10,50,688,1950,4950,
  9950,1,100,'ron may choi','jae kwang choi','u. c. berkeley')

-- name: delete_3
DELETE FROM tenk1 WHERE unique2=10001

-- name: delete_4
DELETE FROM tenk1 WHERE unique2=900

-- name: update_3
UPDATE tenk1 SET unique2=10088 WHERE unique2=187

-- name: update_4
UPDATE tenk1 SET unique2=10003 WHERE unique2=2000

-- name: update_5
UPDATE tenk1 SET unique2=10020 WHERE unique2=1974

-- name: update_6
UPDATE tenk1 SET unique2=16001 WHERE unique2=1140

-- name: count_tenk1
SELECT count(*) FROM tenk1

-- name: delete_big
DELETE FROM Bprime WHERE unique2>=1000
