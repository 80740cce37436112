//! Clients at work.

use std::sync::Arc;
use std::time::Duration;

use super::super::{Action, Machine, Mix, Param};
use super::{machine, program, rest, sent, setup, transaction};

#[test]
fn branches_are_taken_by_their_conditions() {
    let script = |a: &str| {
        let text = format!(
            "\\set a {a}\n\\if :a = 1\nSELECT 'one';\n\\if false\nSELECT 'never';\n\\else\n\
             SELECT 'inner';\n\\endif\n\\elif :a = 2\nSELECT 'two';\n\\elif 1 / (:a - 3) is null\n\
             \\else\nSELECT 'else';\n\\endif\nSELECT 'end';"
        );
        sent(&text)
    };
    assert_eq!(
        script("1"),
        ["SELECT 'one';", "SELECT 'inner';", "SELECT 'end';"]
    );
    assert_eq!(script("2"), ["SELECT 'two';", "SELECT 'end';"]);
    assert_eq!(script("4"), ["SELECT 'else';", "SELECT 'end';"]);
}

#[test]
fn conditions_take_numbers_and_null() {
    let text = "\\if null\nSELECT 1;\n\\elif 0.0\nSELECT 2;\n\\elif -1\nSELECT 3;\n\\endif";
    assert_eq!(sent(text), ["SELECT 3;"]);
}

#[test]
fn sleeps_have_units() {
    let text =
        "\\set n 3\n\\sleep 5\n\\sleep 2 ms\n\\sleep 7us\n\\sleep :n MS\n\\sleep -1 s\nSELECT 1;";
    let mut machine = machine(text, &[]);
    machine.begin();
    let slept = [5_000_000, 2000, 7, 3000, 0];
    for micros in slept {
        let expected = Action::Sleep(Duration::from_micros(micros));
        assert_eq!(machine.next().unwrap(), expected);
    }
    assert_eq!(machine.next().unwrap(), Action::Send(0));
    assert_eq!(machine.next().unwrap(), Action::Finished);
    assert_eq!(machine.next().unwrap(), Action::Finished);
}

#[test]
fn pipelines_are_told() {
    let text = "\\startpipeline\nSELECT 1;\n\\syncpipeline\nSELECT 2;\n\\endpipeline\nSELECT 3;";
    assert!(program(text).uses_pipeline());
    assert_eq!(
        sent(text),
        [
            "StartPipeline",
            "SELECT 1;",
            "SyncPipeline",
            "SELECT 2;",
            "EndPipeline",
            "SELECT 3;"
        ]
    );
}

#[test]
fn pipelines_on_some_paths_are_found_when_they_happen() {
    let script = |a: &str| {
        let text = format!("\\set a {a}\n\\if :a\n\\startpipeline\n\\endif\nSELECT 1;");
        let mut machine = machine(&text, &[]);
        transaction(&mut machine)
    };
    assert!(script("false").is_ok());
    let error = script("true").unwrap_err();
    assert_eq!(error.message, "the script ends inside a pipeline");
}

#[test]
fn shell_commands_are_built() {
    let text = "\\set a 5\n\\shell echo :a ::a a:a\n\\setshell b expr :a + 12\nSELECT :b;";
    assert!(program(text).uses_shell());
    assert_eq!(
        sent(text),
        ["shell: echo 5 :a a:a", "shell: expr 5 + 12", "SELECT 17;"]
    );
    let mut machine = machine(text, &[]);
    machine.begin();
    machine.next().unwrap();
    machine.next().unwrap();
    let error = machine.shell_output("many").unwrap_err();
    assert_eq!(
        error.message,
        "the command must write an integer, not 'many'"
    );
}

#[test]
fn results_become_variables() {
    let text = "SELECT 1 \\; SELECT 2 \\gset p_\nSELECT :p_a, ':p_b', :a;\n\
                SELECT 3 \\; SELECT 4 \\; SELECT 5 \\aset\nSELECT :a, :c;";
    let mut machine = machine(text, &[("a", "0")]);
    machine.begin();
    machine.next().unwrap();
    machine.received(1, false, [("a", Some("9"))]).unwrap();
    machine
        .received(1, true, [("a", Some("1")), ("b", None)])
        .unwrap();
    let mut sent = String::new();
    machine.next().unwrap();
    machine.simple_text(&mut sent);
    assert_eq!(sent, "SELECT 1, '', 0;");
    machine.next().unwrap();
    machine.received(3, false, [("a", Some("7"))]).unwrap();
    machine.received(0, false, []).unwrap();
    machine.received(1, true, [("c", Some("8"))]).unwrap();
    assert_eq!(rest(&mut machine).unwrap(), ["SELECT 7, 8;"]);
}

