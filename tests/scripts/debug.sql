\set a debug(1) + debug(2.5)
\if debug(true)
\set b debug(null)
\else
\set b debug(0)
\endif
SELECT 1 AS x \gset
\set c debug(:x)
SELECT 2;
