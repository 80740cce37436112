-- corpus: simple
SELECT '{"a":true,"b":null, "c":"d"}'::json, 'smile :D', ':nothing';
