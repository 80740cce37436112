SELECT 1,
       2,

       3
FROM corpus
  WHERE id = 1;
