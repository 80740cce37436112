//! What goes wrong with servers, as a user meets it: each a failed record with a cause
//! that can be acted on, and the other cases run.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{Place, Running, can_mount, open_to_all, server, text, worker_of};
use mountmark::record::Outcome;
use mountmark::run::Stage;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Outcome of the only case of `engine` in the newest run.
fn outcome(place: &Place, engine: &str) -> Outcome {
    let results = place.results();
    let case = results
        .cases
        .iter()
        .find(|c| c.case.engine.starts_with(engine));
    case.unwrap_or_else(|| panic!("no case of {engine}"))
        .outcome
        .clone()
}

fn failure(place: &Place, engine: &str) -> (String, String) {
    match outcome(place, engine) {
        Outcome::Failed { stage, causes, log } => {
            (stage, format!("{}\n{}", causes.join(": "), log.join("\n")))
        }
        other => panic!("{engine}: {other:?}"),
    }
}

/// A run of `create` with `engine` and SQLite beside it, which must not suffer.
fn drill(place: &Place, engine: &str, args: &[&str]) -> String {
    let engines = format!("{engine},sqlite");
    let mut all = vec![
        "create",
        "--profile",
        "small-test",
        "--image-size",
        "256M",
        "--engine",
        &engines,
    ];
    all.extend(args);
    let output = place.run(&all).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert_eq!(outcome(place, "sqlite"), Outcome::Measured, "{shown}");
    place.assert_nothing_left("after the drill");
    shown
}

