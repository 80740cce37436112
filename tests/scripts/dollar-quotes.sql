SELECT $$a;b$$, $tag$ $$;$$ '; $tag$, $_1$x$_1$;
SELECT 1 AS a$b$c, 2 AS d$$;
