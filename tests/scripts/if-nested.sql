-- corpus: transactions=4 define=n=0
\set n :n + 1
\if :n > 1
  \if :n > 2
    SELECT 'above two';
    \if :n = 4
      SELECT 'four';
    \endif
  \else
    SELECT 'two';
  \endif
\endif
SELECT 'end';
