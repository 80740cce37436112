//! Reports and logs of pgbench as records: files that a real pgbench 15 wrote.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, text};
use mountmark::import::{Imported, Options, import};
use mountmark::record::{LoadRecord, Outcome};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/pgbench")
        .join(name)
}

/// All files of a run of pgbench, those that `take` wants.
fn files(name: &str, take: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixture(name)).expect("a directory");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|path| take(&path.file_name().expect("a name").to_string_lossy()));
    files.sort();
    files
}

fn imported(name: &str, take: impl Fn(&str) -> bool) -> Imported {
    import(&files(name, take), &Options::default()).expect("they are read")
}

fn only(imported: &Imported) -> &LoadRecord {
    assert_eq!(imported.faults, []);
    assert_eq!(imported.cases.len(), 1);
    let case = &imported.cases[0];
    assert_eq!(case.outcome, Outcome::Measured);
    let load = case.load.as_ref().expect("a load");
    assert_eq!(load.attempted, load.committed + load.failed + load.skipped);
    let wall = case.phases[0].ends.expect("an end").returned.wall_ns;
    assert_eq!(wall, load.wall_ns);
    load
}

const ALL: fn(&str) -> bool = |_| true;
const LOGS: fn(&str) -> bool = |name| name.starts_with("pgbench_log");
const REPORT: fn(&str) -> bool = |name| name == "report.txt";

/// The mean of the third column of the logs, ns.
fn mean_of_logs(name: &str) -> f64 {
    let texts = files(name, LOGS)
        .into_iter()
        .map(|f| fs::read_to_string(f).expect("a log"));
    let times: Vec<f64> = texts
        .flat_map(|t| {
            let times = t
                .lines()
                .filter_map(|l| l.split(' ').nth(2)?.parse::<f64>().ok());
            times.collect::<Vec<f64>>()
        })
        .collect();
    times.iter().sum::<f64>() / times.len() as f64 * 1e3
}

#[test]
fn report_and_logs_of_two_threads_are_one_case() {
    let found = imported("tpcb", ALL);
    let load = only(&found);
    assert_eq!((load.committed, load.failed, load.skipped), (240, 0, 0));
    assert_eq!((load.threads, load.latency.count), (2, 240));
    assert!((load.tps() - 3998.467).abs() < 0.1, "{}", load.tps());
    let mean = load.latency.mean_ns as f64;
    assert!((mean / mean_of_logs("tpcb") - 1.0).abs() < 0.001, "{mean}");
    assert!(load.latency.p50_ns <= load.latency.p99_ns && !load.latency.hdr.is_empty());
    assert!(load.lag.is_none() && load.latency_summary.is_none());
    assert_eq!(load.by_script["tpcb-like"], 240);
    let key = &found.cases[0].case;
    assert_eq!(key.engine, "postgres 15.18 (imported)");
    assert_eq!(key.load.expect("a load").clients, 4);
    assert_eq!(
        (
            key.settings["script"].as_str(),
            key.settings["scale"].as_str()
        ),
        ("tpcb-like", "1")
    );
    assert_eq!(found.run.imported.len(), 3);
    assert_eq!(found.run.remarks, [] as [String; 0]);
}

#[test]
fn logs_alone_tell_counts_and_times() {
    let found = imported("tpcb", LOGS);
    let load = only(&found);
    assert_eq!((load.committed, load.threads), (240, 2));
    assert_eq!(load.by_script["script 0"], 240);
    // From the first start to the last end, which the logs tell to the microsecond.
    assert!(
        load.wall_ns > 50_000_000 && load.wall_ns < 200_000_000,
        "{}",
        load.wall_ns
    );
    assert_eq!(found.cases[0].case.load.expect("a load").clients, 4);
    assert_eq!(found.run.remarks, [] as [String; 0]);
}

#[test]
fn a_report_alone_has_a_mean_and_no_percentiles() {
    let found = imported("reconnect", REPORT);
    let load = only(&found);
    assert_eq!(load.committed, 20);
    assert!(load.latency.is_absent());
    assert_eq!(load.latency_summary.expect("a summary").mean_ns, 11_447_000);
    assert!((load.tps() - 174.718).abs() < 0.01);
    let plan = found.run.plan.load.as_ref().expect("a plan");
    assert!(plan.reconnect);
    let stored = serde_json::to_string(load).expect("it is written");
    assert!(!stored.contains("\"latency\""), "{stored}");
    assert_eq!(
        serde_json::from_str::<LoadRecord>(&stored).expect("it is read"),
        *load
    );
}

