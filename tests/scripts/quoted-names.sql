SELECT 1 AS "a;b", 2 AS "say ""hi"";", 3 AS "\set";
