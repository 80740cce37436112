//! RUN files out of records, and records out of RUN files.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

#[path = "../common/mod.rs"]
mod common;
mod properties;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, text};
use mountmark::record::*;

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/sql-bench-runs")
        .join(name)
}

/// What `mountmark` says to `args` in `place`, and its exit code.
fn mountmark(place: &Place, args: &[&str]) -> (String, Option<i32>) {
    let results = place.path("results");
    let output = place
        .command()
        .args(args)
        .args(["--results", results.to_str().unwrap()])
        .output()
        .expect("it runs");
    (text(&output), output.status.code())
}

fn import_into(place: &Place, files: &[PathBuf], more: &[&str]) -> (String, Option<i32>) {
    let mut args = vec!["import"];
    args.extend(files.iter().map(|f| f.to_str().unwrap()));
    args.extend(more);
    mountmark(place, &args)
}

/// Exports the newest run into `name`.
fn export(place: &Place, name: &str, more: &[&str]) -> PathBuf {
    let dir = place.path(name);
    let path = format!("{}/", dir.display());
    let mut args = vec!["report", "--format", "sql-bench", "--output", &path];
    args.extend(more);
    let (shown, code) = mountmark(place, &args);
    assert_eq!(code, Some(0), "{shown}");
    dir
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .expect("a directory")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// The lines with figures, blanks apart.
fn figures(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|l| l.contains("wallclock secs"));
    lines
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn real_run_files_come_out_as_they_went_in() {
    let place = Place::new();
    let files = [fixtures("RUN-mysql-linux"), fixtures("RUN-pg-linux")];
    let (shown, code) = import_into(&place, &files, &[]);
    assert_eq!(code, Some(0), "{shown}");
    let out = export(&place, "out", &["--compat"]);
    let found = files_in(&out);
    let names: Vec<_> = found.iter().filter_map(|f| f.file_name()).collect();
    assert_eq!(names, ["RUN-mariadb-linux", "RUN-postgres-linux"]);
    for (found, original) in found.iter().zip(&files) {
        let (found, original) = (
            fs::read_to_string(found).unwrap(),
            fs::read_to_string(original).unwrap(),
        );
        // The original adds up more digits than its rows show.
        let rows = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|l| !l.starts_with("TOTALS"));
            lines.map(String::from).collect()
        };
        assert_eq!(rows(&found), rows(&original));
    }
    let results = place.results();
    let engines = ["mariadb 10.11.19 (imported)", "postgres 15 (imported)"];
    assert_eq!(results.cases.len(), 20);
    assert!(results.cases.iter().all(|c| c.case.target == "linux"));
    for engine in engines {
        let cases = results.cases.iter().filter(|c| c.case.engine == engine);
        assert_eq!(cases.count(), 10, "{engine}");
    }
    let (report, code) = mountmark(&place, &["report", "--figure", "select_key"]);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("imported from RUN-mysql-linux"), "{report}");
    assert!(report.contains("insert returned"), "{report}");
    assert!(!report.contains("flushed"), "{report}");
    let (list, _) = mountmark(&place, &["list"]);
    assert!(list.contains("complete"), "{list}");
}

