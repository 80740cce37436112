-- name: insert
INSERT INTO bench1 VALUES ('{region}',{id},{rev},{grp})

-- name: insert_fields
INSERT INTO bench1 (region,idn,rev_idn,grp) VALUES ('{region}',{id},{rev},{grp})

-- name: insert_more
INSERT INTO bench1 VALUES ('{region}',{id},{rev},{grp},{grp})

-- name: insert_more_fields
INSERT INTO bench1 (region,idn,rev_idn,grp,grp_no_key) VALUES ('{region}',{id},{rev},{grp},{grp})

-- name: warm_up
SELECT sum(idn+1000),sum(rev_idn-1000) FROM bench1

-- name: select_cache
SELECT sum(idn+100),sum(rev_idn-100) FROM bench1

-- name: select_cache2
SELECT sum(idn+{j}),sum(rev_idn-{j}) FROM bench1

-- name: big_region
SELECT idn FROM bench1 WHERE region='{r}'

-- name: big_idn
SELECT idn FROM bench1 WHERE region='{r}' AND idn={i}

-- name: big_rev_idn
SELECT idn FROM bench1 WHERE region='{r}' AND rev_idn={i}

-- name: big_grp
SELECT idn FROM bench1 WHERE region='{r}' AND grp={g}

-- name: big_two_regions
SELECT idn FROM bench1 WHERE region>='B' AND region<='C' AND grp={g}

-- name: big_four_regions
SELECT idn FROM bench1 WHERE region>='B' AND region<='E' AND grp={g}

-- name: big_grp_alone
SELECT idn FROM bench1 WHERE grp={g}

-- name: range_in
SELECT * FROM bench1 WHERE region='{r}' AND grp IN ({list})

-- name: range_or
SELECT * FROM bench1 WHERE region='{r}' AND ({groups})

-- name: range_pairs
SELECT * FROM bench1 WHERE {pairs}

-- name: range_or_below
SELECT * FROM bench1 WHERE (region='{r}' AND ({groups})) AND idn<50

-- name: range_or_regions
SELECT * FROM bench1 WHERE ((region='{r}' AND ({groups})) OR (region='A' AND grp<10)) AND region<='B'

-- name: min_region
SELECT min(region) FROM bench1

-- name: max_region
SELECT max(region) FROM bench1

-- name: min_max_region
SELECT min(region),max(region) FROM bench1

-- name: min_rev_idn
SELECT min(rev_idn) FROM bench1 WHERE region='{r}'

-- name: max_grp
SELECT max(grp) FROM bench1 WHERE region='{r}'

-- name: max_idn
SELECT max(idn) FROM bench1 WHERE region='{r}' AND grp={g}

-- name: max_region_below
SELECT max(region) FROM bench1 WHERE region<'{r}'

-- name: count_region
SELECT count(*) FROM bench1 WHERE region='{r}'

-- name: count_region_grp
SELECT count(*) FROM bench1 WHERE region='{r}' AND grp={g}

-- name: count_regions_above
SELECT count(*) FROM bench1 WHERE region>'{r}'

-- name: count_regions_to
SELECT count(*) FROM bench1 WHERE region<='{r}'

-- name: count_region_grps_above
SELECT count(*) FROM bench1 WHERE region='{r}' AND grp>{g}

-- name: count_group_on_key_parts
SELECT grp,count(*) FROM bench1 GROUP BY grp

-- name: count_group
SELECT grp_no_key,count(*) FROM bench1 GROUP BY grp_no_key

-- name: count_group_with_order
SELECT grp_no_key,count(*) AS cnt FROM bench1 GROUP BY grp_no_key ORDER BY cnt

-- name: count_distinct_key_prefix
SELECT count(distinct region) FROM bench1

-- name: count_distinct
SELECT count(distinct grp) FROM bench1

-- name: count_distinct_2
SELECT count(distinct grp),count(distinct rev_idn) FROM bench1

-- name: count_distinct_group_on_key
SELECT region,count(distinct idn) FROM bench1 GROUP BY region

-- name: count_distinct_group_on_key_parts
SELECT grp,count(distinct idn) FROM bench1 GROUP BY grp

-- name: count_distinct_group
SELECT grp,count(distinct rev_idn) FROM bench1 GROUP BY grp

-- name: count_distinct_big
SELECT idn,count(distinct region) FROM bench1 GROUP BY idn
