//! Comparisons inside one run: all axes but one equal, against the baseline, paired by
//! round.

use std::collections::{BTreeMap, HashMap};

use super::duet;
use super::{
    Axis, Estimate, Figure, Judgement, Looking, Marks, NoiseFloor, Pair, Rule, Verdict, judge,
};
use crate::measure::stats::median;
use crate::record::{CaseRecord, KeyRecord, Outcome, Results};

/// How a run is to be judged.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Value of the baseline on the target axis; `None`: the run's own, else ext2, else
    /// the first target.
    pub baseline: Option<String>,
    /// The figure compared.
    pub figure: Figure,
    /// Threshold and confidence; the number of comparisons and the looking are set here.
    pub rule: Rule,
}

/// One case against its baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The axis on which the two differ.
    pub axis: Axis,
    /// The baseline's key.
    pub base: KeyRecord,
    /// The other's key.
    pub new: KeyRecord,
    /// Median of the baseline, in the figure's unit.
    pub base_median: Option<f64>,
    /// Median of the other.
    pub new_median: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// On what grounds; `None` where the two could not be compared at all.
    pub judgement: Option<Judgement>,
    /// Rounds in which either was disturbed.
    pub disturbed: usize,
    /// What their duets say beside; `None` where they were measured one after the other.
    pub duet: Option<duet::Summary>,
    /// What must be said of the baseline whenever the two stand side by side.
    pub base_marks: Marks,
    /// The same of the other.
    pub new_marks: Marks,
}

impl Comparison {
    /// The other's value on the axis, with its marks.
    pub fn name(&self) -> String {
        format!("{}{}", self.axis.value(&self.new), self.new_marks)
    }

    /// Whether the two may be ranked: not by the times of an image in memory.
    pub fn is_ranked(&self) -> bool {
        !self.base_marks.in_memory && !self.new_marks.in_memory
    }

    /// The verdict, and which side is less durable where one is.
    pub fn marked_verdict(&self) -> String {
        let verdict = &self.verdict;
        if matches!(verdict, Verdict::NotComparable(_)) {
            return verdict.to_string();
        }
        let words = match (self.base_marks.is_durable(), self.new_marks.is_durable()) {
            (true, false) => format!("{verdict}, less durable{}", self.new_marks),
            (false, true) => format!("{verdict}, baseline less durable{}", self.base_marks),
            _ => verdict.to_string(),
        };
        match self.is_ranked() {
            true => words,
            false => format!("not ranked ({words})"),
        }
    }
}

/// The comparisons of a run.
#[derive(Clone, Debug)]
pub struct Comparisons {
    /// Each case against its baseline, axis by axis.
    pub list: Vec<Comparison>,
    /// The rule, corrected for the number of comparisons.
    pub rule: Rule,
    /// What the baseline differs from itself, by its key.
    pub noise: Vec<(KeyRecord, NoiseFloor)>,
    /// Baseline values by axis.
    pub baselines: BTreeMap<Axis, String>,
}

/// Compares the cases of a run.
pub fn within(results: &Results, choice: &Choice) -> Comparisons {
    let sides = sides(results);
    let planned = results.run.plan.cases.iter();
    let keys: Vec<&KeyRecord> = planned.filter(|k| k.replicate == 0).collect();
    let wanted = choice
        .baseline
        .as_ref()
        .or(results.run.plan.baseline.as_ref());
    let baselines = baselines(&keys, wanted.map(String::as_str));
    let mut matched = matched(&keys, &baselines);
    // What cannot be measured here is told as skipped; it must not widen the intervals of the
    // others.
    matched.retain(|(_, _, new)| !is_skipped(&sides, new));
    let mut rule = choice.rule.for_comparisons(matched.len().max(1));
    if results.run.plan.until_sure.is_some() {
        rule = rule.with_looking(Looking::UntilNarrow);
    }
    let list = matched
        .into_iter()
        .map(|(axis, base, new)| {
            let figure = choice.figure.for_key(base);
            compare(&sides, axis, (base, new), &figure, &rule)
        })
        .collect();
    Comparisons {
        list,
        rule,
        noise: noise(results, &sides, &choice.figure),
        baselines,
    }
}

/// The pairs of `keys` (their indices, the baseline first) that verdicts compare: those
/// that differ on one axis alone, against the baseline's value on it.
pub fn matches(keys: &[&KeyRecord], baseline: Option<&str>) -> Vec<(Axis, usize, usize)> {
    let index = |key: &KeyRecord| keys.iter().position(|k| std::ptr::eq(*k, key));
    matched(keys, &baselines(keys, baseline))
        .into_iter()
        .filter_map(|(axis, base, new)| Some((axis, index(base)?, index(new)?)))
        .collect()
}

pub(super) type Sides<'r> = BTreeMap<&'r KeyRecord, Vec<&'r CaseRecord>>;

/// The rounds of one side of a comparison.
pub(super) type Rounds<'r> = BTreeMap<u32, &'r CaseRecord>;

pub(super) fn sides(results: &Results) -> Sides<'_> {
    let mut sides = Sides::new();
    for case in &results.cases {
        sides.entry(&case.case).or_default().push(case);
    }
    sides
}

/// Whether a case was never tried, as it cannot be measured here.
pub(super) fn is_skipped(sides: &Sides<'_>, key: &KeyRecord) -> bool {
    let skipped = |case: &&CaseRecord| matches!(case.outcome, Outcome::Skipped { .. });
    sides
        .get(key)
        .is_some_and(|cases| cases.iter().all(skipped))
}

