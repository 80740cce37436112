-- corpus: transactions=2
-- before; not a statement
   -- indented
SELECT 1 -- behind; the first
     , 2 -- before the end
;
-- between
SELECT 3; -- behind
-- the last
