//! The whole path, from what is typed to the verdict that is shown: the engine that
//! pretends, with scripted delays, in a directory. Delays are slept and differ grossly, so
//! that what else the machine does hardly matters.

mod common;

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Place, text};
use mountmark::record::{Outcome, Results};

/// Runs phase `create` with few loops on each of `settings` in turn, one after the other.
fn run(settings: &[&str], args: &[&str]) -> (Place, Option<i32>, String) {
    run_any(settings, &[&["--duet", "off"], args].concat())
}

/// Read by those who measure, written by the test that keeps the machine busy: the tests
/// of a file run side by side.
static QUIET: RwLock<()> = RwLock::new(());

/// The same, however the run chooses to.
fn run_any(settings: &[&str], args: &[&str]) -> (Place, Option<i32>, String) {
    let _quiet = QUIET.read();
    measure(settings, args)
}

fn measure(settings: &[&str], args: &[&str]) -> (Place, Option<i32>, String) {
    let place = Place::new();
    let data = place.path("data");
    let mut command = place.run(&["create", "--engine", "null", "--loops", "0.01"]);
    command.arg("--on").arg(data).args(args);
    for setting in settings {
        command.arg("--set").arg(format!("null:{setting}"));
    }
    let output = command.output().expect("it runs");
    let shown = text(&output);
    place.assert_nothing_left("after the run");
    (place, output.status.code(), shown)
}

/// Whether `words` are shown, wherever lines were broken.
#[track_caller]
fn assert_says(shown: &str, words: &str) {
    let flat: Vec<&str> = shown.split_whitespace().collect();
    assert!(
        flat.join(" ").contains(words),
        "'{words}' is not in: {shown}"
    );
}

/// The line of the table for `value`, as its cells.
fn row<'s>(shown: &'s str, value: &str) -> Vec<&'s str> {
    let mut lines = shown
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>());
    // A mark says what commits are worth.
    let named = |cell: &&str| cell.trim_end_matches(['†', '‡', '°']) == value;
    let found = lines.find(|cells| cells.first().is_some_and(named) && cells.len() > 2);
    found.unwrap_or_else(|| panic!("no row for {value}: {shown}"))
}

fn ratio(shown: &str, value: &str) -> f64 {
    row(shown, value)[2].parse().expect("a ratio")
}

fn assert_twins_apart(results: &Results) {
    let plan = &results.run.plan;
    assert_eq!(plan.order.len(), plan.rounds as usize);
    let units = plan.order.concat().into_iter().map(|i| &plan.units[i]);
    let keys: Vec<_> = units.map(|unit| &plan.cases[unit[0]]).collect();
    for pair in keys.windows(2) {
        let mut other = pair[1].clone();
        other.replicate = 1 - other.replicate;
        assert_ne!(*pair[0], other, "an A/A pair in a row");
    }
}