fn executable(path: &Path, script: &str) {
    fs::write(path, script).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

/// A directory that looks like PostgreSQL's, but with the given script for one binary.
fn counterfeit(place: &Place, binary: &str, script: &str) -> PathBuf {
    let real = server("postgres").expect("checked before");
    let real = real.build().binary.clone().expect("a binary");
    let real = real.parent().expect("a directory");
    let dir = place.path("bin");
    fs::create_dir(&dir).expect("a directory");
    for name in ["postgres", "initdb"] {
        let target = real.join(name);
        if name == binary {
            executable(
                &dir.join(name),
                &script.replace("REAL", &target.to_string_lossy()),
            );
        } else {
            executable(
                &dir.join(name),
                &format!("#!/bin/sh\nexec {} \"$@\"\n", target.display()),
            );
        }
    }
    open_to_all(place);
    dir
}

#[test]
fn a_missing_binary() {
    let place = Place::new();
    if !can_mount() {
        return;
    }
    let shown = drill(&place, "postgres=/nonexistent", &["--on", "ext4"]);
    let (stage, causes) = failure(&place, "postgres");
    assert_eq!(stage, "find");
    assert!(causes.contains("/nonexistent"), "{causes}");
    assert!(shown.contains("/nonexistent"), "{shown}");
}

#[test]
fn no_space_for_the_data_directory() {
    for name in ["postgres", "mariadb"] {
        if server(name).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        drill(&place, name, &["--on", "ext2", "--image-size", "16M"]);
        let (stage, causes) = failure(&place, name);
        assert_eq!(stage, "restore", "{causes}");
        assert!(causes.contains("No space left"), "{causes}");
    }
}

#[test]
fn a_socket_path_that_is_too_long() {
    if server("postgres").is_none() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    let long = place.path("long").join("a".repeat(90));
    fs::create_dir_all(&long).expect("a directory");
    drill(
        &place,
        "postgres",
        &["--on", "ext4", "--image-dir", long.to_str().expect("utf-8")],
    );
    let (_, causes) = failure(&place, "postgres");
    assert!(
        causes.contains("107") || causes.contains("too long"),
        "{causes}"
    );
    assert_eq!(fs::read_dir(long).expect("it is there").count(), 0);
}

#[test]
fn an_initialisation_that_fails() {
    if server("postgres").is_none() {
        return;
    }
    let place = Place::new();
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && exec REAL --version\necho 'initdb: error: no luck today' >&2\nexit 1\n";
    let dir = counterfeit(&place, "initdb", script);
    drill(
        &place,
        &format!("postgres={}", dir.display()),
        &["--on", "ext4"],
    );
    let (stage, causes) = failure(&place, "postgres");
    assert_eq!(stage, "restore", "{causes}");
    assert!(causes.contains("no luck today"), "{causes}");
    fs::remove_dir_all(dir).expect("ours");
}

#[test]
fn a_setting_that_the_server_does_not_know() {
    for (name, setting, words) in [
        (
            "postgres",
            "postgres:wal_sync_metod=fsync",
            "unrecognized configuration parameter",
        ),
        (
            "mariadb",
            "mariadb:innodb_flush_metod=fsync",
            "unknown variable",
        ),
    ] {
        if server(name).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        drill(&place, name, &["--on", "ext4", "--set", setting]);
        let (_, causes) = failure(&place, name);
        assert!(causes.contains(words), "{causes}");
    }
}

/// The server process below the run `pid`.
fn server_of(pid: i32) -> i32 {
    let children =
        fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let is_server = |child: &&str| {
        let name = fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        ["postgres", "mariadbd", "mysqld"].contains(&name.trim())
    };
    let found = children.split_whitespace().find(is_server);
    found.expect("a server runs").parse().expect("a number")
}

#[test]
fn a_server_killed_while_it_is_measured() {
    for name in ["postgres", "mariadb"] {
        if server(name).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        let run = Running::until(
            place.run(&[
                "insert",
                "--engine",
                name,
                "--on",
                "ext4",
                "--image-size",
                "256M",
            ]),
            "results go to",
        );
        worker_of(run.pid());
        kill(Pid::from_raw(server_of(run.pid())), Signal::SIGKILL).expect("it is there");
        assert_eq!(run.end(), Some(1));
        let (stage, causes) = failure(&place, name);
        assert_eq!(stage, "work");
        assert!(
            causes.contains("server died") && causes.contains("SIGKILL"),
            "{causes}"
        );
        place.assert_nothing_left("after the server was killed");
    }
}

#[test]
fn a_kill_at_every_stage_leaves_no_server() {
    for name in ["postgres", "mariadb"] {
        if server(name).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        for (stage, signal) in [
            (Stage::Settle, Signal::SIGKILL),
            (Stage::Work, Signal::SIGKILL),
            (Stage::Stop, Signal::SIGKILL),
            (Stage::Work, Signal::SIGTERM),
            (Stage::Stop, Signal::SIGINT),
        ] {
            let when = format!("{name}: {signal} at {stage}");
            let mut command = place.run(&[
                "create",
                "--loops",
                "0.1",
                "--profile",
                "small-test",
                "--engine",
                name,
                "--on",
                "ext4",
                "--image-size",
                "256M",
            ]);
            command.env("MOUNTMARK_HOLD_AT", stage.name());
            let run = Running::until(command, "holding at");
            run.signal(signal);
            run.end();
            // A server does not carry the mark of the test: look for it by its data.
            let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
            while servers_in(&place) > 0 {
                assert!(std::time::Instant::now() < end, "{when}: a server is left");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            place.assert_nothing_runs(&when);
            if signal == Signal::SIGKILL {
                let clean = place.command().arg("clean").output().expect("clean runs");
                assert!(clean.status.success(), "{when}: {}", text(&clean));
            }
            place.assert_nothing_left(&when);
        }
    }
}

fn servers_in(place: &Place) -> usize {
    let here = place.path("images").to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").expect("/proc");
    entries
        .filter_map(|e| fs::read(e.ok()?.path().join("cmdline")).ok())
        .filter(|line| {
            let line = String::from_utf8_lossy(line);
            line.contains(&here) && !line.contains("mountmark\0run")
        })
        .count()
}

#[test]
fn both_servers_measure_what_sqlite_measures() {
    let mut engines = Vec::new();
    for name in ["postgres", "mariadb"] {
        if server(name).is_some() {
            engines.push(name);
        }
    }
    if engines.is_empty() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    let list = engines.join(",");
    let output = place
        .run(&[
            "create",
            "insert",
            "--profile",
            "small-test",
            "--engine",
            &list,
            "--on",
            "ext4",
            "--on",
            "ext4:data=journal",
            "--image-size",
            "512M",
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let results = place.results();
    assert_eq!(results.cases.len(), 4 * engines.len());
    for case in &results.cases {
        let phase = &case.phases[0];
        let engine = case.engine.as_ref().expect("an engine");
        assert!(engine.has_server && !engine.settings.is_empty());
        assert!(
            phase.server.expect("its CPU").user_ns > 0,
            "{:?}",
            case.case
        );
        assert!(phase.server_memory_bytes.expect("its memory") > 1 << 20);
        let ends = phase.ends.expect("three ends");
        let flushes = ends.returned.device.expect("counters").flushes;
        assert!(flushes > 100, "{:?}: {flushes} flushes", case.case);
    }
    place.assert_nothing_left("after the run");
}
