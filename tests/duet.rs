//! Two cases side by side: they take turns, count for themselves, and end together.

mod common;

use std::fs;

use common::{Place, Running, can_mount, text, worker_of};
use mountmark::compare::{Choice, Figure, Rule, Verdict, within};
use mountmark::record::{CaseRecord, Outcome, Results};
use mountmark::run::Stage;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn by_case<'r>(results: &'r Results, target: &str, replicate: u8) -> Vec<&'r CaseRecord> {
    let of = |c: &&CaseRecord| c.case.target == target && c.case.replicate == replicate;
    results.cases.iter().filter(of).collect()
}

fn flushes(case: &CaseRecord) -> u64 {
    let ends = case.phases[0].ends.expect("three ends");
    ends.returned.device.expect("counters").flushes
}

#[test]
fn each_case_is_paired_with_the_baseline_and_counts_for_itself() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let run = |duet: &str| {
        let output = place
            .run(&[
                "create",
                "--profile",
                "small-test",
                "--rounds",
                "2",
                "--duet",
                duet,
                "--on",
                "ext4",
                "--on",
                "ext4:data=journal",
                "--on",
                "ext4:nobarrier",
                "--slice",
                "1ms",
            ])
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        place.assert_nothing_left("after the run");
        place.results()
    };
    let (alone, together) = (run("off"), run("on"));
    assert_eq!(alone.cases.len(), 8);
    assert!(alone.cases.iter().all(|c| c.duet.is_none()));
    // Two others and the baseline's twin, each beside the baseline, in two rounds.
    assert_eq!(together.cases.len(), 12);
    assert_eq!(by_case(&together, "ext4_defaults", 0).len(), 6);
    for case in &together.cases {
        assert_eq!(case.outcome, Outcome::Measured);
        let duet = case.duet.as_ref().expect("in duet");
        assert_eq!(
            duet.side == 0,
            case.case.target == "ext4_defaults" && case.case.replicate == 0
        );
        let phase = &case.phases[0];
        let turns = phase.duet.expect("turns");
        assert!(turns.turns > 10 && turns.paused_ns > 0, "{turns:?}");
        for operation in phase.operations.iter().filter(|o| !o.slices.is_empty()) {
            let statements: u64 = operation.slices.iter().map(|s| u64::from(s.0)).sum();
            let own: u64 = operation.slices.iter().map(|s| s.1).sum();
            assert_eq!(Some(statements), operation.statements, "{}", operation.name);
            assert_eq!(own, operation.wall_ns, "{}", operation.name);
        }
    }
    // What the device had to do does not depend on who else was there.
    for target in ["ext4_data=journal", "ext4_nobarrier"] {
        let solo = flushes(by_case(&alone, target, 0)[0]) as f64;
        for case in by_case(&together, target, 0) {
            let found = flushes(case) as f64;
            assert!(
                (found - solo).abs() <= 0.02 * solo.max(50.0),
                "{target}: {found}, alone {solo}"
            );
        }
    }
    // Who begins alternates.
    let firsts: Vec<usize> = by_case(&together, "ext4_nobarrier", 0)
        .iter()
        .map(|c| c.duet.as_ref().expect("in duet").first)
        .collect();
    assert_ne!(firsts[0], firsts[1]);
}

#[test]
fn a_gross_difference_is_found_and_a_twin_is_not() {
    let place = Place::new();
    let data = place.path("data");
    let output = place
        .run(&[
            "create",
            "--engine",
            "null",
            "--on",
            data.to_str().expect("utf-8"),
            "--rounds",
            "4",
            "--set",
            "delay_us=100",
            "--set",
            "delay_us=200",
            "--duet",
            "on",
            "--loops",
            "0.2",
            "--threshold",
            "30%",
        ])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let results = place.results();
    let comparisons = within(
        &results,
        &Choice {
            baseline: None,
            figure: Figure::Settled,
            rule: Rule::default().with_threshold(0.3).expect("a threshold"),
        },
    );
    assert_eq!(comparisons.list.len(), 1);
    assert_eq!(comparisons.list[0].verdict, Verdict::Slower);
    assert!(
        comparisons.list[0]
            .duet
            .expect("in duet")
            .slice_ratio
            .is_some()
    );
    assert!(!comparisons.noise.is_empty());
    assert!(text(&output).contains("in duet"), "{}", text(&output));
}

#[test]
fn the_fault_of_one_is_the_fault_of_the_pair() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let output = place
        .run(&[
            "create",
            "--engine",
            "null",
            "--on",
            "ext4",
            "--on",
            "ext4:data=journl",
            "--rounds",
            "2",
            "--duet",
            "on",
            "--loops",
            "0.1",
        ])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let results = place.results();
    let causes = |case: &CaseRecord| match &case.outcome {
        Outcome::Failed { causes, .. } => causes.join(": "),
        other => format!("{other:?}"),
    };
    for case in by_case(&results, "ext4_data=journl", 0) {
        assert!(causes(case).contains("data"), "{}", causes(case));
    }
    for case in by_case(&results, "ext4_defaults", 0) {
        let twin = case.duet.as_ref().expect("in duet").partner.replicate == 1;
        match twin {
            true => assert_eq!(case.outcome, Outcome::Measured),
            false => assert!(causes(case).contains("partner"), "{}", causes(case)),
        }
    }
    place.assert_nothing_left("after the run");
}

#[test]
fn a_killed_worker_ends_both_and_the_run_goes_on() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let run = Running::until(
        place.run(&[
            "create",
            "--engine",
            "null",
            "--on",
            "ext4",
            "--on",
            "ext2",
            "--rounds",
            "2",
            "--duet",
            "on",
            "--set",
            "hang_statement=3",
        ]),
        "results go to",
    );
    let worker = worker_of(run.pid());
    kill(Pid::from_raw(worker), Signal::SIGKILL).expect("it is there");
    // The next pair hangs again: the run is alive. End it.
    while fs::read_dir(format!("/proc/{worker}")).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    worker_of(run.pid());
    run.signal(Signal::SIGTERM);
    assert_eq!(run.end(), Some(130));
    let results = place.results();
    let failed = |c: &&CaseRecord| matches!(c.outcome, Outcome::Failed { .. });
    assert_eq!(results.cases.iter().filter(failed).count(), 2);
    place.assert_nothing_left("after the run");
}

#[test]
fn signals_at_every_stage_leave_nothing_of_either() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    for stage in Stage::ALL {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            let when = format!("{signal} at {stage}");
            let mut command = place.run(&[
                "create", "--engine", "null", "--on", "ext4", "--on", "ext2", "--rounds", "2",
                "--duet", "on",
            ]);
            command.env("MOUNTMARK_HOLD_AT", stage.name());
            let run = Running::until(command, "holding at");
            run.signal(signal);
            run.end();
            place.assert_nothing_runs(&when);
            if signal == Signal::SIGKILL {
                let clean = place.command().arg("clean").output().expect("clean runs");
                assert!(clean.status.success(), "{when}: {}", text(&clean));
            }
            place.assert_nothing_left(&when);
        }
    }
}
