\if null
SELECT 'null';
\endif
\if 0
SELECT 'zero';
\endif
\if 0.0
SELECT 'zero double';
\endif
\if -1
SELECT 'minus one';
\endif
\if 0.1
SELECT 'a tenth';
\endif