#[test]
fn twice_the_delay_is_slower_and_half_of_it_faster() {
    let (place, code, shown) = run(&["delay_us=6000", "delay_us=12000"], &["--rounds", "5"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_says(&shown, "create: slower: delay_us=12000");
    assert!(
        (1.3..2.5).contains(&ratio(&shown, "delay_us=12000")),
        "{shown}"
    );
    assert_says(&shown, "noise floor");
    let results = place.results();
    assert_eq!(
        results.cases.len(),
        20,
        "two cases and their twins, five rounds"
    );
    let twins = results.cases.iter().filter(|c| c.case.replicate == 1);
    assert_eq!(twins.count(), 10);
    assert_twins_apart(&results);

    let (_, code, shown) = run(&["delay_us=12000", "delay_us=6000"], &["--rounds", "5"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_says(&shown, "create: faster: delay_us=6000");
    assert!(
        (0.4..0.77).contains(&ratio(&shown, "delay_us=6000")),
        "{shown}"
    );
}

#[test]
fn side_by_side_it_is_slower_too() {
    let settings = ["delay_us=6000", "delay_us=12000"];
    let (place, code, shown) = run_any(&settings, &["--rounds", "5"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_says(&shown, "create: slower: delay_us=12000");
    assert_says(&shown, "noise floor");
    assert!(place.results().cases.iter().all(|c| c.duet.is_some()));
}

#[test]
fn one_per_cent_is_no_difference_where_a_half_counts() {
    let (_, code, shown) = run(
        &["delay_us=12000", "delay_us=12120"],
        &["--rounds", "5", "--threshold", "50%"],
    );
    assert_eq!(code, Some(0), "{shown}");
    let words = "create: no difference that matters: delay_us=12120";
    assert_says(&shown, words);
    assert_says(&shown, "equivalent (±50 %)");
}

#[test]
fn one_round_gives_no_verdict() {
    let (place, code, shown) = run(&["delay_us=6000", "delay_us=12000"], &[]);
    assert_eq!(code, Some(0), "{shown}");
    assert_says(&shown, "no verdict: one round");
    assert!(!shown.contains("slower"), "{shown}");
    assert_eq!(
        place.results().cases.len(),
        2,
        "a single round has no twins"
    );
}

#[test]
fn a_case_alone_tells_its_noise() {
    let (place, code, shown) = run(&["delay_us=2000"], &["--rounds", "3"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_says(&shown, "nothing to compare");
    assert_says(&shown, "noise floor");
    assert_eq!(place.results().cases.len(), 6, "the case and its twin");
}

#[test]
fn a_case_that_fails_is_not_comparable() {
    let (place, code, shown) = run(
        &["fail_statement=1000000", "fail_statement=3"],
        &["--rounds", "2"],
    );
    assert_eq!(code, Some(1), "{shown}");
    let words = "not comparable (it has no complete figure): fail_statement=3";
    assert_says(&shown, words);
    assert_says(&shown, "fails this statement");
    let results = place.results();
    let outcomes = results.cases.iter().map(|c| &c.outcome);
    let failed = outcomes.filter(|o| matches!(o, Outcome::Failed { .. }));
    assert_eq!(failed.count(), 4);
}

#[test]
fn rounds_are_added_until_sure_or_to_the_limit() {
    let (long, short) = (
        ["delay_us=12000", "delay_us=24000"],
        ["delay_us=1000", "delay_us=2000"],
    );
    for (settings, width, most, rounds, narrow, words) in [
        (long, "95%", "20", 5, true, "5 were enough"),
        (short, "0.001%", "6", 6, false, "the limit of 6 rounds"),
    ] {
        let (place, code, shown) = run(&settings, &["--until-sure", width, "--max-rounds", most]);
        assert_eq!(code, Some(0), "{shown}");
        assert_says(&shown, words);
        assert_says(&shown, "for the looking after each round");
        let results = place.results();
        let plan = &results.run.plan;
        assert_eq!(plan.rounds, rounds, "{shown}");
        assert_eq!(
            plan.until_sure.expect("it is recorded").narrow,
            Some(narrow)
        );
        assert_eq!(results.cases.len(), 4 * rounds as usize);
        assert_twins_apart(&results);
    }
}

#[test]
fn the_baseline_is_measured_twice_but_not_in_a_row() {
    let place = Place::new();
    let mut command = place.run(&["create", "--engine", "null", "--loops", "0.01"]);
    std::fs::create_dir(place.path("more")).expect("a directory");
    command.args(["--on", "./more", "--on", "./data", "--rounds", "4"]);
    command.args(["--baseline", "./data", "--duet", "off"]);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let results = place.results();
    let twins: Vec<_> = results
        .run
        .plan
        .cases
        .iter()
        .filter(|c| c.replicate == 1)
        .collect();
    assert_eq!(twins.len(), 1);
    assert_eq!(twins[0].target, "./data");
    assert_twins_apart(&results);
}

/// As many busy loops as there are CPUs, in another process than the one that measures.
#[test]
fn a_busy_machine_is_told_and_its_rounds_are_kept() {
    let _alone = QUIET.write();
    let stop = AtomicBool::new(false);
    let busy = || {
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let (place, code, shown) = std::thread::scope(|scope| {
        let cpus = std::thread::available_parallelism().map_or(2, usize::from);
        (0..cpus).for_each(|_| drop(scope.spawn(busy)));
        let ran = measure(&["delay_us=12000"], &["--rounds", "2", "--duet", "off"]);
        stop.store(true, Ordering::Relaxed);
        ran
    });
    assert_eq!(code, Some(0), "{shown}");
    assert_says(
        &shown,
        "others disturbed 4 of 4 measurements (other processes in 4",
    );
    for case in place.results().cases {
        let mut reasons = case.disturbed.iter();
        assert!(reasons.any(|r| r.starts_with("other processes (")));
    }
}
