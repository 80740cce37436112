//! The report as JSON: of each run what it was, its verdicts, its notes, and the rows that a
//! CSV file has. Its shape has a version.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::COLUMNS;
use super::rows::rows;
use crate::compare::{Choice, Comparison, Comparisons, Verdict, within};
use crate::record::Results;
use crate::report::remarks;

/// The version of the shape. Names may be added within a version; it is raised when one is
/// removed or changes its meaning.
pub const VERSION: u32 = 1;

/// Writes the report of `runs`, each with how it is judged.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(out: &mut dyn Write, runs: &[(&Results, Choice)]) -> io::Result<()> {
    let runs: Vec<Value> = runs
        .iter()
        .map(|(run, choice)| of_run(run, choice))
        .collect();
    let report = json!({ "mountmark_report": VERSION, "runs": runs });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn of_run(results: &Results, choice: &Choice) -> Value {
    let run = &results.run;
    let comparisons = within(results, choice);
    json!({
        "run": run.id,
        "label": run.label,
        "mountmark": run.mountmark,
        "started": run.started,
        "ended": run.ended,
        "arguments": run.arguments,
        "host": plain(&run.host),
        "rounds": run.plan.rounds,
        "seed": run.plan.seed,
        "profile": run.plan.profile,
        "load": run.plan.load.as_ref().map(plain),
        "figure": choice.figure.name(),
        "threshold": comparisons.rule.threshold(),
        "confidence": comparisons.rule.confidence(),
        "comparisons": of_comparisons(&comparisons),
        "notes": remarks::notes(results),
        "measurements": measurements(results),
    })
}

/// In the stored form.
fn plain(record: &impl Serialize) -> Value {
    serde_json::to_value(record).unwrap_or(Value::Null)
}

fn of_comparisons(comparisons: &Comparisons) -> Vec<Value> {
    comparisons.list.iter().map(of_comparison).collect()
}

fn of_comparison(comparison: &Comparison) -> Value {
    let judgement = comparison.judgement.as_ref();
    let interval = judgement.and_then(|j| j.interval);
    json!({
        "axis": comparison.axis.to_string(),
        "base": plain(&comparison.base),
        "new": plain(&comparison.new),
        "base_median": comparison.base_median,
        "new_median": comparison.new_median,
        "verdict": word(&comparison.verdict),
        "words": comparison.marked_verdict(),
        "ranked": comparison.is_ranked(),
        "ratio": judgement.map(|j| j.estimate.ratio()),
        "interval": interval.map(|i| [i.low(), i.high()]),
        "disturbed": comparison.disturbed,
        "base_durable": comparison.base_marks.is_durable(),
        "new_durable": comparison.new_marks.is_durable(),
    })
}

/// One word a program can look for.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent { .. } => "equivalent",
        Verdict::Undecided { .. } => "undecided",
        Verdict::NotComparable(_) => "not_comparable",
    }
}

fn measurements(results: &Results) -> Vec<Value> {
    let object = |row: super::Row| {
        let named = COLUMNS.iter().filter(|column| **column != "run");
        let values =
            named.filter_map(|column| Some((column.to_string(), row.get(column)?.clone())));
        Value::Object(values.collect::<Map<String, Value>>())
    };
    rows(results).into_iter().map(object).collect()
}
