//! The verdicts of a run in words, then their ratios and intervals.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::grid::{Grid, wrapped};
use crate::compare::{Axis, Comparison, Comparisons, Judgement, Looking, Rule, Verdict, duet};
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
        let contexts = contexts(results, axis, &comparisons.list);
        if contexts.is_empty() {
            continue;
        }
        writeln!(out, "{figure}, against {}:", axis.named(baseline))?;
        for (context, members) in &contexts {
            words(out, axis, context, members)?;
        }
        // Two sizes of memory stand side by side in a table of their own.
        if !(*axis == Axis::Memory && contexts.iter().all(|(_, members)| members.len() < 2)) {
            table(out, (axis, baseline), unit(figure), &contexts)?;
        }
    }
    grounds(out, results, comparisons)
}

/// Comparisons of one axis by what they have in common, in the order of the plan.
type Contexts<'c> = Vec<(String, Vec<&'c Comparison>)>;

fn contexts<'c>(results: &Results, axis: &Axis, list: &'c [Comparison]) -> Contexts<'c> {
    let mut contexts = Contexts::new();
    for comparison in list.iter().filter(|c| c.axis == *axis) {
        let context = context(results, Some(axis), &comparison.new);
        match contexts.iter_mut().find(|(name, _)| *name == context) {
            Some((_, members)) => members.push(comparison),
            None => contexts.push((context, vec![comparison])),
        }
    }
    contexts
}

/// What names a comparison beside its axis: the workload, and the other axes that vary.
fn context(results: &Results, axis: Option<&Axis>, key: &KeyRecord) -> String {
    let keys: Vec<&KeyRecord> = results.run.plan.cases.iter().collect();
    let mut parts = vec![key.workload.clone()];
    for other in Axis::of(&keys).iter().filter(|a| Some(*a) != axis) {
        parts.push(other.named(&other.value(key)));
    }
    parts.join(", ")
}

/// Who is faster, slower, equivalent, undecided.
fn words(
    out: &mut dyn Write,
    axis: &Axis,
    context: &str,
    members: &[&Comparison],
) -> io::Result<()> {
    let mut groups = Groups::default();
    for comparison in members {
        let name = format!(
            "{}{}",
            axis.named(&axis.value(&comparison.new)),
            comparison.new_marks
        );
        match comparison.is_ranked() {
            true => groups.add(&comparison.verdict, name),
            false => groups.add_unranked(name),
        }
    }
    wrapped(out, &format!("{context}: {}", groups.sentence()), 2)
}

/// From here on a sentence that is true of all does not name each.
const MANY: usize = 3;

/// Who is faster, slower and so on, in the order in which a reader wants to know.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<(u8, String), Vec<String>>);

impl Groups {
    /// Adds `name` to those of its verdict.
    pub fn add(&mut self, verdict: &Verdict, name: String) {
        let group = match verdict {
            Verdict::Faster => (0, "faster".to_string()),
            Verdict::Slower => (1, "slower".to_string()),
            Verdict::Equivalent { .. } => (2, "no difference that matters".to_string()),
            Verdict::Undecided { .. } => (3, "undecided".to_string()),
            Verdict::NotComparable(reason) => (4, format!("not comparable ({reason})")),
        };
        self.0.entry(group).or_default().push(name);
    }

    /// Adds `name` to those whose times rank nothing.
    pub fn add_unranked(&mut self, name: String) {
        let group = (5, "not ranked, in memory".to_string());
        self.0.entry(group).or_default().push(name);
    }

    fn parts(&self) -> impl Iterator<Item = String> {
        let all = self.0.len() == 1;
        self.0
            .iter()
            .map(move |((_, verdict), names)| match names.len() {
                n if all && n > MANY => format!("{verdict}: all {n}"),
                _ => format!("{verdict}: {}", names.join(", ")),
            })
    }

    /// All on one line.
    pub fn sentence(&self) -> String {
        self.parts().collect::<Vec<_>>().join("; ")
    }

    /// A line a verdict.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.parts().try_for_each(|part| wrapped(out, &part, 2))
    }
}

fn table(
    out: &mut dyn Write,
    (axis, baseline): (&Axis, &str),
    unit: &str,
    contexts: &Contexts<'_>,
) -> io::Result<()> {
    let median = |value: Option<f64>| value.map_or("–".to_string(), seconds);
    // In duets the baseline has figures of its own beside each other case.
    let one = |members: &[&Comparison]| members.windows(2).all(|w| same_base(w[0], w[1]));
    let shared = contexts.iter().all(|(_, members)| one(members));
    let base_name = match shared {
        true => String::new(),
        false => format!("baseline {unit}"),
    };
    let all = || contexts.iter().flat_map(|(_, members)| members);
    let slices = match all().any(|c| c.duet.is_some()) {
        true => "by slices",
        false => "",
    };
    let header = [
        "", &base_name, unit, "ratio", "interval", slices, "", "verdict",
    ];
    let mut grid = Grid::with_words_last();
    let mut row = |mut cells: Vec<String>| {
        if shared && cells.len() > 1 {
            cells.remove(1);
        }
        grid.row(cells);
    };
    row(header.map(String::from).to_vec());
    for (context, members) in contexts {
        row(vec![context.clone()]);
        if let (true, Some(first)) = (shared, members.first()) {
            let cells = ["", &median(first.base_median), "", "", "", "", "baseline"];
            let name = format!("  {}", axis.named(baseline));
            row(std::iter::once(name)
                .chain(cells.map(String::from))
                .collect());
        }
        for c in members {
            let estimate = c.judgement.as_ref().map(|j| j.estimate.ratio());
            let interval = c.judgement.as_ref().and_then(|j| j.interval);
            row(vec![
                format!("  {}{}", axis.named(&axis.value(&c.new)), c.new_marks),
                median(c.base_median),
                median(c.new_median),
                estimate.map_or("–".to_string(), |r| format!("{r:.3}")),
                interval.map_or("–".to_string(), |i| i.to_string()),
                c.duet
                    .and_then(|d| d.slice_ratio)
                    .map_or(String::new(), |r| format!("{r:.3}")),
                match c.disturbed {
                    0 => String::new(),
                    n => format!("{n} disturbed"),
                },
                c.marked_verdict(),
            ]);
        }
    }
    grid.write(out, 2)
}