#[test]
fn real_outputs_of_phases_come_out_as_they_went_in() {
    let place = Place::new();
    let files = ["alter-table-mysql-linux", "insert-mysql-linux"].map(fixtures);
    let (shown, code) = import_into(&place, &files, &["--label", "old"]);
    assert_eq!(code, Some(0), "{shown}");
    let first = place.results();
    let out = export(&place, "out", &["--compat"]);
    for (file, original) in [
        ("alter-table-mariadb-linux", &files[0]),
        ("insert-mariadb-linux", &files[1]),
    ] {
        let found = fs::read_to_string(out.join(file)).unwrap();
        assert_eq!(
            figures(&found),
            figures(&fs::read_to_string(original).unwrap())
        );
    }
    for compat in [["--compat"].as_slice(), &[]] {
        let out = export(&place, "again", compat);
        let (shown, code) = import_into(&place, &files_in(&out), &[]);
        assert_eq!(code, Some(0), "{shown}");
        let phases = |r: &Results| {
            r.cases
                .iter()
                .flat_map(|c| c.phases.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(phases(&place.results()), phases(&first));
    }
}

#[test]
fn old_files_are_read_and_what_cannot_be_is_told() {
    let place = Place::new();
    let run = fixtures("old/RUN-mysql-Linux_2.2.14_i686");
    let create = fixtures("old/create-mysql-Linux_2.2.14_i686");
    let (shown, code) = import_into(&place, &[run.clone(), create.clone()], &[]);
    assert_eq!(code, Some(1), "{shown}");
    for told in [
        format!("{}:30: a row of totals is", run.display()),
        format!("{}:10: there is no count", create.display()),
    ] {
        assert!(shown.contains(&told), "{shown}");
    }
    let results = place.results();
    let case = |name: &str| {
        let found = results.cases.iter().find(|c| c.case.workload == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(
        case("connect").phases[0].ends.unwrap().returned.wall_ns,
        201_000_000_000
    );
    assert!(case("connect").remarks[0].contains("whole seconds"));
    assert!(matches!(case("create").outcome, Outcome::Failed { .. }));
    assert_eq!(case("create").phases[0].operations[0].count, 10_000);
    assert!(matches!(
        case("transactions").outcome,
        Outcome::Skipped { .. }
    ));
    let insert = &case("insert").phases[0];
    assert_eq!(insert.completeness, Completeness::TimeLimited);
    let sorted = &insert.operations[0];
    assert_eq!(
        (sorted.name.as_str(), sorted.flags.as_str()),
        ("order_by_big", "++")
    );
    assert_eq!(sorted.completeness, Completeness::TimeLimited);
    assert_eq!((sorted.statements, sorted.count), (None, 10));
    assert_eq!(results.run.plan.time_limit_s, 300.0);
    assert_eq!(
        results
            .run
            .remarks
            .iter()
            .filter(|r| r.starts_with("not imported"))
            .count(),
        2
    );
    let out = fs::read_to_string(export(&place, "out", &[]).join("RUN-mysql-Linux_2.2.14_i686"));
    let out = out.unwrap();
    assert!(
        out.contains("insert: Estimated total time: 2675 wallclock"),
        "{out}"
    );
    assert!(
        out.contains("2075.00  201.20   17.00  218.20      10 ++\n"),
        "{out}"
    );
}

#[test]
fn the_same_again_is_another_round_and_a_target_can_be_named() {
    let place = Place::new();
    let copy = place.path("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(fixtures("RUN-pg-linux"), copy.join("RUN-pg-linux")).unwrap();
    let files = [fixtures("RUN-pg-linux"), copy.join("RUN-pg-linux")];
    let (shown, code) = import_into(&place, &files, &["--on", "ext3 on a laptop"]);
    assert_eq!(code, Some(0), "{shown}");
    let results = place.results();
    assert_eq!(results.run.plan.rounds, 2);
    assert_eq!(results.run.plan.cases.len(), 10);
    assert_eq!(results.cases.len(), 20);
    assert!(
        results
            .cases
            .iter()
            .all(|c| c.case.target == "ext3 on a laptop")
    );
    let out = export(&place, "out", &[]).join("RUN-postgres-ext3_on_a_laptop");
    assert!(
        fs::read_to_string(out)
            .unwrap()
            .contains("medians of 2 rounds")
    );
}

#[test]
fn imported_runs_are_compared_like_any_other() {
    let place = Place::new();
    let newer = place.path("RUN-pg-linux");
    let text = fs::read_to_string(fixtures("RUN-pg-linux")).unwrap();
    fs::write(&newer, text.replace("PostgreSQL 15", "PostgreSQL 16")).unwrap();
    for (file, label) in [(fixtures("RUN-pg-linux"), "15"), (newer, "16")] {
        let (shown, code) = import_into(&place, &[file], &["--label", label]);
        assert_eq!(code, Some(0), "{shown}");
    }
    let compare = ["compare", "15", "16", "--axis", "engine"];
    let (shown, code) = mountmark(&place, &compare);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("seconds until returned"), "{shown}");
    assert!(shown.contains("connect on linux"), "{shown}");
    let figure = ["--figure", "select_key"];
    let (shown, code) = mountmark(&place, &[&compare[..], &figure].concat());
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("insert on linux"), "{shown}");
}

#[test]
fn what_is_nothing_of_the_suite_is_refused() {
    let place = Place::new();
    let file = place.path("letter");
    fs::write(&file, "dear reader\n").unwrap();
    let (shown, code) = import_into(&place, &[file], &[]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("letter: neither a RUN file"), "{shown}");
    assert!(place.entries("results").is_empty());
    let (shown, code) = import_into(&place, &[place.path("absent")], &[]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("cannot read"), "{shown}");
}

/// The files of a whole run, named by `MOUNTMARK_SHARED_DATA`, give the original's own
/// summary to the byte; they are not part of the project.
#[test]
fn a_whole_run_gives_the_summary_of_the_original() {
    let Some(dir) = std::env::var_os("MOUNTMARK_SHARED_DATA") else {
        eprintln!("SKIPPED: MOUNTMARK_SHARED_DATA names no directory with sql-bench-runs");
        return;
    };
    let dir = PathBuf::from(dir).join("sql-bench-runs");
    let place = Place::new();
    let (shown, code) = import_into(&place, &files_in(&dir), &[]);
    assert_eq!(code, Some(0), "{shown}");
    let out = export(&place, "out", &["--compat"]);
    for (found, original) in [("mariadb", "mysql"), ("postgres", "pg")] {
        let found = fs::read_to_string(out.join(format!("RUN-{found}-linux"))).unwrap();
        let original = fs::read_to_string(dir.join(format!("RUN-{original}-linux"))).unwrap();
        assert_eq!(found, original);
    }
}

/// The example run, which has two targets, as files; `fixtures/reports` holds one of them.
#[test]
fn a_run_of_ours_is_written_as_run_files() {
    let place = Place::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    let dir = place.path("out");
    let output = place
        .command()
        .args(["report", "--format", "sql-bench", "--output"])
        .args([&dir, &example])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let names: Vec<String> = files_in(&dir)
        .iter()
        .map(|f| f.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let tags = ["sqlite-ext2_defaults", "sqlite-ext4_data=journal"];
    let expected = ["RUN", "create"].map(|kind| tags.map(|tag| format!("{kind}-{tag}")));
    assert_eq!(names, expected.concat());
    for name in ["RUN-sqlite-ext2_defaults", "create-sqlite-ext2_defaults"] {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures/reports")
            .join(name);
        let found = fs::read_to_string(dir.join(name)).unwrap();
        if std::env::var_os("MOUNTMARK_BLESS").is_some() {
            fs::write(&golden, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(golden).unwrap_or_default());
    }
    let both = place
        .command()
        .args(["report", "--format", "sql-bench"])
        .arg(&example)
        .output()
        .expect("it runs");
    let shown = text(&both);
    assert_eq!(shown.matches("Totals per operation:").count(), 2, "{shown}");
    assert!(shown.contains("--output DIR"), "{shown}");
    let (shown, code) = import_into(&place, &files_in(&dir), &[]);
    assert_eq!(code, Some(0), "{shown}");
    let targets: Vec<String> = place
        .results()
        .run
        .plan
        .cases
        .into_iter()
        .map(|k| k.target)
        .collect();
    assert_eq!(targets, ["ext2_defaults", "ext4_data=journal"]);
}

#[test]
fn formats_and_options_that_do_not_fit_are_refused() {
    let place = Place::new();
    for (args, words) in [
        (
            ["report", "--format", "run"],
            "one of: text, markdown, html, csv, json, sql-bench",
        ),
        (
            ["report", "--compat", "--format=text"],
            "--compat is of --format sql-bench only",
        ),
        (["import", "--on", "x"], "FILE"),
    ] {
        let output = place.command().args(args).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output).contains(words), "{args:?}: {}", text(&output));
    }
}
