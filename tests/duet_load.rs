//! Loads side by side: they take turns with nothing under way, count for themselves in
//! their own time, and end together.

mod common;

use common::{Place, Running, can_mount, open_to_all, server, text};
use mountmark::compare::{Choice, Figure, Rule, within};
use mountmark::record::{CaseRecord, LoadRecord, Outcome, Results};
use nix::sys::signal::Signal;

fn load(case: &CaseRecord) -> &LoadRecord {
    case.load.as_ref().expect("a load")
}

/// What holds of every load that was measured in duet.
fn assert_own(case: &CaseRecord, when: &str) {
    assert_eq!(case.outcome, Outcome::Measured, "{when}");
    assert!(case.duet.is_some(), "{when}");
    let (load, phase) = (load(case), &case.phases[0]);
    let turns = phase.duet.expect("turns");
    assert!(turns.turns > 1 && turns.paused_ns > 0, "{when}: {turns:?}");
    // Every transaction and all own time stand in a slice.
    let transactions: u64 = load.slices.iter().map(|s| u64::from(s.0)).sum();
    let own: u64 = load.slices.iter().map(|s| s.1).sum();
    assert_eq!(transactions, load.committed, "{when}");
    assert_eq!(own, load.wall_ns, "{when}");
    assert!(load.slices.len() > 1, "{when}: {:?}", load.slices);
    assert!(load.draining_ns.expect("ends of slices") < load.wall_ns);
    assert_eq!(
        load.attempted,
        load.committed + load.failed + load.skipped,
        "{when}"
    );
    assert_eq!(load.latency.count, load.committed, "{when}");
    // Own time never runs backwards, and nothing is later than the end.
    let rising = load
        .progress
        .windows(2)
        .all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1);
    assert!(rising, "{when}: {:?}", load.progress);
    let mut last = 0;
    for checkpoint in &load.checkpoints {
        assert!(checkpoint.elapsed_ns >= last, "{when}");
        last = checkpoint.elapsed_ns;
    }
    assert!(last <= load.wall_ns, "{when}");
    assert!(load.latency.max_ns <= load.wall_ns, "{when}");
    let ends = phase.ends.expect("three ends");
    assert!(ends.returned.wall_ns >= load.wall_ns, "{when}");
    assert!(
        load.machine.is_none(),
        "{when}: the other case is part of it"
    );
}

/// Runs loads on two file systems and gives what was stored.
fn run(place: &Place, engine: &str, args: &[&str]) -> (Results, String) {
    let mut all = vec![
        "load",
        "--engine",
        engine,
        "--on",
        "ext4",
        "--on",
        "ext4:nobarrier",
        "--rounds",
        "2",
        "--image-size",
        "256M",
    ];
    all.extend(args);
    let output = place.run(&all).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{engine}: {shown}");
    place.assert_nothing_left("after the duets");
    (place.results(), shown)
}

#[test]
fn every_transaction_of_both_is_found_and_counted_once() {
    for engine in ["sqlite", "postgres"] {
        if !can_mount() || engine != "sqlite" && server(engine).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        let args = [
            "-c",
            "4",
            "--preload",
            "1003",
            "--tuples",
            "2000",
            "--checkpoints",
            "100,1000,2000",
            "--warmup",
            "0.1",
            "--slice",
            "2ms",
            "-P",
            "1",
        ];
        // Two rounds and room for two: in duet without being asked.
        let (results, shown) = run(&place, engine, &args);
        // The other target and the baseline's twin, each beside the baseline, twice.
        assert_eq!(results.cases.len(), 8, "{engine}");
        for case in &results.cases {
            let when = format!("{engine}, {:?}", case.case);
            assert_own(case, &when);
            let load = load(case);
            assert_eq!((load.committed, load.statements), (2000, 2000), "{when}");
            let counts: Vec<u64> = load.checkpoints.iter().map(|c| c.transactions).collect();
            assert_eq!(counts, [100, 1000, 2000], "{when}");
            let added = 2000 + load.warmup_committed;
            assert!(load.warmup_committed > 0, "{when}");
            let found = format!(
                "tuples found = 1003 preloaded + {added} acknowledged: {}",
                1003 + added
            );
            assert_eq!(load.invariants, [found], "{when}");
        }
        // The two change images from round to round.
        for case in &results.cases {
            let device = |c: &CaseRecord| {
                let target = c.target.as_ref().expect("a target");
                target.device.as_ref().expect("a device").device.clone()
            };
            let partner = |c: &CaseRecord| c.duet.as_ref().expect("in duet").partner.clone();
            let other = results.cases.iter().find(|c| {
                c.case == case.case && partner(c) == partner(case) && c.round != case.round
            });
            let other = other.expect("another round");
            assert_ne!(device(case), device(other), "{engine}, {:?}", case.case);
        }
        assert!(
            shown.contains("in duet, in slices of 2 ms or ten"),
            "{shown}"
        );
        assert!(shown.contains("ends of slices"), "{shown}");
        let choice = Choice {
            baseline: None,
            figure: Figure::Transactions,
            rule: Rule::default(),
        };
        let comparisons = within(&results, &choice);
        let duet = comparisons.list[0].duet.expect("in duet");
        assert!(duet.slice_ratio.is_some() && duet.draining.is_some());
        assert!(!comparisons.noise.is_empty());
    }
}

