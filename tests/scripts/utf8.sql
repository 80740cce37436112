\set größe 4
SELECT :größe AS "größe", 'naïve; ☃';
