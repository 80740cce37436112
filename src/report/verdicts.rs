//! The verdicts of a run in words, then their ratios and intervals.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::grid::{Grid, wrapped};
use crate::compare::{
    Axis, Comparison, Comparisons, Judgement, Looking, Rule, Unit, Verdict, duet,
};
use crate::record::{KeyRecord, Results};
use crate::units::seconds;

/// Writes what differs, by how much and how sure that is.
pub(super) fn write(
    out: &mut dyn Write,
    results: &Results,
    comparisons: &Comparisons,
    figure: &str,
) -> io::Result<()> {
    if let Some(reason) = silence(results, comparisons) {
        writeln!(out, "{reason}")?;
        let floors = noise_floors(results, comparisons);
        return floors.iter().try_for_each(|text| wrapped(out, text, 2));
    }
    for part in parts(results, comparisons, figure) {
        writeln!(out, "{}", part.title)?;
        for (context, members) in &part.contexts {
            words(out, part.axis, context, members)?;
        }
        // Two sizes of memory stand side by side in a table of their own.
        let pairs = part.contexts.iter().all(|(_, members)| members.len() < 2);
        if *part.axis != Axis::Memory || !pairs {
            let baseline = (part.axis, part.baseline);
            table(out, baseline, unit(figure), &part.contexts)?;
        }
    }
    let grounds = grounds(results, comparisons);
    grounds.iter().try_for_each(|text| wrapped(out, text, 2))
}

/// Why there are no verdicts, where there are none.
pub(super) fn silence(results: &Results, comparisons: &Comparisons) -> Option<&'static str> {
    if comparisons.list.is_empty() {
        return Some("nothing to compare: no two cases differ on one axis alone");
    }
    match results.run.plan.rounds {
        2.. => None,
        _ if results.run.imported.is_empty() => Some(
            "no verdict: one round cannot tell a difference from noise; repeat with --rounds 5",
        ),
        _ => Some(
            "no verdict: what was imported has one round, which cannot tell a difference from noise",
        ),
    }
}

/// The comparisons on one axis.
pub(super) struct Part<'c> {
    /// What is compared with what.
    pub title: String,
    pub axis: &'c Axis,
    /// Its value on that axis.
    pub baseline: &'c str,
    pub contexts: Contexts<'c>,
}

/// Comparisons of one axis by what they have in common, in the order of the plan.
pub(super) type Contexts<'c> = Vec<(String, Vec<&'c Comparison>)>;

/// The comparisons, axis by axis.
pub(super) fn parts<'c>(
    results: &Results,
    comparisons: &'c Comparisons,
    figure: &str,
) -> Vec<Part<'c>> {
    let axes = axes(results);
    let part = |(axis, baseline): (&'c Axis, &'c String)| Part {
        title: format!("{figure}, against {}:", axis.named(baseline)),
        axis,
        baseline,
        contexts: contexts(&axes, axis, &comparisons.list),
    };
    let mut parts: Vec<Part<'c>> = comparisons.baselines.iter().map(part).collect();
    parts.retain(|part| !part.contexts.is_empty());
    parts
}

/// The axes on which the cases of a run differ.
fn axes(results: &Results) -> Vec<Axis> {
    Axis::of(&results.run.plan.cases.iter().collect::<Vec<_>>())
}

fn contexts<'c>(axes: &[Axis], axis: &Axis, list: &'c [Comparison]) -> Contexts<'c> {
    let mut contexts = Contexts::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for comparison in list.iter().filter(|c| c.axis == *axis) {
        let context = context(axes, Some(axis), &comparison.new);
        let at = *known.entry(context.clone()).or_insert_with(|| {
            contexts.push((context, Vec::new()));
            contexts.len() - 1
        });
        contexts[at].1.push(comparison);
    }
    contexts
}

/// What names a comparison beside its axis: the workload, and the other axes that vary.
fn context(axes: &[Axis], axis: Option<&Axis>, key: &KeyRecord) -> String {
    let mut parts = vec![key.workload.clone()];
    for other in axes.iter().filter(|a| Some(*a) != axis) {
        let value = other.value(key);
        // A workload without a server has no settings of one.
        if !value.is_empty() {
            parts.push(other.named(&value));
        }
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
        groups.add_compared(comparison, name(axis, comparison));
    }
    wrapped(out, &format!("{context}: {}", groups.sentence()), 2)
}

