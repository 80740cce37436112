//! Our keys beside those that sysbench itself draws: two samples of one shape.

mod common;

use std::process::Command;
use std::sync::Arc;

use mountmark::workload::load::script::{Action, Machine, Mix, Param, Program, Setup};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const DRAWS: usize = 200_000;

/// Draws of sysbench: how often each value from 1 to `range` came.
fn theirs(distribution: &str, range: usize, options: &[&str]) -> Option<Vec<f64>> {
    let dir = tempfile::tempdir().expect("what is asked for");
    let script = dir.path().join("draw.lua");
    let lua = format!(
        "function event()\n for i = 1, {DRAWS} do \
         io.write(sysbench.rand.{distribution}(1, {range}), '\\n') end\nend\n"
    );
    std::fs::write(&script, lua).expect("what is asked for");
    let mut command = Command::new("sysbench");
    command.args(["--events=1", "--verbosity=0", "--rand-seed=42"]);
    let output = command.args(options).arg(&script).arg("run").output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        other => {
            assert!(
                !common::required("sysbench"),
                "sysbench is required: {other:?}"
            );
            eprintln!("SKIPPED: sysbench's {distribution} cannot be drawn here");
            return None;
        }
    };
    let mut counts = vec![0.0; range];
    for line in String::from_utf8(output.stdout)
        .expect("what is asked for")
        .lines()
    {
        counts[line.trim().parse::<usize>().expect("what is asked for") - 1] += 1.0;
    }
    Some(counts)
}

/// Ours, by a script's function.
fn ours(call: &str, range: usize) -> Vec<f64> {
    let text = format!("\\set k {call}\nSELECT :k;");
    let mix = Mix::of(Program::parse("draw", &text).expect("what is asked for"))
        .expect("what is asked for");
    let setup = Setup {
        client_id: 0,
        scale: 1,
        random_seed: 7,
        defines: Vec::new(),
    };
    let mut machine = Machine::new(&setup, Arc::new(mix));
    let mut counts = vec![0.0; range];
    for _ in 0..DRAWS {
        machine.begin();
        assert_eq!(machine.next().expect("what is asked for"), Action::Send(0));
        let Param::Int(key) = machine.param(0) else {
            panic!("a whole number");
        };
        counts[usize::try_from(key).expect("what is asked for") - 1] += 1.0;
        assert_eq!(machine.next().expect("what is asked for"), Action::Finished);
    }
    counts
}

/// The chance that two samples of one distribution differ that much or more.
fn chance(a: &[f64], b: &[f64]) -> f64 {
    let (mut chi, mut cells) = (0.0, 0.0);
    let (mut left, mut right) = (0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        (left, right) = (left + a, right + b);
        if left + right >= 40.0 {
            chi += (left - right) * (left - right) / (left + right);
            (left, right, cells) = (0.0, 0.0, cells + 1.0);
        }
    }
    1.0 - ChiSquared::new(cells - 1.0)
        .expect("what is asked for")
        .cdf(chi)
}

#[test]
fn keys_have_the_shape_of_sysbenchs_own() {
    for (theirs_name, options, call) in [
        ("special", &[][..], "sysbench_special(1, 1000, 12, 1, 75)"),
        (
            "special",
            &[
                "--rand-spec-pct=10",
                "--rand-spec-res=50",
                "--rand-spec-iter=3",
            ],
            "sysbench_special(1, 1000, 3, 10, 50)",
        ),
        ("gaussian", &[], "sysbench_gaussian(1, 1000, 12)"),
        ("pareto", &[], "sysbench_pareto(1, 1000, 0.2)"),
        ("uniform", &[], "random(1, 1000)"),
    ] {
        let Some(theirs) = theirs(theirs_name, 1000, options) else {
            return;
        };
        let p = chance(&ours(call, 1000), &theirs);
        assert!(p > 1e-4, "{call}: p {p}");
    }
}

fn plan(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mountmark"));
    let dir = tempfile::tempdir().expect("what is asked for");
    command
        .args(["plan", "load", "--on"])
        .arg(dir.path())
        .args(args);
    let output = command.output().expect("what is asked for");
    (output.status.code(), common::text(&output))
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let (code, said) = plan(&["--rand-type", "uniform"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("none of them is run"), "{said}");
    let (code, said) = plan(&["-b", "oltp_insert", "--rand-pareto-h", "0.5"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("no parameter of --rand-type special"),
        "{said}"
    );
    let (code, said) = plan(&["-b", "oltp_insert", "--rand-type", "zipf"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("zipfian"), "{said}");
    let (code, said) = plan(&["-b", "oltp_insert", "--rand-type", "zipfian"]);
    assert_eq!(code, Some(0), "{said}");
}
