//! Statements: where they end, and where their variables are.

use super::super::{Keep, ParamStyle};
use super::{machine, program, sent, transaction};

#[test]
fn comments_and_blanks_before_a_statement_go_others_stay() {
    let text = "-- first\n  -- second :v\n/* block */ SELECT 1 -- tail\n , 2; -- after\n\
                /* only */\nSELECT 2 /* a /* nested ; */ ; */ ;\n -- end\n/* end */";
    assert_eq!(
        sent(text),
        [
            "/* block */ SELECT 1 -- tail\n , 2;",
            "/* only */\nSELECT 2 /* a /* nested ; */ ; */ ;"
        ]
    );
}

#[test]
fn quotes_hide_semicolons_and_backslashes() {
    let text = "SELECT E'it\\'s;', 'a\\';\nSELECT \"a;b\", 'it''s;' ;\n\
                SELECT $a$ ; $$ ; $a$, $$;$$, x$y$z;\nSELECT (1;2);";
    assert_eq!(
        sent(text),
        [
            "SELECT E'it\\'s;', 'a\\';",
            "SELECT \"a;b\", 'it''s;' ;",
            "SELECT $a$ ; $$ ; $a$, $$;$$, x$y$z;",
            "SELECT (1;2);"
        ]
    );
}

#[test]
fn a_function_body_keeps_its_semicolons() {
    let text = "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; \
                SELECT CASE WHEN true THEN 2 END; END;\nBEGIN;\nEND;";
    assert_eq!(sent(text).len(), 3);
}

#[test]
fn escaped_semicolons_and_colons_lose_their_backslash() {
    assert_eq!(
        sent("SELECT 1\\; SELECT 2;\nSELECT 'a\\:b', 1 \\:\\: int;"),
        ["SELECT 1; SELECT 2;", "SELECT 'a\\:b', 1 :: int;"]
    );
}

#[test]
fn a_command_ends_the_statement_before_it() {
    assert_eq!(
        sent("SELECT 1\n\\set a 2\nSELECT :a;"),
        ["SELECT 1\n", "SELECT 2;"]
    );
}

#[test]
fn variables_in_a_text_are_replaced_where_pgbench_does() {
    let text = "SELECT '12:30'::time, 'a:b', 'x:v', :v::int, 1::int, ':v', a[1:2], :v /* :v */;\n\
                SELECT :none, b:v, :::v, :=v;";
    let mut machine = machine(text, &[("v", "7")]);
    assert_eq!(
        transaction(&mut machine).unwrap(),
        [
            "SELECT '12:30'::time, 'a:b', 'x7', 7::int, 1::int, '7', a[1:2], 7 /* 7 */;",
            "SELECT :none, b7, :::v, :=v;"
        ]
    );
}

#[test]
fn parameters_stand_outside_of_strings_comments_and_words() {
    let program = program(
        "\\set v 1\nSELECT :v, ':v', 'x:v', t:v, \":v\", /* :v */ $$:v$$, :v::int, '12:30' -- :v\n;",
    );
    let statement = &program.statements()[0];
    assert_eq!(
        statement.prepared_text(ParamStyle::Dollar),
        "SELECT $1, $2, 'x:v', t:v, \":v\", /* :v */ $$:v$$, $3::int, '12:30' -- :v\n;"
    );
    assert_eq!(
        statement.prepared_text(ParamStyle::Question),
        "SELECT ?, ?, 'x:v', t:v, \":v\", /* :v */ $$:v$$, ?::int, '12:30' -- :v\n;"
    );
    assert_eq!(statement.params().len(), 3);
    assert_eq!(statement.line, 2);
}

#[test]
fn a_string_that_only_looks_like_a_variable_stays() {
    let program = program("SELECT ':D', :v;");
    let text = program.statements()[0].prepared_text(ParamStyle::Dollar);
    assert_eq!(text, "SELECT ':D', $1;");
}

#[test]
fn lines_are_joined_by_a_backslash() {
    let text = "\\set a \\\n 1 + \\\r\n 2\n\\set b\\\n 4\nSELECT :a, :b;";
    assert_eq!(sent(text), ["SELECT 3, 4;"]);
}

#[test]
fn line_ends_of_dos_and_upper_case_commands() {
    let text = "\\SET x 1\r\nSELECT :x;\r\n\\If :x\r\nSELECT 2\r\n;\r\n\\ENDIF\r\n\\\r\n";
    assert_eq!(sent(text), ["SELECT 1;", "SELECT 2\r\n;"]);
}

#[test]
fn gset_and_aset_belong_to_the_statement_before() {
    let program = program(
        "SELECT 1 AS a \\gset\nSELECT 2 AS b; \\gset p_\nSELECT 3 AS c \\; SELECT 4 \\aset\nSELECT 5;",
    );
    let kept: Vec<_> = program.statements().iter().map(|s| s.keep).collect();
    assert_eq!(kept, [Keep::One, Keep::One, Keep::All, Keep::Nothing]);
    assert_eq!(program.statements()[0].text, "SELECT 1 AS a ");
}
