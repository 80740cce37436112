//! `mountmark compare` as a user types it.

use std::process::Output;

use mountmark::record::{Results, Store};

use super::common::{Place, text};
use super::{rename, three};

/// Stores both sides under labels and compares them as a user would.
struct Stored(Place);

impl Stored {
    fn new(base: &[Results], new: &[Results]) -> Self {
        let place = Place::new();
        for (label, side) in [("before", base), ("after", new)] {
            for results in side {
                let mut run = results.run.clone();
                run.label = Some(label.into());
                let mut store = Store::create(&place.path("results"), run).expect("a store");
                for case in &results.cases {
                    store.append(case).expect("it is saved");
                }
            }
        }
        Stored(place)
    }

    fn compare(&self, args: &[&str]) -> Output {
        let mut command = self.0.command();
        command
            .arg("compare")
            .args(args)
            .args(["--results", "results"]);
        command.output().expect("it runs")
    }
}

#[test]
fn labels_stand_for_their_runs_and_fail_on_is_a_gate() {
    let stored = Stored::new(&three(0, 1.0), &three(10, 1.1));
    let output = stored.compare(&["before", "after"]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("slower: create on ext2_defaults"), "{shown}");
    assert!(
        shown.contains("nothing else that was recorded differs"),
        "{shown}"
    );
    let first = shown.find("slower").expect("a verdict");
    assert!(first < shown.find("base s").expect("a table"), "{shown}");
    for (gate, args, code) in [
        ("slower:5%", ["before", "after"], 1),
        ("slower:0.05", ["before", "after"], 1),
        ("slower", ["before", "after"], 1),
        ("slower:15%", ["before", "after"], 0),
        ("slower:5%", ["after", "before"], 0),
    ] {
        let output = stored.compare(&[&args[..], &["--fail-on", gate]].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{gate}: {}",
            text(&output)
        );
    }
    let wide = stored.compare(&["before", "after", "--threshold", "20%"]);
    assert!(
        text(&wide).contains("no difference that matters"),
        "{}",
        text(&wide)
    );
}

#[test]
fn single_runs_show_a_ratio_and_both_ranges() {
    let stored = Stored::new(&three(0, 1.0)[..1], &three(10, 2.0)[..1]);
    let args = ["20270101-000000-000-00", "after", "--fail-on", "slower"];
    let output = stored.compare(&args);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    for words in [
        "not comparable (single run)",
        "needs 3 runs a side",
        "2.000",
        "0.990 to 1.020",
        "1.980 to 2.040",
        "no case could be judged",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn differences_stand_side_by_side_with_the_way_to_allow_them() {
    let (base, mut new) = (three(0, 1.0), three(10, 2.0));
    for run in &mut new {
        run.run.host.kernel = "7.0".into();
        run.run.host.cpus = 8;
    }
    let stored = Stored::new(&base, &new);
    let shown = text(&stored.compare(&["before", "after"]));
    for words in [
        "kernel: 6.18.44-fc-v669 against 7.0",
        "--axis kernel",
        "--axis cpu",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let shown = text(&stored.compare(&["before", "after", "--axis", "kernel,cpu"]));
    assert!(shown.contains("slower: create on ext2_defaults"), "{shown}");
    assert!(shown.contains("compared"), "{shown}");
    let shown = text(&stored.compare(&["before", "after", "--axis", "kernel", "--axis", "cpu"]));
    assert!(shown.contains("slower: create on ext2_defaults"), "{shown}");
}

#[test]
fn what_is_not_understood_is_a_usage_error() {
    let (base, mut new) = (three(0, 1.0), three(10, 2.0));
    rename(&mut new, |key| key.workload = "insert".into());
    let stored = Stored::new(&base, &new);
    for (args, words) in [
        (vec!["before", "later"], "no run or label later"),
        (vec!["before"], "<NEW>"),
        (
            vec!["before", "before", "--axis", "moon"],
            "kernel, system, cpu",
        ),
        (
            vec!["before", "before", "--fail-on", "faster:5%"],
            "slower:5%",
        ),
        (
            vec!["before", "before", "--fail-on", "slower:x"],
            "slower:5%",
        ),
        (vec!["before", "before", "--threshold", "2"], "--threshold"),
        (
            vec!["before", "before", "--figure", "sttled"],
            "settled, flushed",
        ),
        (vec!["before", "after"], "no case of before is in after"),
    ] {
        let output = stored.compare(&args);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {shown}");
        assert!(shown.contains(words), "{args:?}: {shown}");
    }
}
