\set n 5
\set a case when :n > 4 then 1 else 2 end
\set b case when :n > 5 then 1 when :n > 4 then 2 else 3 end
\set c case when null then 1 when 0 then 2 when 0.5 then 3 end
\set d 1 + case when true then 2 end * 3
\set e case when true then 1 else 1 / 0 end
SELECT :a, :b, :c, :d, :e;
