-- corpus: simple
CREATE OR REPLACE RULE corpus_rule AS ON UPDATE TO corpus_ruled DO ALSO (SELECT 1; SELECT 2);
SELECT (1), ((2));
