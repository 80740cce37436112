-- sysbench's table, once for each number from 1 to the number of tables; :id_type is
-- SERIAL on PostgreSQL, INTEGER AUTO_INCREMENT on MySQL and MariaDB, INTEGER on SQLite.
CREATE TABLE sbtest:table (id :id_type NOT NULL PRIMARY KEY, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL);
CREATE INDEX k_:table ON sbtest:table (k);