/// The other side of a comparison, with what must be said of it.
pub(super) fn name(axis: &Axis, comparison: &Comparison) -> String {
    format!(
        "{}{}",
        axis.named(&axis.value(&comparison.new)),
        comparison.new_marks
    )
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

    /// Adds the other side of a comparison as `name`.
    pub fn add_compared(&mut self, comparison: &Comparison, name: String) {
        match comparison.is_ranked() {
            true => self.add(&comparison.verdict, name),
            false => self.add_unranked(name),
        }
    }

    /// The verdicts with those of whom they hold; the number tells the kind: 0 faster,
    /// 1 slower, 2 no difference, 3 undecided, 4 not comparable, 5 not ranked.
    pub fn list(&self) -> impl Iterator<Item = (u8, &str, &[String])> {
        let groups = self.0.iter();
        groups.map(|((kind, verdict), names)| (*kind, verdict.as_str(), names.as_slice()))
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

/// On what the verdicts stand, a sentence each.
pub(super) fn grounds(results: &Results, comparisons: &Comparisons) -> Vec<String> {
    let rule = &comparisons.rule;
    let looking = match rule.looking() {
        Looking::Once => "",
        Looking::UntilNarrow => ", and for the looking after each round",
    };
    let mut lines = vec![format!(
        "{} rounds; {}{looking}",
        results.run.plan.rounds,
        demands(rule)
    )];
    lines.extend(stopped(results));
    let judged = comparisons.list.iter().filter_map(|c| c.judgement.as_ref());
    lines.extend(smallest_differences(judged, "rounds"));
    lines.extend(duets(comparisons));
    lines.extend(noise_floors(results, comparisons));
    lines
}

/// What the baseline measured against itself says of the noise.
pub(super) fn noise_floors(results: &Results, comparisons: &Comparisons) -> Vec<String> {
    let floors = comparisons.rule.for_comparisons(comparisons.noise.len());
    let axes = axes(results);
    let told = comparisons.noise.iter().map(|(key, floor)| {
        let suspect = match (floor.is_suspect(&floors), floor.is_biased(&floors)) {
            (true, _) => "; more than chance allows: do not trust this run",
            (false, true) => "; more than chance allows, though less than counts",
            (false, false) => "",
        };
        format!(
            "noise floor, {} against itself: {} a round, {} at most{suspect}",
            context(&axes, None, key),
            percent(floor.sd.exp_m1()),
            percent(floor.largest.exp_m1()),
        )
    });
    told.collect()
}

/// What the duets cost, and where a case went on while the other played.
fn duets(comparisons: &Comparisons) -> Vec<String> {
    let with = comparisons.list.iter().filter_map(|c| Some((c, c.duet?)));
    let duets: Vec<_> = with.collect();
    let most = |figure: fn(&duet::Summary) -> f64| {
        duets.iter().map(|(_, d)| figure(d)).fold(0.0, f64::max)
    };
    if duets.is_empty() {
        return Vec::new();
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
    let mut lines = vec![format!(
        "in duet: figures are of each case's own slices; a turn took {:.0} µs, {} of the \
         time{draining}",
        most(|d| d.turn_s) * 1e6,
        percent(most(|d| d.turn_share)),
    )];
    for (c, d) in duets
        .iter()
        .filter(|(_, d)| d.cross_talk > duet::CROSS_TALK)
    {
        lines.push(format!(
            "cross-talk: {} of what a case wrote, flushed or computed in {} fell into the \
             other's slices",
            percent(d.cross_talk),
            c.axis.named(&c.axis.value(&c.new)),
        ));
    }
    lines
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
    judged: impl Iterator<Item = &'j Judgement>,
    units: &str,
) -> Option<String> {
    // It grows with the noise: of as many rounds, those with least and most have both ends.
    let mut kept: Vec<&Judgement> = Vec::new();
    let mut ends: HashMap<usize, [&Judgement; 2]> = HashMap::new();
    let noise = |judgement: &Judgement| judgement.estimate.sd().unwrap_or(0.0);
    for judgement in judged {
        if judgement.interval.is_none() {
            continue;
        }
        if judgement.estimate.unit() == Unit::Run {
            kept.push(judgement);
            continue;
        }
        let [least, most] = ends
            .entry(judgement.estimate.count())
            .or_insert([judgement; 2]);
        if noise(judgement) < noise(least) {
            *least = judgement;
        }
        if noise(judgement) > noise(most) {
            *most = judgement;
        }
    }
    kept.extend(ends.into_values().flatten());
    let smallest = kept.into_iter().filter_map(Judgement::smallest_difference);
    let smallest: Vec<f64> = smallest.collect();
    let least = smallest.iter().copied().reduce(f64::min)?;
    let most = smallest.iter().copied().reduce(f64::max)?;
    let (least, most) = (percent(least), percent(most));
    let range = match least == most {
        true => least,
        false => format!("{least} to {most}, by comparison"),
    };
    Some(format!(
        "the smallest difference these {units} would have shown four times in five: {range}"
    ))
}

/// A fraction in per cent: as many digits as say something.
pub(super) fn percent(fraction: f64) -> String {
    match fraction * 100.0 {
        p if p >= 1000.0 => "more than tenfold".to_string(),
        p if p >= 10.0 => format!("{} %", p.round()),
        p => format!("{} %", (p * 10.0).round() / 10.0),
    }
}
