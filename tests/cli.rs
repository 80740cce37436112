//! The commands as a user types them.

mod common;

use common::{Place, Running, can_mount, required, text};
use mountmark::engine::Kind;
use mountmark::record::Outcome;
use mountmark::workload::sqlbench::PHASES;
use nix::sys::signal::Signal;

#[test]
fn unknown_names_list_the_valid_ones() {
    let place = Place::new();
    for (args, words) in [
        (
            ["run", "create", "--on", "ext5"],
            "ext2, ext3, ext4, xfs, btrfs, jfs, reiserfs, tmpfs",
        ),
        (
            ["run", "create", "--engine", "oracle"],
            "sqlite, postgres, mysql, mariadb",
        ),
        (["run", "sleect", "--on", "ext4"], "sql-bench, "),
        (
            ["run", "create", "--profile", "long"],
            "short, small-test, original",
        ),
        (["run", "create", "--on-fs", "ext4"], "--on"),
        (["run", "create", "--set", "postgres:fsync=off"], "--engine"),
        (["run", "create", "--set", "journal_mode"], "NAME=VALUE"),
        (
            ["run", "ATIS", "--atis-data", "absent"],
            "the original tables",
        ),
        (["run", "create", "--rounds", "0"], "--rounds"),
        (["run", "create", "--loops", "0"], "--loops"),
        (["run", "create", "--threshold", "200%"], "like 5% or 0.05"),
        (["run", "create", "--until-sure", "0%"], "never end"),
        (["run", "create", "--until-sure", "x"], "like 5% or 0.05"),
        (["run", "create", "--max-rounds", "9"], "--until-sure"),
        (
            ["report", "nothing", "--results", "results"],
            "mountmark list",
        ),
    ] {
        let output = place.command().args(args).output().expect("it runs");
        let text = text(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(words), "{args:?}: {text}");
        assert!(text.lines().count() <= 8, "{args:?}: {text}");
    }
    place.assert_nothing_left("after usage errors");
}

#[test]
fn the_help_of_run_names_all_that_can_be_run() {
    let place = Place::new();
    let output = place.command().args(["run", "--help"]).output().unwrap();
    let shown = text(&output);
    let engines = Kind::ALL.map(Kind::name);
    let profiles = ["short", "small-test", "original", "mariadb"];
    for name in PHASES.iter().chain(&engines).chain(&profiles) {
        assert!(shown.contains(name), "{name}: {shown}");
    }
}

