//! What goes wrong with two servers on two images, taking turns: whatever ends one of them
//! ends the pair, with its reason, and nothing of either is left.

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{Place, Running, can_mount, open_to_all, server, text, worker_of};
use mountmark::record::{CaseRecord, Outcome};
use mountmark::run::Stage;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A load on two servers that goes on until it is ended.
fn endless(place: &Place, engine: &str) -> std::process::Command {
    place.run(&[
        "load",
        "--engine",
        engine,
        "--on",
        "ext4",
        "--on",
        "ext2",
        "--baseline",
        "ext4_defaults",
        "--rounds",
        "2",
        "--duet",
        "on",
        "-c",
        "4",
        "-T",
        "600",
        "--warmup",
        "0",
        "--preload",
        "100",
        "--image-size",
        "256M",
    ])
}

/// Processes of servers with their data in this place: the main ones.
fn servers_in(place: &Place) -> Vec<i32> {
    let here = place.path("images").to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").expect("/proc");
    let pid = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line);
        let name = fs::read_to_string(entry.path().join("comm")).ok()?;
        let is_server = ["postgres", "mariadbd", "mysqld"].contains(&name.trim());
        (is_server && line.contains(&here)).then_some(pid)
    };
    let found: Vec<i32> = entries.filter_map(pid).collect();
    // A child that has just been forked looks like its parent.
    let parent = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = stat.rsplit_once(')')?.1;
        fields.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    let is_main = |pid: &i32| parent(*pid).is_none_or(|parent| !found.contains(&parent));
    found.iter().copied().filter(is_main).collect()
}

/// Waits until both workers play.
fn until_both_play(run: &Running) -> Vec<i32> {
    worker_of(run.pid());
    let pid = run.pid();
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let workers: Vec<i32> = children
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|c| c.parse().ok())
            .filter(|c| {
                // One thread a client or one for several, beside the main one.
                let threads = fs::read_dir(format!("/proc/{c}/task"));
                let name = fs::read(format!("/proc/{c}/cmdline")).unwrap_or_default();
                name.split(|b| *b == 0).nth(1) == Some(b"worker")
                    && threads.is_ok_and(|t| t.count() > 1)
            })
            .collect();
        if workers.len() == 2 {
            return workers;
        }
        assert!(Instant::now() < end, "the workers do not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_no_server(place: &Place, when: &str) {
    let end = Instant::now() + Duration::from_secs(10);
    while !servers_in(place).is_empty() {
        assert!(Instant::now() < end, "{when}: a server is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn clean(place: &Place, when: &str) {
    let output = place.command().arg("clean").output().expect("clean runs");
    assert!(output.status.success(), "{when}: {}", text(&output));
}

#[test]
fn signals_while_two_servers_take_turns_leave_nothing_of_either() {
    for (engine, signals) in [
        (
            "postgres",
            &[Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL][..],
        ),
        ("mariadb", &[Signal::SIGKILL]),
    ] {
        if server(engine).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        for signal in signals {
            let when = format!("{engine}: {signal} in turns");
            let run = Running::until(endless(&place, engine), "results go to");
            until_both_play(&run);
            assert_eq!(servers_in(&place).len(), 2, "{when}");
            run.signal(*signal);
            let code = run.end();
            assert_no_server(&place, &when);
            place.assert_nothing_runs(&when);
            if *signal == Signal::SIGKILL {
                clean(&place, &when);
            } else {
                assert_eq!(code, Some(130), "{when}");
                let interrupted = |c: &&CaseRecord| matches!(&c.outcome, Outcome::Interrupted { stage } if stage == "work");
                assert_eq!(place.results().cases.iter().filter(interrupted).count(), 2);
            }
            place.assert_nothing_left(&when);
        }
    }
}

#[test]
fn a_kill_at_other_stages_leaves_nothing_of_two_servers() {
    if server("postgres").is_none() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    for stage in [Stage::Launch, Stage::Work, Stage::Stop] {
        let when = format!("SIGKILL at {stage}");
        let mut command = place.run(&[
            "create",
            "--loops",
            "0.02",
            "--engine",
            "postgres",
            "--on",
            "ext4",
            "--rounds",
            "2",
            "--duet",
            "on",
            "--image-size",
            "256M",
        ]);
        command.env("MOUNTMARK_HOLD_AT", stage.name());
        let run = Running::until(command, "holding at");
        run.signal(Signal::SIGKILL);
        run.end();
        assert_no_server(&place, &when);
        place.assert_nothing_runs(&when);
        clean(&place, &when);
        place.assert_nothing_left(&when);
    }
}

#[test]
fn a_server_that_dies_fails_the_pair_with_its_reason() {
    for engine in ["postgres", "mariadb"] {
        if server(engine).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        let run = Running::until(endless(&place, engine), "results go to");
        until_both_play(&run);
        // The one whose data lie on the second image.
        let second = servers_in(&place).into_iter().find(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("/mnt1")
        });
        let second = second.expect("a server on the second image");
        kill(Pid::from_raw(second), Signal::SIGKILL).expect("it is there");
        // The run goes on with the next pair, which is as endless: end it there.
        let end = Instant::now() + Duration::from_secs(30);
        while servers_in(&place).contains(&second) || place.results().cases.len() < 2 {
            assert!(Instant::now() < end, "{engine}: the pair does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        run.signal(Signal::SIGTERM);
        assert_eq!(run.end(), Some(130), "{engine}");
        let results = place.results();
        let failed: Vec<_> = results
            .cases
            .iter()
            .filter_map(|case| match &case.outcome {
                Outcome::Failed { stage, causes, .. } => {
                    Some((case.duet.as_ref()?.side, stage.clone(), causes.join(": ")))
                }
                _ => None,
            })
            .collect();
        assert_eq!(failed.len(), 2, "{engine}: {failed:?}");
        for (side, stage, causes) in &failed {
            assert_eq!(stage, "work", "{engine}: {causes}");
            let words = match side {
                1 => ["server died", "SIGKILL"],
                _ => ["its partner in the duet failed", "load on"],
            };
            for word in words {
                assert!(causes.contains(word), "{engine}, side {side}: {causes}");
            }
        }
        assert_no_server(&place, engine);
        place.assert_nothing_left(engine);
    }
}

#[test]
fn a_worker_that_is_killed_in_a_load_fails_the_pair() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let run = Running::until(endless(&place, "sqlite"), "results go to");
    let workers = until_both_play(&run);
    kill(Pid::from_raw(workers[0]), Signal::SIGKILL).expect("it is there");
    let end = Instant::now() + Duration::from_secs(30);
    while place.results().cases.len() < 2 {
        assert!(Instant::now() < end, "the pair does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    run.signal(Signal::SIGINT);
    assert_eq!(run.end(), Some(130));
    let results = place.results();
    let failed = |c: &&CaseRecord| matches!(c.outcome, Outcome::Failed { .. });
    assert_eq!(results.cases.iter().filter(failed).count(), 2);
    place.assert_nothing_left("after the run");
}