/// The rounds of `key` that belong beside those of `partner`: from duets with it, where
/// there were any, else those it played alone.
pub(super) fn rounds<'r>(sides: &Sides<'r>, key: &KeyRecord, partner: &KeyRecord) -> Rounds<'r> {
    let all = sides.get(key).map_or(&[][..], Vec::as_slice);
    let with = |c: &&&CaseRecord| c.duet.as_ref().is_some_and(|d| d.partner == *partner);
    let duets: Rounds<'r> = all.iter().filter(with).map(|c| (c.round, *c)).collect();
    if !duets.is_empty() {
        return duets;
    }
    let alone = all.iter().filter(|c| c.duet.is_none());
    alone.map(|c| (c.round, *c)).collect()
}

/// On each axis that varies, the value that the others are compared with: on the target
/// axis `wanted` if it is there, else ext2; of memory the most; else the first.
fn baselines(keys: &[&KeyRecord], wanted: Option<&str>) -> BTreeMap<Axis, String> {
    let value = |axis: &Axis| {
        let values = axis.values(keys);
        let of = |value: &str| values.iter().find(|v| *axis == Axis::Target && *v == value);
        let named = wanted.and_then(of).or_else(|| of("ext2_defaults"));
        let most = keys
            .iter()
            .max_by_key(|k| k.memory_bytes.unwrap_or(u64::MAX));
        let most = most
            .filter(|_| *axis == Axis::Memory)
            .map(|k| axis.value(k));
        most.or_else(|| named.or(values.first()).cloned())
            .unwrap_or_default()
    };
    let axes = Axis::of(keys).into_iter();
    axes.map(|axis| (axis.clone(), value(&axis))).collect()
}

/// Axis, baseline and other of every comparison, in the order of the plan.
fn matched<'k>(
    keys: &[&'k KeyRecord],
    baselines: &BTreeMap<Axis, String>,
) -> Vec<(Axis, &'k KeyRecord, &'k KeyRecord)> {
    let mut found = Vec::new();
    for (axis, baseline) in baselines {
        let (bases, others): (Vec<&KeyRecord>, Vec<&KeyRecord>) =
            keys.iter().partition(|k| axis.value(k) == *baseline);
        let mut by_rest: HashMap<KeyRecord, &KeyRecord> = HashMap::new();
        for base in bases {
            by_rest.entry(axis.rest(base)).or_insert(base);
        }
        for new in others {
            if let Some(base) = by_rest.get(&axis.rest(new)) {
                found.push((axis.clone(), *base, new));
            }
        }
    }
    found
}

fn compare(
    sides: &Sides<'_>,
    axis: Axis,
    (base, new): (&KeyRecord, &KeyRecord),
    figure: &Figure,
    rule: &Rule,
) -> Comparison {
    let (base_rounds, new_rounds) = (rounds(sides, base, new), rounds(sides, new, base));
    let of = |rounds: &Rounds<'_>| -> Vec<f64> {
        rounds.values().filter_map(|c| figure.of(c)).collect()
    };
    let disturbed = |round: &&u32| {
        [&base_rounds, &new_rounds]
            .iter()
            .any(|side| side.get(round).is_some_and(|c| !c.disturbed.is_empty()))
    };
    let judgement = estimate(&base_rounds, &new_rounds, figure).map(|e| judge(&e, rule));
    Comparison {
        base_median: median(&of(&base_rounds)),
        new_median: median(&of(&new_rounds)),
        disturbed: base_rounds.keys().filter(disturbed).count(),
        duet: duet::Summary::of(&base_rounds, &new_rounds, figure),
        verdict: match &judgement {
            Ok(judgement) => judgement.verdict.clone(),
            Err(reason) => Verdict::NotComparable(reason.clone()),
        },
        judgement: judgement.ok(),
        base_marks: Marks::of(base_rounds.values().copied()),
        new_marks: Marks::of(new_rounds.values().copied()),
        axis,
        base: base.clone(),
        new: new.clone(),
    }
}

/// The estimate from the rounds in which both sides have the figure.
fn estimate(base: &Rounds<'_>, new: &Rounds<'_>, figure: &Figure) -> Result<Estimate, String> {
    let pairs: Vec<Pair> = base
        .iter()
        .filter_map(|(round, base)| {
            Some(Pair {
                base: figure.of(base)?,
                new: figure.of(new.get(round)?)?,
            })
        })
        .collect();
    if pairs.is_empty() {
        let lacks = |side: &Rounds<'_>| side.values().all(|c| figure.of(c).is_none());
        return Err(match (lacks(base), lacks(new)) {
            (true, _) => "the baseline has no complete figure",
            (_, true) => "it has no complete figure",
            _ => "no round has both",
        }
        .to_string());
    }
    let cold = |side: &Rounds<'_>| {
        let mut measured = side.values().filter(|c| c.outcome == Outcome::Measured);
        measured.all(|c| c.target.as_ref().is_some_and(|t| t.cold))
    };
    if cold(base) != cold(new) {
        return Err("one started cold, the other warm".to_string());
    }
    Estimate::new(figure.metric(), &pairs).map_err(|e| e.to_string())
}

/// What each baseline differs from its second measurement.
fn noise(results: &Results, sides: &Sides<'_>, figure: &Figure) -> Vec<(KeyRecord, NoiseFloor)> {
    let mut found = Vec::new();
    for twin in results.run.plan.cases.iter().filter(|k| k.replicate == 1) {
        let mut first = twin.clone();
        first.replicate = 0;
        let (a, b) = (rounds(sides, &first, twin), rounds(sides, twin, &first));
        let pairs: Vec<Pair> = a
            .iter()
            .filter_map(|(round, a)| {
                Some(Pair {
                    base: figure.of(a)?,
                    new: figure.of(b.get(round)?)?,
                })
            })
            .collect();
        if let Ok(floor) = NoiseFloor::new(figure.for_key(&first).metric(), &pairs) {
            found.push((first, floor));
        }
    }
    found
}
