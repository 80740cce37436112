//! What is said about a script that cannot run.

use std::sync::Arc;

use super::super::{Mix, Program, Values, split_weight};
use super::program;

fn error(text: &str) -> String {
    Program::parse("x.sql", text).unwrap_err().to_string()
}

/// The message of an error, and the mark: where it begins in its line.
fn marked(text: &str) -> (String, usize) {
    let error = Program::parse("x.sql", text).unwrap_err();
    let place = error.place.expect("a place");
    assert_eq!(place.shown, text.lines().nth(place.line - 1).unwrap_or(""));
    (error.message, place.column)
}

#[test]
fn the_line_is_shown_with_a_mark() {
    assert_eq!(
        error("SELECT 1;\n\\set x 1 + foo(2)\n"),
        "x.sql:2:12: unknown function 'foo'\n\\set x 1 + foo(2)\n           ^"
    );
    assert_eq!(
        error("\\if true\nSELECT 1;"),
        "x.sql:1:1: \\if without its \\endif\n\\if true\n^"
    );
    assert_eq!(
        error("-- nothing\n;\n"),
        "x.sql: the script has no SQL statement"
    );
    assert_eq!(error(""), "x.sql: the script has no SQL statement");
    assert_eq!(
        error("SELECT 1;\n\\set é 'x'"),
        "x.sql:2:8: unexpected character '''\n\\set é 'x'\n       ^"
    );
}

#[test]
fn expressions() {
    let cases = [
        ("\\set x foo(1)", "unknown function 'foo'", 8),
        ("\\set x now", "unknown function 'now'", 8),
        (
            "\\set x abs(1, 2)",
            "function 'abs' takes 1 argument, not 2",
            8,
        ),
        ("\\set x abs()", "function 'abs' takes 1 argument, not 0", 8),
        (
            "\\set x 1 + greatest()",
            "function 'greatest' takes 1 to 16 arguments, not 0",
            12,
        ),
        (
            "\\set x hash(1,2,3)",
            "function 'hash' takes 1 or 2 arguments, not 3",
            8,
        ),
        (
            "\\set x power(1)",
            "function 'pow' takes 2 arguments, not 1",
            8,
        ),
        ("\\set x 1 +", "the expression ends too early", 11),
        ("\\set x (1", "')' is missing", 10),
        ("\\set x 1 < 2 < 3", "unexpected '<'", 14),
        ("\\set x 1 = 1 = true", "unexpected '='", 14),
        ("\\set x 5 is not 5", "unexpected '5'", 17),
        ("\\set x 1 2", "unexpected '2'", 10),
        ("\\set x case end", "unexpected 'end'", 13),
        ("\\set x case when 1 then 2", "'end' is missing", 26),
        ("\\set x 1 == 2", "unexpected '='", 11),
        ("\\set x 0x10", "unexpected 'x10'", 9),
        ("\\set x 1 ! 2", "unexpected character '!'", 10),
        (
            "\\set x 9223372036854775808",
            "the number is out of range for an int: '9223372036854775808'",
            8,
        ),
        (
            "\\set x 99999999999999999999",
            "the number is out of range for an int: '99999999999999999999'",
            8,
        ),
        (
            "\\set x 1e999",
            "the number is out of range for a double: '1e999'",
            8,
        ),
        ("\\set x", "\\set lacks an expression", 1),
        ("\\if", "\\if lacks an expression", 1),
        ("\\set x abs(1,)", "unexpected ')'", 14),
        ("\\set x and", "unexpected 'and'", 8),
    ];
    for (text, message, column) in cases {
        assert_eq!(marked(text), (message.to_string(), column), "{text}");
    }
}

#[test]
fn commands() {
    let cases = [
        ("\\set", "\\set lacks the name of a variable", 1),
        (
            "\\set a-b 1",
            "'a-b' is no name for a variable: letters, digits and '_', no digit first",
            6,
        ),
        (
            "SELECT 1;\n\\sett x 1",
            "unknown command '\\sett'; a backslash inside SQL is taken for one unless it is quoted",
            1,
        ),
        ("\\sleep", "\\sleep lacks how long", 1),
        (
            "\\sleep soon",
            "'soon' is no time to sleep; a whole number is, or a :variable",
            8,
        ),
        ("\\sleep 5 min", "unknown unit 'min'; one of: us, ms, s", 10),
        ("\\sleep 5min", "unknown unit 'min'; one of: us, ms, s", 9),
        ("\\sleep 5 ms now", "unexpected 'now' behind \\sleep", 13),
        ("\\gset", "\\gset must follow an SQL statement", 1),
        (
            "SELECT 1 \\gset\n\\aset",
            "\\aset must follow an SQL statement",
            1,
        ),
        (
            "\\set x 1\n\\gset",
            "\\gset must follow an SQL statement",
            1,
        ),
        ("SELECT 1 \\gset a b", "unexpected 'b' behind \\gset", 18),
        (
            "SELECT 1 \\gset a-b",
            "'a-b' cannot begin the name of a variable",
            16,
        ),
        ("\\shell", "\\shell lacks a command", 1),
        ("\\setshell x", "\\setshell lacks a command", 1),
        ("\\else now", "unexpected 'now' behind \\else", 7),
    ];
    for (text, message, column) in cases {
        assert_eq!(marked(text), (message.to_string(), column), "{text}");
    }
}

