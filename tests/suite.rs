//! The whole suite as a user runs it: every phase on every engine, on a real ext4.

mod common;

use std::fs;

use common::{Place, open_to_all, server, text};
use mountmark::record::{Completeness, Outcome};
use mountmark::workload::sqlbench::PHASES;

#[test]
fn all_nine_phases_on_ext4() {
    let mut engines = vec!["sqlite"];
    if !common::can_mount() {
        return;
    }
    let servers = ["postgres", "mariadb"];
    engines.extend(servers.into_iter().filter(|name| server(name).is_some()));
    let place = Place::new();
    open_to_all(&place);
    let list = engines.join(",");
    let output = place
        .run(&["sql-bench", "transactions", "--profile", "small-test"])
        .args(["--engine", &list, "--on", "ext4", "--image-size", "640M"])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    place.assert_nothing_left("after the run");
    let results = place.results();
    assert_eq!(results.cases.len(), PHASES.len() * engines.len());
    for case in &results.cases {
        assert_eq!(case.outcome, Outcome::Measured, "{:?}", case.case);
        let phase = &case.phases[0];
        assert_eq!(phase.completeness, Completeness::Complete);
        assert!(phase.operations.iter().all(|o| o.count == o.planned));
        let target = case.target.as_ref().expect("a target");
        assert_eq!((target.filesystem.as_str(), target.cold), ("ext4", true));
    }
    let dir = place.path("out");
    let report = place
        .command()
        .args(["report", "--format", "sql-bench", "--compat"])
        .args(["--output", dir.to_str().expect("a path"), "--results"])
        .arg(place.path("results"))
        .output()
        .expect("it runs");
    assert_eq!(report.status.code(), Some(0), "{}", text(&report));
    for engine in engines {
        let run = dir.join(format!("RUN-{engine}-ext4_defaults"));
        // One engine alone would be one file.
        let run = if dir.is_file() { dir.clone() } else { run };
        let run = fs::read_to_string(run).expect("a RUN file");
        assert!(run.contains("All 9 test executed successfully"), "{run}");
        for (name, count) in counts(engine) {
            let line = run.lines().find(|l| l.starts_with(&format!("{name} ")));
            let line = line.unwrap_or_else(|| panic!("{engine}: no {name} in {run}"));
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[5], count, "{engine}: {line}");
        }
    }
}

/// What the suite's summary says with `--small-test`, of operations that several phases
/// have and of those that servers differ in.
fn counts(engine: &str) -> [(&'static str, &'static str); 6] {
    let grouped = match engine {
        // It has std() besides.
        "mariadb" => "391",
        // It knows no alias in HAVING.
        "postgres" => "371",
        _ => "381",
    };
    [
        ("alter_table_add", "92"),
        ("create_table", "31"),
        // 9768, 3000, 1000 and 31000; the alter-table phase's own are never summed.
        ("insert", "44768"),
        ("outer_join_not_found", "10"),
        ("select_group", grouped),
        ("wisc_benchmark", "34"),
    ]
}

#[test]
fn a_storage_engine_is_a_setting() {
    if server("mariadb").is_none() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    let output = place
        .run(&["create", "transactions", "--profile", "small-test"])
        .args([
            "--engine",
            "mariadb",
            "--on",
            "ext4",
            "--image-size",
            "320M",
        ])
        .args(["--set", "mariadb:default_storage_engine=MyISAM"])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let results = place.results();
    let of = |name: &str| {
        let mut cases = results.cases.iter();
        cases.find(|c| c.case.workload == name).expect("a case")
    };
    let create = of("create");
    assert_eq!(create.outcome, Outcome::Measured, "{shown}");
    assert_eq!(create.case.settings["default_storage_engine"], "MyISAM");
    let engine = create.engine.as_ref().expect("an engine");
    assert_eq!(engine.settings["default_storage_engine"], "MyISAM");
    let Outcome::Failed { causes, .. } = &of("transactions").outcome else {
        panic!("{shown}");
    };
    let causes = causes.join(": ");
    assert!(causes.contains("MyISAM has no transactions"), "{causes}");
    assert!(
        causes.contains("set default_storage_engine to one"),
        "{causes}"
    );
    place.assert_nothing_left("after the run");
}
