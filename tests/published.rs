//! Published tables as records, and runs of today beside them.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, text};
use mountmark::import;
use mountmark::record::{self, CaseRecord, Results, RunRecord, Store};

const STUDIES: [(&str, usize, usize); 4] = [
    ("sql-bench-memory", 8 * 12 * 2, 12),
    ("pgsql-insert-load", 6, 6),
    ("source-tree", 5, 5),
    ("small-file-archive", 3, 2),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/published")
}

/// Without what differs from one import to the next.
fn plain(mut run: RunRecord) -> RunRecord {
    run.started = String::new();
    run.ended = None;
    run.arguments = Vec::new();
    run.mountmark = String::new();
    for file in &mut run.imported {
        file.file = String::new();
    }
    run
}

/// The records in the tree are what the tables in the tree become. With
/// `MOUNTMARK_BLESS=1` they are made anew.
#[test]
fn records_are_those_of_the_tables() {
    for (name, cases, targets) in STUDIES {
        let table = fixtures().join(format!("{name}.csv"));
        let made = import::published(name, &fs::read_to_string(&table).expect("a table"));
        let made = made.expect("it is one");
        assert_eq!(made.faults, [], "{name}");
        assert_eq!(made.cases.len(), cases, "{name}");
        let dir = fixtures().join(name);
        if std::env::var("MOUNTMARK_BLESS").is_ok() {
            if dir.exists() {
                fs::remove_dir_all(&dir).expect("it goes");
            }
            let mut run = plain(made.run.clone());
            run.mountmark = made.run.mountmark.clone();
            let mut store = Store::create(&fixtures(), run).expect("a store");
            for case in &made.cases {
                store.append(case).expect("it is stored");
            }
        }
        let stored = record::load(&dir).expect("a record");
        assert_eq!(stored.damage, [] as [String; 0], "{name}");
        assert_eq!(plain(stored.run.clone()), plain(made.run), "{name}");
        assert_eq!(stored.cases, made.cases, "{name}");
        let mut labels: Vec<&str> = stored
            .cases
            .iter()
            .map(|c| c.case.target.as_str())
            .collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), targets, "{name}");
        let study = stored.run.published.expect("a study");
        assert!(
            !study.objections.is_empty() && !study.notes.is_empty(),
            "{name}"
        );
    }
}

fn of<'r>(results: &'r Results, workload: &str, target: &str) -> Vec<&'r CaseRecord> {
    let own = |c: &&CaseRecord| c.case.workload == workload && c.case.target == target;
    results.cases.iter().filter(own).collect()
}

#[test]
fn figures_are_those_that_were_published() {
    let load = |name: &str| record::load(&fixtures().join(name)).expect("a record");
    let bench = load("sql-bench-memory");
    let seconds: Vec<f64> = of(&bench, "insert", "ext3_data=ordered")
        .iter()
        .map(|c| c.phases[0].ends.expect("an end").returned.wall_ns as f64 / 1e9)
        .collect();
    assert_eq!(seconds, [1102.0, 4999.0]);
    let load_run = load("pgsql-insert-load");
    let case = of(&load_run, "load", "ext2_defaults")[0];
    let figures = case.load.as_ref().expect("a load");
    let tps: Vec<String> = figures
        .checkpoints
        .iter()
        .map(|c| format!("{} {:.2}", c.transactions, c.tps()))
        .collect();
    assert_eq!(tps, ["1000 13.51", "5000 14.75", "10000 14.60"]);
    assert_eq!(figures.wall_ns, 685_200_000_000);
    assert_eq!(case.remarks, ["ext2_defaults: CPU 95-99 %, by eye"]);
    let archive = load("small-file-archive");
    let remove = &of(&archive, "small-files", "ext2_defaults")[0].phases[1];
    assert_eq!(remove.name, "remove");
    assert_eq!(
        remove.ends.expect("an end").returned.wall_ns,
        78_240_000_000
    );
    assert_eq!(remove.client.expect("CPU").system_ns, 73_390_000_000);
}

#[test]
fn a_published_table_is_imported_and_reported() {
    let place = Place::new();
    let table = fixtures().join("source-tree.csv");
    let output = place
        .command()
        .arg("import")
        .arg(&table)
        .args(["--results", "results"])
        .output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = place.results().run;
    let output = place
        .command()
        .args(["report", "--results", "results"])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    for words in [
        "published: writing and copying a source tree",
        "what was said against it:",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // A study beside itself points the same way, and has no intervals.
    let output = place
        .command()
        .args(["report", "--results", "results", "--beside", &run.id])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("its ratios have no interval"), "{shown}");
    let output = place
        .command()
        .args(["report", "--results", "results", "--beside", &run.id])
        .args(["--format", "md"])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("| xfs_defaults |"), "{shown}");
    let other = fixtures().join("sql-bench-memory.csv");
    let output = place
        .command()
        .arg("import")
        .args([&table, &other])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("import it alone"),
        "{}",
        text(&output)
    );
}

#[test]
fn what_is_no_study_is_told() {
    let place = Place::new();
    let table = fixtures().join("source-tree.csv");
    let import = place
        .command()
        .arg("import")
        .arg(&table)
        .args(["--results", "results"])
        .status();
    assert!(import.expect("it runs").success());
    for (args, words) in [
        (
            &["--beside", "sorce-tree"][..],
            "unknown study 'sorce-tree'; one of: sql-bench-memory, pgsql-insert-load",
        ),
        (
            &["--beside", "source-tree", "--format", "sql-bench"],
            "--beside is of --format text and md only",
        ),
    ] {
        let output = place
            .command()
            .args(["report", "--results", "results"])
            .args(args)
            .output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
        assert!(text(&output).contains(words), "{args:?}: {}", text(&output));
    }
}