#[test]
fn a_time_is_own_time_and_balances_hold() {
    for engine in ["postgres", "mariadb"] {
        if server(engine).is_none() {
            continue;
        }
        let place = Place::new();
        open_to_all(&place);
        let args = [
            "-b",
            "tpcb-like",
            "-c",
            "3",
            "-T",
            "0.5",
            "-C",
            "--warmup",
            "0",
            "--max-tries",
            "50",
        ];
        let args = match engine {
            "postgres" => &args[..],
            // A new connection each time is dear there, and one engine will do for it.
            _ => &[&args[..6], &args[7..]].concat()[..],
        };
        let (results, _) = run(&place, engine, args);
        for case in &results.cases {
            let when = format!("{engine}, {:?}", case.case);
            assert_own(case, &when);
            let load = load(case);
            assert!(load.wall_ns >= 500_000_000, "{when}: {}", load.wall_ns);
            assert_eq!(load.warmup_committed, 0, "{when}");
            let held = load.invariants.join("\n");
            for rule in ["history rows", "account", "teller", "branch"] {
                assert!(held.contains(rule), "{when}: {held}");
            }
        }
    }
}

#[test]
fn a_load_that_cannot_come_to_rest_plays_alone_and_the_run_says_why() {
    let place = Place::new();
    let script = place.path("sleepy.sql");
    std::fs::write(&script, "SELECT 1;\n\\sleep 1 ms\n").expect("written");
    let data = place.path("data").display().to_string();
    let file = script.display().to_string();
    let plan = |more: &[&str], duet: &str| {
        let mut args = vec!["plan", "load", "--engine", "sqlite", "--on", &data];
        args.extend(["--rounds", "2", "--duet", duet]);
        args.extend(more);
        let output = place.command().args(args).output().expect("it runs");
        (output.status.code(), text(&output))
    };
    for (args, words) in [
        (&["-f", &file][..], "a script sleeps or starts a program"),
        (&["-R", "100", "-T", "1"], "with --rate"),
    ] {
        let (code, shown) = plan(args, "auto");
        assert_eq!(code, Some(0), "{shown}");
        assert!(
            shown.contains("one case after the other, not in duet") && shown.contains(words),
            "{shown}"
        );
        let (code, shown) = plan(args, "on");
        assert_eq!(code, Some(2), "{shown}");
        assert!(
            shown.contains("--duet on") && shown.contains(words),
            "{shown}"
        );
    }
    let (_, shown) = plan(&["-T", "1"], "on");
    assert!(shown.contains("2 beside 1"), "{shown}");
}

#[test]
fn loads_in_duet_are_resumed() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let args = [
        "load",
        "--on",
        "ext4",
        "--rounds",
        "3",
        "-c",
        "2",
        "--preload",
        "100",
        "--tuples",
        "1000",
        "--warmup",
        "0",
    ];
    let run = Running::until(place.run(&args), "[3/6]");
    run.signal(Signal::SIGTERM);
    assert_eq!(run.end(), Some(130));
    place.assert_nothing_left("after the interrupt");
    let id = place.results().run.id;
    let mut command = place.command();
    command.args(["run", "--resume", &id, "--results", "results"]);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let results = place.results();
    let ended = |c: &&CaseRecord| c.outcome == Outcome::Measured;
    assert_eq!(results.cases.iter().filter(ended).count(), 6);
    results
        .cases
        .iter()
        .filter(ended)
        .for_each(|case| assert_own(case, "resumed"));
    place.assert_nothing_left("after the resumed run");
}
