//! The verdicts of a run in words, then their ratios and intervals.

use std::io::{self, Write};

use super::grid::Grid;
use crate::compare::{Axis, Comparison, Comparisons, Looking, Verdict};
use crate::record::{KeyRecord, Results};
use crate::units::seconds;

/// Writes what differs, by how much and how sure that is.
pub(super) fn write(
    out: &mut dyn Write,
    results: &Results,
    comparisons: &Comparisons,
    figure: &str,
) -> io::Result<()> {
    let rounds = results.run.plan.rounds;
    if comparisons.list.is_empty() {
        return writeln!(
            out,
            "nothing to compare: no two cases differ on one axis alone"
        );
    }
    if rounds < 2 {
        return writeln!(
            out,
            "no verdict: one round cannot tell a difference from noise; repeat with --rounds 5"
        );
    }
    for (axis, baseline) in &comparisons.baselines {
        let of_axis: Vec<&Comparison> = comparisons
            .list
            .iter()
            .filter(|c| c.axis == *axis)
            .collect();
        if of_axis.is_empty() {
            continue;
        }
        writeln!(out, "{figure}, {axis} against {baseline}:")?;
        words(out, results, axis, &of_axis)?;
        table(out, results, axis, &of_axis)?;
    }
    grounds(out, results, comparisons, rounds)
}

/// What names a comparison beside its axis: the workload, and the other axes that vary.
fn context(results: &Results, axis: &Axis, key: &KeyRecord) -> String {
    let keys: Vec<&KeyRecord> = results.run.plan.cases.iter().collect();
    let mut parts = vec![key.workload.clone()];
    for other in Axis::of(&keys).iter().filter(|a| *a != axis) {
        parts.push(match other {
            Axis::Setting(name) => format!("{name}={}", other.value(key)),
            _ => other.value(key),
        });
    }
    parts.join(", ")
}

/// A sentence a context: who is faster, slower, equivalent, undecided.
fn words(
    out: &mut dyn Write,
    results: &Results,
    axis: &Axis,
    comparisons: &[&Comparison],
) -> io::Result<()> {
    let mut contexts: Vec<(String, Vec<&Comparison>)> = Vec::new();
    for comparison in comparisons {
        let context = context(results, axis, &comparison.new);
        match contexts.iter_mut().find(|(name, _)| *name == context) {
            Some((_, members)) => members.push(comparison),
            None => contexts.push((context, vec![comparison])),
        }
    }
    for (context, members) in contexts {
        let named = |kind: fn(&Verdict) -> bool| -> Vec<String> {
            let of_kind = members.iter().filter(|c| kind(&c.verdict));
            let of_kind = of_kind.filter(|c| c.is_ranked());
            of_kind.map(|c| c.name()).collect()
        };
        let unranked = members.iter().filter(|c| !c.is_ranked());
        let groups = [
            ("faster", named(|v| *v == Verdict::Faster)),
            ("slower", named(|v| *v == Verdict::Slower)),
            (
                "no difference that matters",
                named(|v| matches!(v, Verdict::Equivalent { .. })),
            ),
            (
                "no difference shown",
                named(|v| matches!(v, Verdict::Undecided { .. })),
            ),
            (
                "not comparable",
                named(|v| matches!(v, Verdict::NotComparable(_))),
            ),
            ("not ranked", unranked.map(|c| c.name()).collect()),
        ];
        let said: Vec<String> = groups
            .into_iter()
            .filter(|(_, members)| !members.is_empty())
            .map(|(name, members)| format!("{name}: {}", members.join(", ")))
            .collect();
        writeln!(out, "  {context}: {}", said.join("; "))?;
    }
    Ok(())
}

fn table(
    out: &mut dyn Write,
    results: &Results,
    axis: &Axis,
    comparisons: &[&Comparison],
) -> io::Result<()> {
    let mut grid = Grid::with_words_last();
    grid.row(
        ["", "baseline s", "s", "ratio", "interval", "", "verdict"]
            .map(String::from)
            .to_vec(),
    );
    let median = |value: Option<f64>| value.map_or("–".to_string(), seconds);
    for c in comparisons {
        let estimate = c.judgement.as_ref().map(|j| j.estimate.ratio());
        let interval = c.judgement.as_ref().and_then(|j| j.interval);
        grid.row(vec![
            format!("{}, {}", context(results, axis, &c.new), c.name()),
            median(c.base_median),
            median(c.new_median),
            estimate.map_or("–".to_string(), |r| format!("{r:.3}")),
            interval.map_or("–".to_string(), |i| {
                format!("{:.3} to {:.3}", i.low(), i.high())
            }),
            match c.disturbed {
                0 => String::new(),
                n => format!("{n} disturbed"),
            },
            c.marked_verdict(),
        ]);
    }
    grid.write(out, 2)
}

/// On what the verdicts stand.
fn grounds(
    out: &mut dyn Write,
    results: &Results,
    comparisons: &Comparisons,
    rounds: u32,
) -> io::Result<()> {
    let rule = &comparisons.rule;
    let looking = match rule.looking() {
        Looking::Once => String::new(),
        Looking::UntilNarrow => ", and for the looking after each round".to_string(),
    };
    writeln!(
        out,
        "  {rounds} rounds; a difference counts from {:.1} % up; intervals hold at {:.0} % for all {} comparisons together{looking}",
        rule.threshold() * 100.0,
        rule.confidence() * 100.0,
        rule.comparisons(),
    )?;
    let smallest: Vec<f64> = comparisons
        .list
        .iter()
        .filter_map(|c| c.judgement.as_ref()?.smallest_difference())
        .collect();
    if let (Some(least), Some(most)) = (
        smallest.iter().copied().reduce(f64::min),
        smallest.iter().copied().reduce(f64::max),
    ) {
        writeln!(
            out,
            "  the smallest difference these rounds would have shown four times in five: {:.1} % to {:.1} %, by comparison",
            least * 100.0,
            most * 100.0
        )?;
    }
    for (key, floor) in &comparisons.noise {
        let suspect = match floor.is_suspect(&rule.for_comparisons(1)) {
            true => "; more than chance allows: do not trust this run",
            false => "",
        };
        writeln!(
            out,
            "  noise floor, {} measured twice: {:.1} % a round, {:.1} % at most{suspect}",
            context(results, &Axis::Cpus, key),
            floor.sd * 100.0,
            (floor.largest.exp() - 1.0) * 100.0,
        )?;
    }
    Ok(())
}
