//! Two runs compared: what is matched, what is in the way, and what is said.

#[path = "../common/mod.rs"]
mod common;
mod properties;
mod typed;

use std::collections::BTreeSet;
use std::path::Path;

use mountmark::compare::{Aspect, Between, Figure, Question, Rule, between};
use mountmark::record::{CaseRecord, Results, load};

const TARGETS: [&str; 2] = ["ext2_defaults", "ext4_data=journal"];

fn example() -> Results {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    load(&dir).expect("the example run can be read")
}

/// A run on a boot of its own; for each target the seconds of its rounds.
fn run(boot: usize, figures: [&[f64]; 2]) -> Results {
    let mut results = example();
    results.run.id = format!("20270101-000000-000-{boot:02}");
    results.run.host.boot_id = format!("boot {boot}");
    let shape = |target: &str| -> CaseRecord {
        let found = results.cases.iter().find(|c| c.case.target == target);
        found.expect("it is in the example").clone()
    };
    let mut cases = Vec::new();
    for (target, seconds) in TARGETS.iter().zip(figures) {
        for (round, seconds) in seconds.iter().enumerate() {
            let mut case = shape(target);
            case.round = round as u32;
            let ends = case.phases[0].ends.as_mut().expect("it is complete");
            let settled = ends.settled.as_mut().expect("it settled");
            settled.wall_ns = (seconds * 1e9) as u64;
            cases.push(case);
        }
    }
    results.run.plan.rounds = figures[0].len().max(figures[1].len()) as u32;
    results.cases = cases;
    results
}

/// Three runs whose rounds lie about `seconds`.
fn three(first_boot: usize, seconds: f64) -> Vec<Results> {
    let run_of = |i: usize| {
        let at = |factor: f64| seconds * factor * (1.0 + 0.002 * i as f64);
        let rounds = [at(0.99), at(1.0), at(1.02)];
        run(first_boot + i, [&rounds, &rounds])
    };
    (0..3).map(run_of).collect()
}

fn compared(base: &[Results], new: &[Results], axes: &[Aspect]) -> Between {
    let question = Question {
        figure: Figure::Settled,
        rule: Rule::default(),
        axes: axes.iter().copied().collect(),
    };
    between(base, new, &question)
}

fn verdicts(found: &Between) -> BTreeSet<String> {
    found.list.iter().map(|m| m.verdict.to_string()).collect()
}

fn only(words: &str) -> BTreeSet<String> {
    BTreeSet::from([words.to_string()])
}

#[test]
fn three_runs_a_side_are_judged() {
    let (slow, fast) = (three(0, 2.0), three(10, 1.0));
    assert_eq!(verdicts(&compared(&fast, &slow, &[])), only("slower"));
    assert_eq!(verdicts(&compared(&slow, &fast, &[])), only("faster"));
    let same = compared(&fast, &three(20, 1.0), &[]);
    assert_eq!(verdicts(&same), only("equivalent (±2 %)"));
    assert_eq!(same.rule.comparisons(), 2);
    let slower = compared(&fast, &slow, &[]);
    assert!(slower.list.iter().all(|m| m.is_slower_by(0.9)));
    assert!(!slower.list.iter().any(|m| m.is_slower_by(1.1)));
}

#[test]
fn fewer_runs_or_runs_of_one_boot_show_the_ratio_only() {
    let (base, mut new) = (three(0, 1.0), three(10, 2.0));
    for run in &mut new {
        run.run.host.boot_id = "one boot".into();
    }
    for new in [&new[..1], &new[..]] {
        let found = compared(&base, new, &[]);
        assert_eq!(verdicts(&found), only("not comparable (single run)"));
        let matched = &found.list[0];
        let judgement = matched.judgement.as_ref().expect("a ratio");
        assert!((judgement.estimate.ratio() - 2.0).abs() < 0.02);
        assert_eq!(judgement.interval, None);
        assert_eq!(judgement.smallest_difference(), None);
        assert_eq!((matched.new.units.len(), matched.new.runs), (1, new.len()));
        assert_eq!(matched.new.rounds, 3 * new.len());
        assert!(!matched.is_slower_by(0.0));
    }
}

