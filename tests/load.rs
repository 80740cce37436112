//! The workload `load` as a whole: real servers and SQLite on a file system made on an
//! image in memory, and the engine that pretends.

mod common;

use std::fs;
use std::process::Output;

use common::{Place, can_mount, required, text};
use mountmark::record::{CaseRecord, LoadRecord, Outcome};

/// Whether engine `kind` is here; where it must be, its absence fails.
fn has(kind: &str) -> bool {
    let spec = kind.parse().expect("a kind of engine");
    match mountmark::engine::find(&spec) {
        Ok(_) => true,
        Err(error) => {
            assert!(!required(kind), "{kind} is required: {error}");
            eprintln!("SKIPPED, no {kind}: {error}");
            false
        }
    }
}

fn run(place: &Place, args: &[&str]) -> Output {
    let mut all = vec!["load", "--warmup", "0.2", "--duet", "off"];
    all.extend(args);
    let output = place.run(&all).output().expect("the program runs");
    place.assert_nothing_left("after a load");
    output
}

/// The cases of a run in which everything was measured.
fn measured(place: &Place, args: &[&str]) -> Vec<CaseRecord> {
    let output = run(place, args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let cases = place.results().cases;
    for case in &cases {
        assert_eq!(case.outcome, Outcome::Measured);
        let load = load(case);
        assert_eq!(load.attempted, load.committed + load.failed + load.skipped);
        assert_eq!(load.latency.count, load.committed);
        assert_eq!(load.by_script.values().sum::<u64>(), load.committed);
        let mut last = (0, 0);
        for checkpoint in &load.checkpoints {
            assert!(checkpoint.transactions > last.0 && checkpoint.elapsed_ns >= last.1);
            last = (checkpoint.transactions, checkpoint.elapsed_ns);
        }
        assert!(last.1 <= load.wall_ns, "{last:?} {}", load.wall_ns);
    }
    cases
}

fn load(case: &CaseRecord) -> &LoadRecord {
    case.load.as_ref().expect("a load")
}

/// On a made file system where that can be; on a directory otherwise.
fn target(place: &Place) -> Vec<String> {
    match can_mount() {
        true => ["--on", "ext4", "--image-size", "400M"]
            .map(String::from)
            .to_vec(),
        false => vec!["--on".to_string(), place.path("data").display().to_string()],
    }
}

fn on_target(place: &Place, engine: &str, args: &[&str]) -> Vec<CaseRecord> {
    let target = target(place);
    let mut all: Vec<&str> = target.iter().map(String::as_str).collect();
    all.extend(["--engine", engine]);
    all.extend(args);
    measured(place, &all)
}

#[test]
fn inserts_on_every_engine_are_all_found_and_in_time() {
    for engine in ["postgres", "mariadb", "sqlite"] {
        if !has(engine) {
            continue;
        }
        let place = Place::new();
        let args = ["-c", "4", "--preload", "1003", "--tuples", "500"];
        let args = [&args[..], &["--checkpoints", "100,250,500"]].concat();
        let cases = on_target(&place, engine, &args);
        let load = load(&cases[0]);
        assert_eq!(load.committed, 500, "{engine}");
        assert_eq!(
            load.statements, 500,
            "{engine}: one statement a transaction"
        );
        assert_eq!(
            load.round_trips, 500,
            "{engine}: one round trip a statement"
        );
        let counts: Vec<u64> = load.checkpoints.iter().map(|c| c.transactions).collect();
        assert_eq!(counts, [100, 250, 500], "{engine}");
        let added = 500 + load.warmup_committed;
        let found = format!(
            "tuples found = 1003 preloaded + {added} acknowledged: {}",
            1003 + added
        );
        assert_eq!(load.invariants, [found], "{engine}");
        assert!(load.warmup_committed > 0, "{engine}");
        let ends = cases[0].phases[0].ends.expect("the three ends");
        let (flushed, settled) = (ends.flushed.unwrap(), ends.settled.unwrap());
        assert!(ends.returned.wall_ns <= flushed.wall_ns, "{engine}");
        assert!(flushed.wall_ns <= settled.wall_ns, "{engine}");
        let remarks = cases[0].remarks.join("\n");
        assert!(remarks.contains("less than 60 s"), "{remarks}");
        let ceiling = place.results().run.ceiling.expect("the ceiling");
        let of_load = ceiling.loads.first().expect("that of the load");
        assert_eq!((ceiling.loads.len(), of_load.clients), (1, 4), "{engine}");
        assert!(of_load.tps > load.tps(), "{engine}: {ceiling:?}");
        if engine == "postgres" {
            assert!(load.activity["wal_bytes"] > 500.0 * 100.0);
            assert!(load.ceiling_tps.is_some());
        }
    }
}

#[test]
fn balances_equal_the_history_on_every_engine() {
    for engine in ["postgres", "mariadb", "sqlite"] {
        if !has(engine) {
            continue;
        }
        let place = Place::new();
        let args = [
            "-b",
            "tpcb-like",
            "-c",
            "3",
            "-t",
            "40",
            "-r",
            "--max-tries",
            "50",
        ];
        let cases = on_target(&place, engine, &args);
        let load = load(&cases[0]);
        assert_eq!(load.committed, 120, "{engine}");
        assert_eq!(load.round_trips, load.statements + load.retries, "{engine}");
        let held = load.invariants.join("\n");
        for rule in ["history rows", "account", "teller", "branch"] {
            assert!(held.contains(rule), "{engine}: {held}");
        }
        let first = &load.statement_latency[0];
        assert!(first.0.starts_with("BEGIN"), "{engine}: {}", first.0);
        assert_eq!(load.statement_latency.len(), 7, "{engine}");
        assert!(first.1.count >= 120, "{engine}");
    }
}

#[test]
fn clients_and_data_are_spread_over_databases() {
    let place = Place::new();
    let args = [
        "-c",
        "2,4",
        "--databases",
        "1,3",
        "--preload",
        "100",
        "-t",
        "6",
    ];
    let cases = on_target(&place, "sqlite", &args);
    assert_eq!(cases.len(), 4);
    for case in &cases {
        let key = case.case.load.expect("a load");
        let expected = match (key.clients, key.databases) {
            (2, 1) => (12, 12),
            (4, 1) => (24, 24),
            // The first client takes two databases in turn, the second one.
            (2, 3) => (3, 6),
            // The first database has two clients.
            (4, 3) => (6, 12),
            other => panic!("{other:?}"),
        };
        assert_eq!(load(case).by_database, expected, "{key:?}");
        assert!(load(case).invariants[0].starts_with("tuples found = 100 preloaded"));
    }
    let mut report = place.command();
    report.arg("report").arg("--results");
    report.arg(place.path("results"));
    let report = text(&report.output().expect("it runs"));
    assert!(report.contains("databases 3"), "{report}");
    assert!(report.contains("latency 99.9 %, ms"), "{report}");
}

#[test]
fn postgres_databases_are_copies_with_equal_shares() {
    if !has("postgres") {
        return;
    }
    let place = Place::new();
    let args = [
        "-c",
        "2",
        "--databases",
        "5",
        "--preload",
        "103",
        "--tuples",
        "50",
    ];
    let cases = on_target(&place, "postgres", &args);
    // Each database is checked for its own share.
    assert_eq!(load(&cases[0]).committed, 50);
    assert!(load(&cases[0]).by_database.0 > 0);
}

#[test]
fn a_schedule_counts_from_when_transactions_were_due() {
    let place = Place::new();
    let data = place.path("data");
    let data = data.to_str().unwrap();
    // Each takes 10 ms and 200 a second are due: half of them cannot be in time.
    let args = ["--engine", "null", "--on", data, "--set", "delay_us=10000"];
    let args = [&args[..], &["-R", "200", "-L", "50", "-T", "2"]].concat();
    let cases = measured(&place, &args);
    let load = load(&cases[0]);
    assert!(load.skipped > 50, "{}", load.skipped);
    assert!(
        load.attempted > 250 && load.attempted < 600,
        "{}",
        load.attempted
    );
    let (lag, service) = (load.lag.as_ref().unwrap(), load.service.as_ref().unwrap());
    assert_eq!((lag.count, service.count), (load.committed, load.committed));
    assert!(
        lag.max_ns < 52_000_000,
        "a later one is skipped: {}",
        lag.max_ns
    );
    assert!(load.latency.mean_ns > lag.mean_ns);
    let parts = lag.mean_ns + service.mean_ns;
    assert!(load.latency.mean_ns.abs_diff(parts) < parts / 50);
    assert!(load.late > 0);
}

#[test]
fn a_statement_that_fails_ends_the_case_with_the_servers_words() {
    let place = Place::new();
    let script = place.path("bad.sql");
    fs::write(&script, "SELECT missing FROM pgbench_branches;\n").unwrap();
    let data = place.path("data");
    let args = ["--engine", "sqlite", "-M", "simple", "-t", "5"];
    let paths = [
        "--on",
        data.to_str().unwrap(),
        "-f",
        script.to_str().unwrap(),
    ];
    let output = run(&place, &[&args[..], &paths].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("SELECT missing FROM pgbench_branches"),
        "{said}"
    );
    assert!(said.contains("no such column"), "{said}");
}

#[test]
fn serialization_failures_are_tried_again_and_counted() {
    if !has("postgres") {
        return;
    }
    let place = Place::new();
    let args = [
        "-b",
        "tpcb-like",
        "-c",
        "8",
        "-t",
        "25",
        "--max-tries",
        "500",
    ];
    let serializable = ["--set", "default_transaction_isolation=serializable"];
    let cases = on_target(&place, "postgres", &[&args[..], &serializable].concat());
    let load = load(&cases[0]);
    assert_eq!((load.committed, load.failed), (200, 0));
    assert!(load.retries >= load.retried && load.retried > 0);
    assert_eq!(
        load.errors.values().sum::<u64>(),
        load.retries,
        "{:?}",
        load.errors
    );
    assert!(load.errors.contains_key("40001"), "{:?}", load.errors);
}

#[test]
fn scripts_keep_rows_open_pipelines_and_reconnect() {
    let place = Place::new();
    let script = |name: &str, text: &str| {
        let path = place.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let gset = script(
        "gset.sql",
        "SELECT bid AS found, bbalance FROM pgbench_branches WHERE bid = 1 \\gset\n\
         UPDATE pgbench_branches SET bbalance = :bbalance WHERE bid = :found;\n",
    );
    for engine in ["postgres", "mariadb", "sqlite"] {
        for mode in ["simple", "prepared"] {
            if has(engine) {
                let cases = on_target(&place, engine, &["-f", &gset, "-M", mode, "-t", "5"]);
                assert_eq!(
                    load(cases.last().unwrap()).round_trips,
                    10,
                    "{engine} {mode}"
                );
            }
        }
    }
    if !has("postgres") {
        return;
    }
    let piped = script(
        "piped.sql",
        "\\startpipeline\nSELECT 1;\nSELECT 2;\nSELECT 3;\n\\endpipeline\n",
    );
    let cases = on_target(&place, "postgres", &["-f", &piped, "-t", "5"]);
    let piped = load(cases.last().unwrap());
    assert_eq!((piped.statements, piped.round_trips), (15, 5));
    let cases = on_target(
        &place,
        "postgres",
        &["-C", "-M", "extended", "-t", "5", "-c", "2"],
    );
    let each = load(cases.last().unwrap());
    assert_eq!((each.connects, each.committed), (10, 10));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let place = Place::new();
    let refused = |args: &[&str], words: &[&str]| {
        let output = place.run(args).output().expect("the program runs");
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{args:?}: {said}");
        }
    };
    refused(&["create", "-c", "4"], &["--client", "mountmark run load"]);
    refused(
        &["load", "--engine", "sqlite", "--wal-sync", "fdatasync"],
        &["fits no engine", "sqlite: none"],
    );
    refused(&["load", "-b", "tpcc"], &["tpcb-like"]);
    refused(
        &["load", "-M", "extended"],
        &["sqlite has simple and prepared"],
    );
    refused(&["load", "-j", "2"], &["a thread a client"]);
    refused(
        &["load", "--tuples", "10", "--checkpoints", "20"],
        &["after the end"],
    );
    refused(
        &["load", "-b", "tpcb-like", "-s", "2", "--databases", "3"],
        &["--scale 2"],
    );
    let shell = place.path("shell.sql");
    fs::write(&shell, "\\shell true\nSELECT 1;\n").unwrap();
    refused(&["load", "-f", shell.to_str().unwrap()], &["--allow-shell"]);
}

/// Transactions that read before they write do not fail each other: a built-in script
/// takes SQLite's lock when it begins.
#[test]
fn readers_that_write_take_turns_on_sqlite() {
    for script in ["oltp_read_write", "tpcb-like", "oltp_write_only"] {
        let place = Place::new();
        let args = ["-b", script, "-c", "5", "-t", "30", "--preload", "2000"];
        let args = [&args[..], &["--max-tries", "1"]].concat();
        let cases = on_target(&place, "sqlite", &args);
        let load = load(&cases[0]);
        assert_eq!((load.committed, load.failed), (150, 0), "{script}");
        assert!(load.errors.is_empty(), "{script}: {:?}", load.errors);
    }
}

/// A user's script is sent as it is; what SQLite makes of that is said, with the way out.
#[test]
fn a_script_that_upgrades_its_lock_is_told_so() {
    let place = Place::new();
    let file = place.path("upgrade.sql");
    let text = "\\set id random(1, :table_size)\nBEGIN;\nSELECT c FROM sbtest1 WHERE id = :id;\n\
                UPDATE sbtest1 SET k = k + 1 WHERE id = :id;\nCOMMIT;\n";
    fs::write(&file, text).expect("a script");
    let file = file.display().to_string();
    // The built-in one is there for its tables; the few that it makes commit.
    let args = [
        "-b",
        "oltp_point_select",
        "-f",
        &file,
        "-c",
        "5",
        "-t",
        "60",
    ];
    let args = [&args[..], &["--preload", "2000", "--max-tries", "3"]].concat();
    let cases = on_target(&place, "sqlite", &args);
    let refused = load(&cases[0]).errors.values().sum::<u64>();
    let remarks = cases[0].remarks.join("\n");
    assert_eq!(
        refused > 0,
        remarks.contains("BEGIN IMMEDIATE"),
        "{refused}: {remarks}"
    );
}
