//! Made-up runs, and what is printed of them.

use std::path::Path;

use super::*;
use crate::record::*;

/// A run of one round of one phase, its case measured on the example's target.
fn results(phase: &str, operations: Vec<OperationRecord>) -> Results {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    let mut results = load(&dir).unwrap();
    let mut case = results.cases[0].clone();
    case.case.workload = phase.to_string();
    case.phases[0].name = phase.to_string();
    case.phases[0].ends.as_mut().unwrap().returned.wall_ns = 700_000_000_000;
    case.phases[0].client = Some(cpu(70, 7));
    let limited = operations
        .iter()
        .any(|o| o.completeness == Completeness::TimeLimited);
    if limited {
        case.phases[0].completeness = Completeness::TimeLimited;
    }
    case.phases[0].operations = operations;
    results.run.plan.cases = vec![case.case.clone()];
    results.cases = vec![case];
    results
}

fn cpu(user_s: u64, system_s: u64) -> CpuRecord {
    CpuRecord {
        user_ns: user_s * 1_000_000_000,
        system_ns: system_s * 1_000_000_000,
    }
}

fn operation(name: &str, count: u64, wall_s: f64) -> OperationRecord {
    OperationRecord {
        slices: Vec::new(),
        name: name.to_string(),
        completeness: Completeness::Complete,
        count,
        planned: count,
        rows: None,
        statements: Some(count),
        rows_received: Some(0),
        bytes: None,
        refused: None,
        flags: String::new(),
        wall_ns: (wall_s * 1e9) as u64,
        client: cpu(1, 0),
        server: None,
        device: None,
        latency: None,
    }
}

fn only(results: &Results, compat: bool) -> RunFile {
    let mut files = run_files(results, compat);
    assert_eq!(files.len(), 1);
    files.remove(0)
}

fn summary(results: &Results, compat: bool) -> String {
    let mut out = Vec::new();
    only(results, compat).write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn phase(results: &Results, compat: bool, name: &str) -> String {
    let mut out = Vec::new();
    only(results, compat).write_phase(&mut out, name).unwrap();
    String::from_utf8(out).unwrap()
}

fn line<'t>(text: &'t str, part: &str) -> &'t str {
    let mut lines = text.lines();
    lines
        .find(|l| l.contains(part))
        .unwrap_or_else(|| panic!("no {part} in {text}"))
}

#[test]
fn what_the_time_limit_ended_is_extrapolated_here_alone() {
    let mut cut = operation("select_join", 40, 600.0);
    cut.completeness = Completeness::TimeLimited;
    cut.planned = 100;
    let results = results("ATIS", vec![operation("create_table", 28, 1.5), cut]);
    let text = phase(&results, false, "ATIS");
    assert_eq!(
        line(&text, "select_join"),
        "Estimated time for select_join (100): 1500.000000 wallclock secs ( 2.50 usr  0.00 sys +  0.00 cusr  0.00 csys =  2.50 CPU)"
    );
    // 900 s more of wall time, 1.5 s more of CPU.
    assert_eq!(
        text.lines().last(),
        Some(
            "Estimated total time: 1600.000000 wallclock secs (71.50 usr  7.00 sys +  0.00 cusr  0.00 csys = 78.50 CPU)"
        )
    );
    let text = summary(&results, false);
    assert!(line(&text, "ATIS: ").starts_with("ATIS: Estimated total time: 1600"));
    assert!(text.contains("Tests with estimated time have a + at end of line"));
    assert_eq!(
        line(&text, "select_join"),
        "select_join                         1500.00    2.50    0.00    2.50     100 +"
    );
    assert!(line(&text, "TOTALS").ends_with(" 128 +"), "{text}");
    assert_eq!(results.cases[0].phases[0].operations[1].count, 40);
}