#[test]
fn a_directory_is_measured_and_left_as_it_was() {
    let place = Place::new();
    let data = place.path("data");
    let output = place
        .run(&[
            "create",
            "insert",
            "--profile",
            "small-test",
            "--on",
            data.to_str().unwrap(),
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("insert returned"), "{shown}");
    assert!(shown.contains("(warm)"), "{shown}");
    place.assert_nothing_left("after the run");
    let results = place.results();
    assert_eq!(results.cases.len(), 2);
    let create = results
        .cases
        .iter()
        .find(|c| c.case.workload == "create")
        .unwrap();
    let counts: Vec<(&str, u64)> = create.phases[0]
        .operations
        .iter()
        .map(|o| (o.name.as_str(), o.count))
        .collect();
    assert_eq!(
        counts,
        [
            ("create_MANY_tables", 10),
            ("select_group_when_MANY_tables", 10),
            ("drop_table_when_MANY_tables", 10),
            ("create+drop", 10),
            ("create_key+drop", 100)
        ]
    );
    let engine = create.engine.as_ref().unwrap();
    assert_eq!(engine.settings["synchronous"], "full");
    let ends = create.phases[0].ends.unwrap();
    let (flushed, settled) = (ends.flushed.unwrap(), ends.settled.unwrap());
    assert!(settled.wall_ns >= flushed.wall_ns);
    assert!(flushed.wall_ns >= ends.returned.wall_ns);
    assert!(results.run.ceiling.unwrap().ns_per_statement > 0.0);
}

#[test]
fn real_file_systems_are_made_measured_and_counted() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut types = vec!["ext2", "ext3:data=writeback", "ext4:data=journal"];
    for name in ["xfs", "btrfs"] {
        let mkfs = format!("mkfs.{name}");
        if which(&mkfs) {
            types.push(name);
        } else {
            assert!(!required(name), "{mkfs} is required here");
            eprintln!("SKIPPED: {mkfs} is missing");
        }
    }
    let mut args = vec!["create", "--profile", "small-test", "--image-size", "320M"];
    types.iter().for_each(|t| args.extend(["--on", t]));
    let output = place.run(&args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    place.assert_nothing_left("after the run");
    let results = place.results();
    assert_eq!(results.cases.len(), types.len());
    for case in &results.cases {
        let target = case.target.as_ref().unwrap();
        assert_eq!(case.outcome, Outcome::Measured, "{:?}", case.case);
        assert!(
            case.case.target.starts_with(&target.filesystem),
            "{:?}",
            case.case
        );
        assert!(target.cold && target.mkfs.is_some());
        let device = target.device.as_ref().unwrap();
        assert!(device.in_memory && device.direct_io, "{device:?}");
        // Each CREATE and DROP commits by itself and must reach the device.
        let ends = case.phases[0].ends.unwrap();
        let counts = ends.returned.device.unwrap();
        let commits = case.phases[0]
            .operations
            .iter()
            .filter_map(|o| o.statements)
            .sum::<u64>()
            - 10;
        assert!(
            counts.flushes >= commits,
            "{:?}: {counts:?}, {commits} commits",
            case.case
        );
        assert!(
            counts.written_bytes > commits * 4096,
            "{:?}: {counts:?}",
            case.case
        );
    }
}

fn which(name: &str) -> bool {
    ["/sbin", "/usr/sbin", "/bin", "/usr/bin"]
        .iter()
        .any(|dir| std::path::Path::new(dir).join(name).exists())
}

#[test]
fn one_failing_case_leaves_the_others() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let output = place
        .run(&[
            "insert",
            "--profile",
            "small-test",
            "--loops",
            "20",
            "--image-size",
            "8M",
            "--on",
            "ext4:data=journl",
            "--on",
            "/proc",
            "--on",
            "ext2",
            "--on",
            "tmpfs",
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let results = place.results();
    let fault = |target: &str| {
        let case = results.cases.iter().find(|c| c.case.target == target);
        match &case.unwrap_or_else(|| panic!("{target}: {shown}")).outcome {
            Outcome::Failed { stage, causes, .. } => (stage.clone(), causes.join(": ")),
            other => panic!("{target}: {other:?}"),
        }
    };
    let (stage, causes) = fault("ext4_data=journl");
    assert_eq!(stage, "prepare");
    assert!(causes.contains("data"), "the kernel's own words: {causes}");
    assert!(shown.contains("Bad value for 'data'"), "{shown}");
    let (stage, causes) = fault("/proc");
    assert_eq!(stage, "prepare", "{causes}");
    let (stage, causes) = fault("ext2_defaults");
    assert_eq!(stage, "work", "{causes}");
    assert!(causes.contains("full"), "{causes}");
    let tmpfs = results
        .cases
        .iter()
        .find(|c| c.case.target == "tmpfs_defaults")
        .unwrap();
    assert_eq!(tmpfs.outcome, Outcome::Measured);
    place.assert_nothing_left("after failures");
}

#[test]
fn a_second_mountmark_is_noticed_and_said() {
    let place = Place::new();
    let data = place.path("data");
    let data = data.to_str().unwrap();
    let mut first = place.run(&["create", "--engine", "null", "--on", data]);
    first.env("MOUNTMARK_HOLD_AT", "work");
    let first = Running::until(first, "holding at");
    let second = place
        .run(&["create", "--engine", "null", "--on", data])
        .output()
        .expect("it runs");
    let shown = text(&second);
    assert_eq!(second.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains(&format!("process {}", first.pid())),
        "{shown}"
    );
    first.signal(Signal::SIGTERM);
    assert_eq!(first.end(), Some(130));
    place.assert_nothing_left("after both");
}

#[test]
fn plan_shows_the_cases_and_runs_nothing() {
    let place = Place::new();
    let output = place
        .command()
        .args([
            "plan",
            "create",
            "insert",
            "--on",
            "ext2",
            "--on",
            "ext4:noatime",
        ])
        .args([
            "--set",
            "synchronous=full",
            "--set",
            "synchronous=normal",
            "--rounds",
            "3",
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains("8 cases and 4 for A/A pairs × 3 rounds = 72 measurements"),
        "{shown}"
    );
    assert!(
        shown.contains("in duet") && shown.contains("9 beside 1"),
        "{shown}"
    );
    assert!(
        shown.contains("ext4_noatime") && shown.contains("synchronous=normal"),
        "{shown}"
    );
    place.assert_nothing_left("after plan");
}

#[test]
fn runs_are_listed_and_reported() {
    let place = Place::new();
    let data = place.path("data");
    let run = place
        .run(&[
            "create",
            "--on",
            data.to_str().unwrap(),
            "--label",
            "first",
            "--loops",
            "0.1",
        ])
        .output()
        .expect("it runs");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    let results = place.path("results");
    let results = results.to_str().unwrap();
    let list = place
        .command()
        .args(["list", "--results", results])
        .output()
        .unwrap();
    assert!(text(&list).contains("first") && text(&list).contains("complete"));
    let report = place
        .command()
        .args(["report", "--results", results])
        .output()
        .unwrap();
    let shown = text(&report);
    assert!(
        shown.contains("create_key+drop") && shown.contains("nothing to compare"),
        "{shown}"
    );
}