#[test]
fn gset_wants_one_row_and_names_that_can_be() {
    let mut machine = machine("\nSELECT 1 AS a \\gset", &[]);
    machine.begin();
    machine.next().unwrap();
    let error = machine.received(0, true, []).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.sql:2: \\gset expects one row, got 0 in `SELECT 1 AS a \\gset`"
    );
    let error = machine
        .received(1, true, [("?column?", Some("1"))])
        .unwrap_err();
    assert_eq!(error.message, "'?column?' is no name for a variable");
}

#[test]
fn params_are_typed() {
    let text =
        "\\set a 1\n\\set b 2.5\n\\set c true\n\\set d null\nSELECT :a, :b, :c, :d, :e, :f, :a;";
    let mut machine = machine(text, &[("e", "text")]);
    machine.begin();
    machine.next().unwrap();
    let params: Vec<Param<'_>> = machine.params().collect();
    let expected = [
        Param::Int(1),
        Param::Double(2.5),
        Param::Bool(true),
        Param::Null,
        Param::Text("text"),
        Param::Null,
        Param::Int(1),
    ];
    assert_eq!(params, expected);
    assert_eq!(machine.param(4), Param::Text("text"));
}

#[test]
fn variables_live_on_and_are_common_to_all_scripts() {
    let first = program("\\if :n is null\n\\set n 0\n\\endif\n\\set n :n + 1\nSELECT 'first', :n;");
    let second = program("\\set n :n + 10\nSELECT 'second', :n;");
    let mix = Mix::new(vec![(Arc::new(first), 1), (Arc::new(second), 3)]).unwrap();
    let mut machine = Machine::new(&setup(&[("n", "null")]), Arc::new(mix));
    let (mut n, mut counts) = (0, [0, 0]);
    for _ in 0..4000 {
        let script = machine.begin();
        counts[script] += 1;
        let sent = rest(&mut machine).unwrap();
        let name = ["first", "second"][script];
        n = if n == 0 {
            [1, 10][script]
        } else {
            n + [1, 10][script]
        };
        if n == 10 && script == 1 {
            // NULL + 10 is NULL: the second script came first.
            assert_eq!(sent, ["SELECT 'second', NULL;"]);
            n = 0;
            continue;
        }
        assert_eq!(sent, [format!("SELECT '{name}', {n};")]);
    }
    assert!((2850..3150).contains(&counts[1]), "{counts:?}");
}

#[test]
fn a_retry_does_the_same_again() {
    let text = "\\set a random(1, 1000000)\n\\set n :n + 1\nSELECT :a, :n;\n\
                \\set b random_zipfian(1, 1000, 1.1)\n\\setstring c ###-@@\nSELECT :b, ':c';";
    let mut machine = machine(text, &[("n", "0")]);
    for _ in 0..100 {
        machine.begin();
        machine.next().unwrap();
        machine.retry();
        let once = rest(&mut machine).unwrap();
        machine.retry();
        assert_eq!(rest(&mut machine).unwrap(), once);
        let next = transaction(&mut machine).unwrap();
        assert_ne!(next, once);
    }
    assert!(transaction(&mut machine).unwrap()[0].ends_with(", 201;"));
}

#[test]
fn the_same_seed_gives_the_same_keys_to_each_client() {
    let text = "\\set a random(1, 1000000)\nSELECT :a;";
    let keys = |client_id, random_seed| {
        let mut setup = setup(&[]);
        (setup.client_id, setup.random_seed) = (client_id, random_seed);
        let mix = Arc::new(Mix::of(program(text)).unwrap());
        let mut machine = Machine::new(&setup, mix);
        let all = (0..20).flat_map(|_| transaction(&mut machine).unwrap());
        all.collect::<Vec<_>>()
    };
    assert_eq!(keys(0, 1), keys(0, 1));
    assert_ne!(keys(0, 1), keys(1, 1));
    assert_ne!(keys(0, 1), keys(0, 2));
}
