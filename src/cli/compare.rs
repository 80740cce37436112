//! `mountmark compare`.

use std::io::{self, Write};
use std::path::Path;

use super::args::CompareArgs;
use super::commands::{figure, find_run};
use super::resolve::fraction;
use super::{ALL_MEASURED, SOME_FAILED};
use crate::compare::{Between, Question, Rule, between};
use crate::error::{Result, ensure, one_line, usage};
use crate::record::{self, Results};
use crate::report::{self, Named};

/// Compares two sides and says by the exit code whether `--fail-on` was hit.
///
/// # Errors
/// A side that is not there, no case in both, words that are not understood.
pub(super) fn compare(args: &CompareArgs) -> Result<u8> {
    let fail_on = args.fail_on.as_deref().map(fail_on).transpose()?;
    let base = side(&args.base, &args.results)?;
    let new = side(&args.new, &args.results)?;
    let all = || base.iter().chain(&new);
    let own = all().map(|r| r.run.plan.threshold).fold(0.0, f64::max);
    let threshold = match &args.threshold {
        Some(text) => fraction("--threshold", text)?,
        None => own,
    };
    let question = Question {
        figure: figure(&all().collect::<Vec<_>>(), args.figure.as_deref())?,
        rule: Rule::default().with_threshold(threshold)?,
        axes: args.axis.iter().copied().collect(),
    };
    let found = between(&base, &new, &question);
    ensure!(
        !found.list.is_empty(),
        usage(format!(
            "no case of {} is in {}: {} against {}; say what is compared with --axis (engine, target, settings, …)",
            args.base,
            args.new,
            first(&base),
            first(&new)
        ))
    );
    let mut out = io::stdout().lock();
    let sides = (named(&args.base, &base), named(&args.new, &new));
    report::compared(&mut out, sides, &found, question.figure.name())?;
    match fail_on {
        Some(least) => gate(&mut out, &found, least),
        None => Ok(ALL_MEASURED),
    }
}

fn named<'r>(name: &'r str, runs: &'r [Results]) -> Named<'r> {
    Named { name, runs }
}

/// A case of a side, to show what its keys look like.
fn first(side: &[Results]) -> String {
    let mut keys = side.iter().flat_map(|r| &r.run.plan.cases);
    keys.next().map_or_else(
        || "no case".to_string(),
        |k| format!("{} on {}, {}", k.workload, k.target, k.engine),
    )
}

/// The runs that `name` stands for: a directory, a run under `results`, or all runs
/// there with that label.
fn side(name: &str, results: &Path) -> Result<Vec<Results>> {
    if let Ok(dir) = find_run(Path::new(name), results) {
        return Ok(vec![record::load(&dir)?]);
    }
    let mut found = Vec::new();
    for dir in record::runs(results)? {
        match record::load(&dir) {
            Ok(run) if run.run.label.as_deref() == Some(name) => found.push(run),
            Ok(_) => {}
            Err(error) => eprintln!("mountmark: {}", one_line(&error)),
        }
    }
    ensure!(
        !found.is_empty(),
        usage(format!(
            "there is no run or label {name} in {}; 'mountmark list' shows them",
            results.display()
        ))
    );
    Ok(found)
}

/// `slower` or `slower:5%` as the least difference.
fn fail_on(text: &str) -> Result<f64> {
    let wrong = || usage(format!("--fail-on {text}: write it like slower:5%"));
    match text.split_once(':') {
        None if text == "slower" => Ok(0.0),
        Some(("slower", least)) => fraction("--fail-on", least).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// Says what `--fail-on` found; a gate that could not tell says that, too.
fn gate(out: &mut dyn Write, found: &Between, least: f64) -> Result<u8> {
    let slower = found.list.iter().filter(|m| m.is_slower_by(least)).count();
    let judged = found.list.iter().filter_map(|m| m.judgement.as_ref());
    let judged = judged.filter(|j| j.interval.is_some()).count();
    let least = format!("slower by {} % or more", (least * 1000.0).round() / 10.0);
    if slower > 0 {
        writeln!(out, "--fail-on: {slower} of {judged} judged cases {least}")?;
        return Ok(SOME_FAILED);
    }
    match judged {
        0 => writeln!(
            out,
            "--fail-on: no case could be judged, so none is {least}"
        )?,
        n => writeln!(out, "--fail-on: none of {n} judged cases {least}")?,
    }
    Ok(ALL_MEASURED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_slower_and_by_how_much() {
        assert_eq!(fail_on("slower").unwrap(), 0.0);
        assert!((fail_on("slower:5%").unwrap() - 0.05).abs() < 1e-12);
        for wrong in ["", "faster:5%", "slower:", "slower:5x", "slower=5%", "5%"] {
            let message = fail_on(wrong).unwrap_err().to_string();
            assert!(message.contains("slower:5%"), "{wrong}: {message}");
        }
    }
}