/// The unit of a figure, by its name.
pub(super) fn unit(figure: &str) -> &'static str {
    match figure {
        "transactions/s" => "tps",
        mixed if mixed.contains("transactions/s") => "s or tps",
        _ => "s",
    }
}

fn same_base(a: &Comparison, b: &Comparison) -> bool {
    a.base_median == b.base_median
}

/// On what the verdicts stand.
fn grounds(out: &mut dyn Write, results: &Results, comparisons: &Comparisons) -> io::Result<()> {
    let rule = &comparisons.rule;
    let looking = match rule.looking() {
        Looking::Once => "",
        Looking::UntilNarrow => ", and for the looking after each round",
    };
    let text = format!(
        "{} rounds; {}{looking}",
        results.run.plan.rounds,
        demands(rule)
    );
    wrapped(out, &text, 2)?;
    if let Some(text) = stopped(results) {
        wrapped(out, &text, 2)?;
    }
    let judged = comparisons.list.iter().filter_map(|c| c.judgement.as_ref());
    smallest_differences(out, judged, "rounds")?;
    duets(out, comparisons)?;
    let floors = rule.for_comparisons(comparisons.noise.len());
    for (key, floor) in &comparisons.noise {
        let suspect = match floor.is_suspect(&floors) {
            true => "; more than chance allows: do not trust this run",
            false => "",
        };
        let text = format!(
            "noise floor, {} against itself: {} a round, {} at most{suspect}",
            context(results, None, key),
            percent(floor.sd.exp_m1()),
            percent(floor.largest.exp_m1()),
        );
        wrapped(out, &text, 2)?;
    }
    Ok(())
}

/// What the duets cost, and where a case went on while the other played.
fn duets(out: &mut dyn Write, comparisons: &Comparisons) -> io::Result<()> {
    let with = comparisons.list.iter().filter_map(|c| Some((c, c.duet?)));
    let duets: Vec<_> = with.collect();
    let most = |figure: fn(&duet::Summary) -> f64| {
        duets.iter().map(|(_, d)| figure(d)).fold(0.0, f64::max)
    };
    if duets.is_empty() {
        return Ok(());
    }
    let draining = duets.iter().filter_map(|(_, d)| d.draining);
    let draining = match draining.reduce(f64::max) {
        None => String::new(),
        Some(share) => format!(
            "; the ends of slices, where clients wait for the last transactions, {} of a case's \
             own time",
            percent(share)
        ),
    };
    let text = format!(
        "in duet: figures are of each case's own slices; a turn took {:.0} µs, {} of the \
         time{draining}",
        most(|d| d.turn_s) * 1e6,
        percent(most(|d| d.turn_share)),
    );
    wrapped(out, &text, 2)?;
    for (c, d) in duets
        .iter()
        .filter(|(_, d)| d.cross_talk > duet::CROSS_TALK)
    {
        let text = format!(
            "cross-talk: {} of what a case wrote, flushed or computed in {} fell into the \
             other's slices",
            percent(d.cross_talk),
            c.axis.named(&c.axis.value(&c.new)),
        );
        wrapped(out, &text, 2)?;
    }
    Ok(())
}

/// How the rounds came to their number, where they were added.
fn stopped(results: &Results) -> Option<String> {
    let plan = &results.run.plan;
    let rule = plan.until_sure?;
    let width = percent(rule.width);
    Some(match rule.narrow? {
        true => format!(
            "rounds were added until no interval was wider than {width}: {} were enough",
            plan.rounds
        ),
        false => format!(
            "the limit of {} rounds came before every interval was as narrow as {width}",
            rule.most
        ),
    })
}

/// Threshold and confidence in words.
pub(super) fn demands(rule: &Rule) -> String {
    let together = match rule.comparisons() {
        1 => String::new(),
        n => format!(" for all {n} together"),
    };
    format!(
        "a difference counts from {} up; intervals hold at {}{together}",
        percent(rule.threshold()),
        percent(rule.confidence())
    )
}

/// What could have been shown, over all comparisons.
pub(super) fn smallest_differences<'j>(
    out: &mut dyn Write,
    judged: impl Iterator<Item = &'j Judgement>,
    units: &str,
) -> io::Result<()> {
    let smallest: Vec<f64> = judged.filter_map(Judgement::smallest_difference).collect();
    let (Some(least), Some(most)) = (
        smallest.iter().copied().reduce(f64::min),
        smallest.iter().copied().reduce(f64::max),
    ) else {
        return Ok(());
    };
    let (least, most) = (percent(least), percent(most));
    let range = match least == most {
        true => least,
        false => format!("{least} to {most}, by comparison"),
    };
    let text = format!(
        "the smallest difference these {units} would have shown four times in five: {range}"
    );
    wrapped(out, &text, 2)
}

/// A fraction in per cent: as many digits as say something.
fn percent(fraction: f64) -> String {
    match fraction * 100.0 {
        p if p >= 1000.0 => "more than tenfold".to_string(),
        p if p >= 10.0 => format!("{} %", p.round()),
        p => format!("{} %", (p * 10.0).round() / 10.0),
    }
}
