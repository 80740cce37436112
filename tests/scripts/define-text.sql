-- corpus: simple define=table=corpus define=column=name
SELECT :column FROM :table WHERE id = 1;
