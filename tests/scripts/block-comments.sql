/* one; */ SELECT 1 /* two; 'quoted */ , 2;
/* three
   lines; */
SELECT /* nested /* inner; */ outer; */ 3;