#[test]
fn what_was_skipped_and_late_is_counted() {
    let found = imported("skip", ALL);
    let load = only(&found);
    assert_eq!((load.committed, load.skipped, load.late), (23, 177, 22));
    assert_eq!(load.latency.count, 23);
    let (lag, service) = (
        load.lag.as_ref().expect("lag"),
        load.service.as_ref().expect("service"),
    );
    assert_eq!((lag.count, service.count), (23, 23));
    // Of the 23 alone: their lag is below the limit of 0.3 ms.
    assert!(lag.max_ns <= 301_000, "{}", lag.max_ns);
    assert!(lag.mean_ns + service.mean_ns <= load.latency.mean_ns * 101 / 100);
    assert_eq!(found.cases[0].case.settings["latency-limit"], "0.3 ms");
    // The log alone tells its seventh column by what was skipped.
    let alone = imported("skip", LOGS);
    assert_eq!(only(&alone).skipped, 177);
    assert_eq!(alone.run.remarks, [] as [String; 0]);
}

#[test]
fn failures_and_retries_are_counted() {
    for take in [ALL, LOGS] {
        let found = imported("serial", take);
        let load = only(&found);
        assert_eq!(
            (load.committed, load.failed, load.retried),
            (126, 34, 62),
            "{:?}",
            found.run.remarks
        );
        assert_eq!(load.errors["serialization"], 34);
    }
    assert_eq!(only(&imported("serial", ALL)).retries, 62);
}

#[test]
fn a_sample_says_so_and_invents_nothing() {
    let found = imported("sampled", ALL);
    let load = only(&found);
    assert_eq!((load.committed, load.latency.count), (800, 99));
    assert!(load.checkpoints.is_empty() && load.progress.is_empty());
    assert!(
        found.run.remarks[0].contains("a sample: 99 of 800"),
        "{:?}",
        found.run.remarks
    );
    // Without the report the clients' own numbers tell.
    let alone = imported("sampled", LOGS);
    let load = only(&alone);
    assert!(
        load.committed > 750 && load.committed <= 800,
        "{}",
        load.committed
    );
    assert!(
        alone.run.remarks[0].contains("a sample: 99 of"),
        "{:?}",
        alone.run.remarks
    );
}

#[test]
fn intervals_are_added_up() {
    let found = imported("aggregate", ALL);
    let load = only(&found);
    assert_eq!((load.committed, load.late, load.threads), (348, 0, 2));
    let summary = load.latency_summary.expect("a summary");
    assert!(
        (summary.mean_ns as f64 / 818_000.0 - 1.0).abs() < 0.02,
        "{summary:?}"
    );
    assert_eq!(load.progress.len(), 5);
    assert!(load.latency.is_absent());
    let alone = imported("aggregate", LOGS);
    let load = only(&alone);
    // The log has whole intervals only: the last, cut one is not in it.
    assert!(
        load.committed > 200 && load.committed <= 348,
        "{}",
        load.committed
    );
    assert_eq!(load.wall_ns, 4_000_000_000);
    assert!(
        alone.run.remarks[0].contains("whole intervals (1 s)"),
        "{:?}",
        alone.run.remarks
    );
}

#[test]
fn scripts_and_statements_are_told_apart() {
    let found = imported("mix", ALL);
    let load = only(&found);
    assert_eq!(load.by_script["select-only"], 75);
    assert_eq!(load.by_script["simple-update"], 25);
    let update = load
        .statement_latency
        .iter()
        .find(|(text, _)| text.starts_with("UPDATE"));
    assert_eq!(update.expect("a statement").1.mean_ns, 87_000);
}

#[test]
fn broken_lines_are_told_and_the_rest_is_kept() {
    let place = Place::new();
    let log = fixture("tpcb/pgbench_log.27139");
    let log = fs::read_to_string(log).expect("a log");
    let broken = format!("{log}0 61 1\n0 61 slow 0 1796081162 408071\n3 1 7 0 1796081163 1\n");
    fs::write(place.path("pgbench_log.1"), broken).expect("a file");
    let output = place
        .command()
        .args([
            "import",
            "pgbench_log.1",
            "--on",
            "ext4_defaults",
            "--results",
            "results",
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    for words in [
        "pgbench_log.1:121: a transaction has 6 to 8 fields, here are 3",
        "pgbench_log.1:122: time 'slow' is not a number",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let results = place.results();
    assert_eq!(
        results.cases[0].load.as_ref().expect("a load").committed,
        121
    );
    assert_eq!(results.cases[0].case.target, "ext4_defaults");
    assert_eq!(results.run.remarks.len(), 2);
}

#[test]
fn the_report_shows_what_was_imported() {
    let place = Place::new();
    let files = files("tpcb", ALL);
    for _ in 0..2 {
        let mut import = place.command();
        import
            .arg("import")
            .args(&files)
            .args(["--results", "results"]);
        assert!(import.status().expect("it runs").success());
    }
    let output = place
        .command()
        .args(["report", "--results", "results"])
        .output();
    let shown = text(&output.expect("it runs"));
    for words in [
        "imported from report.txt: ",
        "load, imported",
        "postgres 15.18 (imported), clients 4, databases 1, protocol=simple",
        "whole load",
        "3998",
        "latency 99 %, ms",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}