#[test]
fn compat_prints_the_slips_of_the_original() {
    let insert = results(
        "insert",
        vec![
            operation("order_by_range", 500, 1.0),
            operation("outer_join_not_found", 10, 1.0),
            operation("select_in", 500, 1.0),
            operation("drop table", 2, 1.0),
            operation("delete_big_many_keys", 128, 2.0),
            operation("delete_all_many_keys", 1, 0.25),
        ],
    );
    let text = phase(&insert, true, "insert");
    assert!(text.contains("outer_join_not_found (500): "), "{text}");
    assert!(text.contains("select_in (500) 1.000000 wall"), "{text}");
    assert!(text.contains("drop table(2): "), "{text}");
    assert!(text.contains("delete_all_many_keys (1): 2.250000"));
    let sums = summary(&insert, true);
    assert!(!sums.contains("select_in ") && !sums.contains("drop"));

    let text = phase(&insert, false, "insert");
    assert!(text.contains("outer_join_not_found (10): "), "{text}");
    assert!(text.contains("select_in (500): "), "{text}");
    assert!(text.contains("drop_table (2): "), "{text}");
    assert!(text.contains("delete_all_many_keys (1): 0.250000"));
    let sums = summary(&insert, false);
    assert!(line(&sums, "drop_table ").ends_with("       2 "));
    assert!(line(&sums, "Comments:").contains("see --compat"));

    let table = || vec![operation("insert", 1000, 1.0)];
    let text = phase(&results("alter-table", table()), true, "alter-table");
    assert!(
        text.contains("Time for insert (1000)1.000000 wall"),
        "{text}"
    );
    let made = results("wisconsin", vec![operation("create_table", 4, 1.0)]);
    assert!(phase(&made, true, "wisconsin").contains("create_table (3): "));
    assert!(phase(&made, false, "wisconsin").contains("create_table (4): "));
    let mut fast = made;
    fast.run.plan.fast = true;
    assert!(line(&summary(&fast, true), "Comments:").contains("delete_big is timed alone"));
}

#[test]
fn figures_are_medians_over_the_rounds_that_have_them() {
    let mut results = results("create", vec![operation("create+drop", 10, 3.0)]);
    for (round, wall_s, outcome) in [
        (1, 1.0, Outcome::Measured),
        (2, 2.0, Outcome::Measured),
        (
            3,
            99.0,
            Outcome::Interrupted {
                stage: "work".into(),
            },
        ),
    ] {
        let mut case = results.cases[0].clone();
        case.round = round;
        case.outcome = outcome;
        case.phases[0].operations = vec![operation("create+drop", 10, wall_s)];
        results.cases.push(case);
    }
    let text = summary(&results, false);
    assert!(line(&text, "create+drop").contains(" 2.00 "), "{text}");
    assert!(line(&text, "Comments:").contains("medians of 4 rounds"));
}

#[test]
fn failed_and_skipped_phases_are_told_as_the_suite_does() {
    let mut results = results("create", vec![operation("create+drop", 10, 3.0)]);
    results.cases[0].outcome = Outcome::Failed {
        stage: "work".into(),
        causes: vec!["phase create".into(), "disk full".into()],
        log: Vec::new(),
    };
    let mut skipped = results.cases[0].clone();
    skipped.case.workload = "insert".into();
    skipped.phases.clear();
    skipped.outcome = Outcome::Skipped {
        reason: "it has no\ntransactions".into(),
        remedy: "none".into(),
    };
    results.run.plan.cases.push(skipped.case.clone());
    results.cases.push(skipped);
    let text = summary(&results, false);
    assert!(text.contains("create: Failed (create-sqlite-ext2_defaults)\n"));
    assert!(text.contains("insert: Test skipped because it has no transactions\n"));
    assert!(text.contains("Of 2 tests, 1 tests didn't work\n"));
    assert!(!text.contains("create+drop"), "{text}");
    let text = phase(&results, false, "create");
    assert!(
        text.ends_with("Got error: phase create: disk full\n"),
        "{text}"
    );
    assert!(text.contains("create+drop (10)"), "{text}");
}

#[test]
fn tags_are_safe_and_unlike_each_other() {
    let mut results = results("create", Vec::new());
    let base = results.cases[0].clone();
    for (target, mode) in [
        ("/mnt/a b", "wal"),
        ("/mnt/a_b", "wal"),
        ("ext4_^extents", "off"),
    ] {
        let mut case = base.clone();
        case.case.target = target.into();
        case.case
            .settings
            .insert("journal_mode".into(), mode.into());
        results.run.plan.cases.push(case.case.clone());
        results.cases.push(case);
    }
    let tags: Vec<String> = run_files(&results, false)
        .into_iter()
        .map(|f| f.tag)
        .collect();
    assert_eq!(
        tags,
        [
            "sqlite_journal_mode=wal-ext2_defaults",
            "sqlite_journal_mode=wal-_mnt_a_b",
            "sqlite_journal_mode=wal-_mnt_a_b_2",
            "sqlite_journal_mode=off-ext4__extents"
        ]
    );
    results
        .run
        .plan
        .cases
        .iter_mut()
        .for_each(|k| k.workload = "load".into());
    results.cases.clear();
    assert!(run_files(&results, false).is_empty());
}