#[test]
fn conditionals_and_pipelines() {
    let cases = [
        ("\\else\nSELECT 1;", "\\else without an \\if"),
        ("\\elif 1\nSELECT 1;", "\\elif without an \\if"),
        ("\\endif\nSELECT 1;", "\\endif without an \\if"),
        (
            "\\if 1\n\\else\n\\else\n\\endif\nSELECT 1;",
            "\\else behind \\else",
        ),
        (
            "\\if 1\n\\else\n\\elif 1\n\\endif\nSELECT 1;",
            "\\elif behind \\else",
        ),
        (
            "\\if 1\n\\if 2\nSELECT 1;\n\\endif",
            "\\if without its \\endif",
        ),
        (
            "SELECT 1;\n\\endpipeline",
            "\\endpipeline outside of a pipeline",
        ),
        (
            "SELECT 1;\n\\syncpipeline",
            "\\syncpipeline outside of a pipeline",
        ),
        (
            "\\startpipeline\n\\startpipeline\nSELECT 1;",
            "\\startpipeline inside a pipeline",
        ),
        (
            "\\startpipeline\nSELECT 1;",
            "\\startpipeline without its \\endpipeline",
        ),
        (
            "\\startpipeline\nSELECT 1 AS a \\gset\n\\endpipeline",
            "\\gset and \\aset cannot be used in a pipeline: no result is there yet",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(marked(text).0, message, "{text}");
    }
}

#[test]
fn sql() {
    let cases = [
        ("SELECT 'abc;\n", "the quoted string is never closed", 8),
        ("SELECT E'a\\';\n", "the quoted string is never closed", 9),
        ("SELECT \"abc;\n", "the quoted name is never closed", 8),
        (
            "SELECT $x$ abc;\n",
            "the dollar-quoted string is never closed",
            8,
        ),
        ("SELECT 1 /* abc;\n", "the comment is never closed", 10),
        ("SELECT (1;\n", "'(' is never closed", 8),
        ("SELECT 1\0;\n", "the script holds a NUL character", 9),
    ];
    for (text, message, column) in cases {
        assert_eq!(marked(text), (message.to_string(), column), "{text}");
    }
    let error = Program::parse_bytes("x.sql", b"SELECT 1;\nSELECT '\xff';").unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.sql:2:9: the script is not UTF-8 from here on\nSELECT '\n        ^"
    );
}

#[test]
fn nesting_has_a_limit() {
    let deep = format!(
        "\\set x {}1{}\nSELECT 1;",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    assert_eq!(
        marked(&deep).0,
        "the expression is nested more than 200 deep"
    );
    let long = format!("\\set x {}1\nSELECT 1;", "1 + ".repeat(5000));
    assert_eq!(
        marked(&long).0,
        "the expression is nested more than 200 deep"
    );
    let fine = format!("\\set x {}1\nSELECT 1;", "1 + ".repeat(150));
    program(&fine);
}

#[test]
fn weights() {
    let one = || Arc::new(program("SELECT 1;"));
    assert_eq!(
        Mix::new(vec![(one(), 1), (one(), 0)])
            .unwrap_err()
            .to_string(),
        "x.sql: the weight is 0; leave the script out, or give it 1 or more"
    );
    assert_eq!(
        Mix::new(vec![]).unwrap_err().to_string(),
        "load: there is no script to run"
    );
    assert!(Mix::new(vec![(one(), u64::MAX), (one(), 1)]).is_err());
    assert_eq!(split_weight("a.sql"), Ok(("a.sql", 1)));
    assert_eq!(split_weight("a@b.sql@12"), Ok(("a@b.sql", 12)));
    assert_eq!(
        split_weight("a.sql@0").unwrap_err().to_string(),
        "a.sql: the weight is 0; leave the script out, or give it 1 or more"
    );
    assert_eq!(
        split_weight("a.sql@x").unwrap_err().to_string(),
        "a.sql: 'x' is no weight; a whole number is"
    );
}

#[test]
fn variables_that_nothing_sets_are_found_before_the_run() {
    let check = |text: &str, values| {
        let mix = Mix::of(program(text)).unwrap();
        let defines = [("given".to_string(), "1".to_string())];
        mix.check(values, &defines).map_err(|e| e.to_string())
    };
    let in_text = |text| check(text, Values::InText);
    let as_params = |text| check(text, Values::AsParams);
    assert_eq!(
        in_text("SELECT 1;\n\\set x 1 + :y\n").unwrap_err(),
        "x.sql:2:12: nothing sets the variable 'y'; \\set it or give -D\n\\set x 1 + :y\n           ^"
    );
    assert!(in_text("\\sleep :y\nSELECT 1;").is_err());
    assert!(in_text("\\set x :given + :scale + hash(1)\nSELECT a[b:c], :y;").is_ok());
    assert!(in_text("SELECT 1 AS y \\gset a_\n\\set x :a_y\n").is_ok());
    assert!(in_text("SELECT 1 AS y \\gset a_\n\\set x :b_y\n").is_err());
    assert_eq!(
        as_params("SELECT\n  :y;").unwrap_err(),
        "x.sql:2:3: nothing sets the variable 'y'; \\set it or give -D\n  :y;\n  ^"
    );
    assert_eq!(
        as_params("\\set n 1\nSELECT 'n:n';").unwrap_err(),
        "x.sql:2:10: the variable 'n' stands in quotes and cannot be a parameter; \
         use -M simple, or take it out of them\nSELECT 'n:n';\n         ^"
    );
    assert_eq!(
        as_params("\\set n 1\nSELECT * FROM t:n;").unwrap_err(),
        "x.sql:2:16: the variable 'n' is part of a word and cannot be a parameter; \
         use -M simple\nSELECT * FROM t:n;\n               ^"
    );
    assert!(as_params("SELECT 1 AS a \\gset\nSELECT '{\"x\":true}', 'a:b', t[i:n], :a;").is_ok());
    let mix = Mix::of(program("SELECT 1;")).unwrap();
    let wrong = mix.check(Values::InText, &[("a-b".into(), String::new())]);
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "-D: 'a-b' is no name for a variable"
    );
}
