//! Plan files: those that come with the program, and what a user's own does.

mod common;

use std::fs;

use common::{Place, can_mount, text};
use mountmark::record::Outcome;

const PLANS: [&str; 7] = [
    "sql-bench-memory",
    "pgsql-insert-load",
    "source-tree",
    "small-file-archive",
    "wal-sync-method",
    "journal-modes",
    "which-file-system",
];

fn plan(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let output = place.command().arg("plan").args(args).output();
    let output = output.expect("it runs");
    (output.status.code(), text(&output))
}

/// The number before `words` in a text.
fn number_before(text: &str, words: &str) -> usize {
    let before = text.split(words).next().unwrap_or_default();
    let word = before.split_whitespace().last().unwrap_or_default();
    word.parse()
        .unwrap_or_else(|_| panic!("no number before {words}: {text}"))
}

#[test]
fn every_plan_is_planned_in_full_and_in_short() {
    let place = Place::new();
    let (code, list) = plan(&place, &["--list"]);
    assert_eq!(code, Some(0), "{list}");
    for (name, full, short) in [
        ("sql-bench-memory", 8 * 10 * 2, 2 * 4 * 2),
        ("pgsql-insert-load", 8 * 2, 5),
        ("source-tree", 7, 7),
        ("small-file-archive", 4, 4),
        ("wal-sync-method", 2 + 2 * 4 * 2, 1 + 4),
        ("journal-modes", 5 * 4, 5 * 2),
        ("which-file-system", 5 * (3 * 2 + 1), 5 * (2 + 1)),
    ] {
        assert!(PLANS.contains(&name) && list.contains(name), "{list}");
        let (code, shown) = plan(&place, &["--plan", name]);
        assert_eq!(code, Some(0), "{name}: {shown}");
        assert!(shown.starts_with(&format!("plan {name}: ")), "{shown}");
        assert_eq!(number_before(&shown, " cases"), full, "{name}: {shown}");
        assert!(shown.contains(" × 5 rounds"), "{name}: {shown}");
        let (code, shown) = plan(&place, &["--plan", name, "--short"]);
        assert_eq!(code, Some(0), "{name}: {shown}");
        assert!(shown.contains(", short form: "), "{shown}");
        assert_eq!(number_before(&shown, " cases"), short, "{name}: {shown}");
        // The file in the tree is the one in the program.
        let file = format!("{}/fixtures/plans/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let (code, from_file) = plan(&place, &["--plan", &file, "--short"]);
        assert_eq!(code, Some(0), "{file}: {from_file}");
        let cases = |text: &str| text.lines().skip(1).map(String::from).collect::<Vec<_>>();
        assert_eq!(cases(&from_file), cases(&shown), "{file}");
    }
    place.assert_nothing_left("after plans");
}

#[test]
fn wrong_plans_name_file_line_and_way_out() {
    let place = Place::new();
    for (file, words) in [
        (
            "rounds = 2\nroundz = 3\n",
            "p.toml:2: unknown key 'roundz'; did you mean 'rounds'?",
        ),
        (
            "rounds = 2\n\n[sort]\n",
            "p.toml:3: unknown section [sort]; the only one is [short]",
        ),
        (
            "rounds = \"two\"\n",
            "p.toml:1: invalid value 'two' for '--rounds <N>'",
        ),
        (
            "on = \"ext4\"\nfast = 1\n",
            "p.toml:2: 'fast' is true or false, not a number",
        ),
        (
            "destroy = \"/dev/null\"\n",
            "p.toml:1: 'destroy' cannot stand in a plan file",
        ),
        ("rounds = \n", "p.toml:1: "),
        (
            "workload = \"create\"\nthreshold = 7\n",
            "plan p.toml: --threshold 7: write it like 5%",
        ),
        (
            "client = 3\nworkload = \"create\"\n",
            "plan p.toml: --client is for the workload load",
        ),
    ] {
        fs::write(place.path("p.toml"), file).expect("a file");
        let (code, shown) = plan(&place, &["--plan", "p.toml"]);
        assert_eq!(code, Some(2), "{file}: {shown}");
        assert!(shown.contains(words), "{file}: {shown}");
        assert!(shown.lines().count() <= 2, "{file}: {shown}");
    }
    fs::write(place.path("p.toml"), "rounds = 1\n").expect("a file");
    for (args, words) in [
        (
            &["--plan", "jurnal-modes"][..],
            "unknown plan 'jurnal-modes'; one of: sql-bench-memory",
        ),
        (
            &["--plan", "absent.toml"],
            "cannot read the plan absent.toml",
        ),
        (
            &["--plan", "p.toml", "--short"],
            "plan p.toml has no section [short]",
        ),
        (&["--short"], "--plan"),
    ] {
        let (code, shown) = plan(&place, args);
        assert_eq!(code, Some(2), "{args:?}: {shown}");
        assert!(shown.contains(words), "{args:?}: {shown}");
    }
    place.assert_nothing_left("after wrong plans");
}

/// A few tables on ext4, and a file system that nobody has any more.
const TINY: &str = "\
# Tables made, as a try.

workload = [\"create\"]
engine = \"sqlite\"
on = [\"ext4\", \"reiserfs\"]
profile = \"small-test\"
loops = 0.1
rounds = 2
label = \"tiny\"

[short]
rounds = 1
";

#[test]
fn a_plan_is_measured_stored_and_resumed() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    fs::write(place.path("tiny.toml"), TINY).expect("a file");
    let output = place
        .run(&["--plan", "tiny.toml", "--skip-missing", "--loops", "0.05"])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    for words in [
        "note: plan tiny.toml: Tables made, as a try\n",
        "note: what was typed replaces the plan's --loops=0.1\n",
        "note: skipped: reiserfs_defaults: ",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let results = place.results();
    let run = &results.run;
    assert_eq!(run.label.as_deref(), Some("tiny"));
    assert_eq!((run.plan.rounds, run.plan.loops), (2, 0.05));
    // What was measured can be told, and done again, without the file.
    assert!(
        run.arguments.contains(&"--on=reiserfs".to_string()),
        "{:?}",
        run.arguments
    );
    let outcomes = |target: &str| -> Vec<&Outcome> {
        let of = results.cases.iter().filter(|c| c.case.target == target);
        of.map(|c| &c.outcome).collect()
    };
    let ext4 = outcomes("ext4_defaults");
    assert!(
        ext4.len() >= 2 && ext4.iter().all(|o| **o == Outcome::Measured),
        "{shown}"
    );
    for outcome in outcomes("reiserfs_defaults") {
        let Outcome::Skipped { reason, .. } = outcome else {
            panic!("{outcome:?}");
        };
        assert!(reason.contains("reiserfs"), "{reason}");
    }
    assert!(shown.contains("skipped: reiserfs_defaults"), "{shown}");
    // Nothing is compared with what is not there, and no interval pays for it.
    assert!(shown.contains("nothing to compare"), "{shown}");
    let cases = results.cases.len();
    fs::remove_file(place.path("tiny.toml")).expect("it was there");
    let id = run.id.clone();
    let output = place
        .command()
        .args(["run", "--resume", &id, "--results"])
        .arg(place.path("results"))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(place.results().cases.len(), cases);
    place.assert_nothing_left("after the plan");
}

#[test]
fn without_skip_missing_a_missing_file_system_is_told_by_the_exit_code() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    fs::write(place.path("tiny.toml"), TINY).expect("a file");
    let output = place.run(&["--plan", "tiny.toml", "--short"]).output();
    let output = output.expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert_eq!(place.results().run.plan.rounds, 1);
    place.assert_nothing_left("after the plan");
}

#[test]
fn the_plan_of_the_manual_is_one() {
    let place = Place::new();
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/plans.md");
    let manual = fs::read_to_string(manual).expect("the manual");
    let file = manual.split("```").nth(1).expect("an example");
    fs::write(place.path("p.toml"), file.trim_start()).expect("a file");
    for (args, cases) in [
        (&["--plan", "p.toml"][..], 2 * 2 + 2 * 2 * 2),
        (&["--plan", "p.toml", "--short"], 2 * 2 + 2 * 2),
    ] {
        let (code, shown) = plan(&place, args);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains(": Does the log of SQLite matter"), "{shown}");
        assert_eq!(number_before(&shown, " cases"), cases, "{shown}");
    }
}
