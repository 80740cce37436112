//! What is made is undone: every stage of a case, every way to end.

mod common;

use common::{Place, Running, can_mount, text, worker_of};
use mountmark::record::{Ending, Outcome};
use mountmark::run::Stage;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const NULL_ON_EXT4: [&str; 5] = ["create", "--engine", "null", "--on", "ext4"];

fn stages() -> impl Iterator<Item = Stage> {
    Stage::ALL.into_iter()
}

#[test]
fn an_interrupt_at_every_stage_leaves_nothing() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    for stage in stages() {
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let when = format!("{signal} at {stage}");
            let mut command = place.run(&NULL_ON_EXT4);
            command.env("MOUNTMARK_HOLD_AT", stage.name());
            let run = Running::until(command, "holding at");
            run.signal(signal);
            assert_eq!(run.end(), Some(130), "{when}");
            place.assert_nothing_left(&when);
            let results = place.results();
            assert_eq!(results.run.ending, Some(Ending::Interrupted), "{when}");
            assert_eq!(
                results.cases[0].outcome,
                Outcome::Interrupted {
                    stage: stage.name().to_string()
                }
            );
        }
    }
}

#[test]
fn a_kill_at_every_stage_leaves_only_what_clean_removes() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    for stage in stages() {
        let when = format!("SIGKILL at {stage}");
        let mut command = place.run(&NULL_ON_EXT4);
        command.env("MOUNTMARK_HOLD_AT", stage.name());
        let run = Running::until(command, "holding at");
        run.signal(Signal::SIGKILL);
        assert_eq!(run.end(), None, "{when}");
        place.assert_nothing_runs(&when);
        assert_eq!(place.entries("state").len(), 1, "{when}");
        let clean = place.command().arg("clean").output().expect("clean runs");
        assert!(clean.status.success(), "{when}: {}", text(&clean));
        place.assert_nothing_left(&when);
    }
}

#[test]
fn a_kill_in_a_directory_is_cleaned_too() {
    let place = Place::new();
    let data = place.path("data");
    let mut command = place.run(&["create", "--on", data.to_str().expect("utf-8")]);
    command.env("MOUNTMARK_HOLD_AT", "work");
    let run = Running::until(command, "holding at");
    run.signal(Signal::SIGKILL);
    run.end();
    assert_eq!(place.entries("data").len(), 2);
    let clean = place.command().arg("clean").output().expect("clean runs");
    assert!(clean.status.success(), "{}", text(&clean));
    place.assert_nothing_left("after clean");
    let again = place.command().arg("clean").output().expect("clean runs");
    assert!(text(&again).contains("nothing to clean"));
}

#[test]
fn signals_while_the_worker_measures() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = NULL_ON_EXT4.to_vec();
    args.extend(["--set", "null:hang_statement=3"]);
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let when = format!("{signal} while measuring");
        let run = Running::until(place.run(&args), "results go to");
        worker_of(run.pid());
        run.signal(signal);
        let code = run.end();
        place.assert_nothing_runs(&when);
        if signal == Signal::SIGKILL {
            assert_eq!(code, None);
            place.command().arg("clean").output().expect("clean runs");
        } else {
            assert_eq!(code, Some(130), "{when}");
        }
        place.assert_nothing_left(&when);
    }
}

#[test]
fn a_killed_worker_fails_its_case_and_the_others_run() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = NULL_ON_EXT4.to_vec();
    args.extend(["--on", "ext2", "--set", "null:hang_statement=3"]);
    let run = Running::until(place.run(&args), "results go to");
    for _ in 0..2 {
        let worker = worker_of(run.pid());
        kill(Pid::from_raw(worker), Signal::SIGKILL).expect("the worker is there");
        while std::path::Path::new(&format!("/proc/{worker}")).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    assert_eq!(run.end(), Some(1));
    let results = place.results();
    assert_eq!(results.cases.len(), 2);
    for case in &results.cases {
        let Outcome::Failed { stage, causes, .. } = &case.outcome else {
            panic!("{:?}", case.outcome);
        };
        assert_eq!(stage, "work");
        assert!(causes[0].contains("SIGKILL"), "{causes:?}");
    }
    place.assert_nothing_left("after the workers were killed");
}

#[test]
fn a_fault_at_each_step_is_a_record_with_its_stage() {
    let place = Place::new();
    let data = place.path("data");
    let data = data.to_str().expect("utf-8");
    for (setting, stage, words) in [
        ("fail_at=initialise", "restore", "fails at initialise"),
        ("fail_at=launch", "launch", "fails at launch"),
        ("fail_at=connect", "work", "fails at connect"),
        ("fail_statement=7", "work", "fails this statement"),
        ("die_statement=7", "work", "SIGABRT"),
    ] {
        let set = format!("null:{setting}");
        let output = place
            .run(&[
                "create",
                "--engine",
                "null,sqlite",
                "--on",
                data,
                "--set",
                &set,
            ])
            .output()
            .expect("it runs");
        assert_eq!(
            output.status.code(),
            Some(1),
            "{setting}: {}",
            text(&output)
        );
        let results = place.results();
        let of = |engine: &str| {
            let found = results
                .cases
                .iter()
                .find(|c| c.case.engine.starts_with(engine));
            found.expect("the case is stored").outcome.clone()
        };
        assert_eq!(of("sqlite"), Outcome::Measured, "{setting}");
        let Outcome::Failed {
            stage: at, causes, ..
        } = of("null")
        else {
            panic!("{setting} did not fail");
        };
        assert_eq!(at, stage, "{setting}: {causes:?}");
        let causes = causes.join(": ");
        assert!(causes.contains(words), "{setting}: {causes}");
        place.assert_nothing_left(setting);
    }
}