#[test]
fn what_differs_beyond_the_axis_is_named_with_both_values() {
    type Change = fn(&mut Results);
    let changes: [(Change, Aspect, &str); 8] = [
        (
            |r| r.run.host.kernel = "7.0".into(),
            Aspect::Kernel,
            "kernel: 6.18.44-fc-v669 against 7.0",
        ),
        (
            |r| r.run.host.system = "Debian 13".into(),
            Aspect::System,
            "system: Debian GNU/Linux 12 (bookworm) against Debian 13",
        ),
        (|r| r.run.host.cpus = 8, Aspect::Cpu, "cpus: 2 against 8"),
        (
            |r| r.run.host.memory_bytes = 4 << 30,
            Aspect::Memory,
            "memory: 23.5 GiB against 4.0 GiB",
        ),
        (
            |r| r.run.plan.loops = 2.0,
            Aspect::Profile,
            "loops: 1 against 2",
        ),
        (
            |r| r.run.mountmark = "9".into(),
            Aspect::Mountmark,
            "mountmark: 0.1.0 against 9",
        ),
        (
            |r| {
                for case in &mut r.cases {
                    let engine = case.engine.as_mut().expect("an engine");
                    engine.settings.insert("mmap_size".into(), "1".into());
                }
            },
            Aspect::Settings,
            "setting mmap_size: 0 against 1",
        ),
        (
            |r| {
                for case in &mut r.cases {
                    let target = case.target.as_mut().expect("a target");
                    target.device.as_mut().expect("a device").in_memory = true;
                }
            },
            Aspect::Device,
            "device: image on a disk against image in memory",
        ),
    ];
    let (base, new) = (three(0, 1.0), three(10, 2.0));
    for (change, axis, words) in changes {
        let mut changed = new.clone();
        changed.iter_mut().for_each(change);
        let reason = format!("not comparable ({words})");
        let found = compared(&base, &changed, &[]);
        assert_eq!(verdicts(&found), only(&reason));
        assert!(found.list.iter().all(|m| m.judgement.is_none()));
        assert_eq!(
            verdicts(&compared(&base, &changed, &[axis])),
            only("slower")
        );
        // One run that is unlike the others of its side is in the way whatever is compared.
        let mut mixed = new.clone();
        change(&mut mixed[1]);
        for matched in compared(&base, &mixed, &[axis]).list {
            assert!(matched.verdict.to_string().contains("own runs differ"));
        }
    }
}

fn rename(side: &mut [Results], change: impl Fn(&mut mountmark::record::KeyRecord)) {
    for run in side {
        run.run.plan.cases.iter_mut().for_each(&change);
        run.cases.iter_mut().for_each(|c| change(&mut c.case));
    }
}

#[test]
fn an_axis_matches_keys_that_differ_in_it() {
    let (base, mut new) = (three(0, 1.0), three(10, 2.0));
    rename(&mut new, |key| key.engine = "sqlite 9.0.0".into());
    let told = "not comparable (engine: sqlite 3.53.2 against sqlite 9.0.0)";
    assert_eq!(verdicts(&compared(&base, &new, &[])), only(told));
    let found = compared(&base, &new, &[Aspect::Engine]);
    assert_eq!(verdicts(&found), only("slower"));
    rename(&mut new, |key| key.engine = "mysql 9.0.0".into());
    let found = compared(&base, &new, &[Aspect::Engine]);
    assert!(found.list.is_empty());
    assert_eq!((found.only_base.len(), found.only_new.len()), (2, 2));
}

#[test]
fn a_failed_case_is_not_comparable_and_the_others_are() {
    let (base, mut new) = (three(0, 1.0), three(10, 2.0));
    for run in &mut new {
        run.cases.retain(|c| c.case.target != TARGETS[0]);
    }
    let found = compared(&base, &new, &[]);
    let said = [
        "not comparable (the new side has no complete figure)",
        "slower",
    ];
    assert_eq!(verdicts(&found), said.map(String::from).into());
    assert_eq!(
        found.rule.comparisons(),
        1,
        "only what can be judged counts"
    );
}

#[test]
fn warm_is_never_compared_with_cold() {
    let (base, mut new) = (three(0, 1.0), three(10, 2.0));
    for case in new.iter_mut().flat_map(|r| &mut r.cases) {
        case.target.as_mut().expect("a target").cold = false;
    }
    let all: Vec<Aspect> = Aspect::NAMES.iter().map(|(_, a)| *a).collect();
    let reason = "not comparable (start: cold against warm)";
    assert_eq!(verdicts(&compared(&base, &new, &all)), only(reason));
}
