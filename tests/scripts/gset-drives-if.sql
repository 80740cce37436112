SELECT max(id) AS most FROM corpus \gset
\if :most > 2
SELECT name FROM corpus WHERE id = :most::int;
\else
SELECT 'few';
\endif
