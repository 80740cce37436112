//! Comparisons between runs: equal cases of a base and a new side, each of one run or
//! several. Nothing pairs their rounds, and what one boot has in common stands in all
//! rounds of it; so the unit is the run, and those of one day and boot are one.

use std::collections::{BTreeMap, BTreeSet};

use super::circumstances::{Circumstances, Difference};
use super::matching::{Matching, matching};
use super::{Aspect, Estimate, Figure, Judgement, LEAST_RUNS, Rule, Verdict, judge};
use crate::measure::stats::median;
use crate::record::{CaseRecord, KeyRecord, Outcome, Results, RunRecord};

/// How two sides are to be compared.
#[derive(Clone, Debug)]
pub struct Question {
    /// The figure compared.
    pub figure: Figure,
    /// Threshold and confidence; the number of comparisons is set here.
    pub rule: Rule,
    /// What may differ between the sides, because it is what is compared.
    pub axes: BTreeSet<Aspect>,
}

/// What one side measured of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Runs with a figure.
    pub runs: usize,
    /// The units of the comparison: medians over all rounds of a day and boot, in the
    /// figure's unit, ascending.
    pub units: Vec<f64>,
    /// Rounds with a figure.
    pub rounds: usize,
    /// The lowest and the highest round.
    pub range: Option<(f64, f64)>,
    /// Rounds that others disturbed.
    pub disturbed: usize,
}

impl Measured {
    /// The median of the units.
    pub fn median(&self) -> Option<f64> {
        median(&self.units)
    }
}

/// A case on both sides.
#[derive(Clone, Debug)]
pub struct Matched {
    /// Its key in the base.
    pub base_key: KeyRecord,
    /// Its key on the new side: equal but for what is compared.
    pub new_key: KeyRecord,
    /// What the base measured.
    pub base: Measured,
    /// What the new side measured.
    pub new: Measured,
    /// In what the two differ.
    pub differences: Vec<Difference>,
    /// What may be said.
    pub verdict: Verdict,
    /// On what grounds: without an interval when there are too few runs, and `None`
    /// where the two must not be compared at all.
    pub judgement: Option<Judgement>,
}

impl Matched {
    /// Whether it is judged slower by at least this fraction.
    pub fn is_slower_by(&self, least: f64) -> bool {
        let log = self
            .judgement
            .as_ref()
            .map_or(0.0, |j| j.estimate.log_ratio());
        self.verdict == Verdict::Slower && log.abs() >= least.ln_1p()
    }
}

/// Two sides compared.
#[derive(Clone, Debug)]
pub struct Between {
    /// The cases of both, in the order of their keys.
    pub list: Vec<Matched>,
    /// Cases of the base that have no counterpart.
    pub only_base: Vec<KeyRecord>,
    /// Cases of the new side that have none.
    pub only_new: Vec<KeyRecord>,
    /// The rule, corrected for the number of comparisons that can be judged.
    pub rule: Rule,
}

/// Compares two sides. The order of runs, and of cases within them, does not matter; a
/// run given twice counts once.
pub fn between(base: &[Results], new: &[Results], question: &Question) -> Between {
    let (base, new) = (Side::of(base), Side::of(new));
    let Matching {
        pairs,
        only_base,
        only_new,
    } = matching(base.keys(), new.keys(), &question.axes);
    let drafts: Vec<Draft> = pairs
        .into_iter()
        .map(|(base_key, new_key)| {
            let (base, new) = (base.of_case(&base_key), new.of_case(&new_key));
            Draft::new((base_key, base), (new_key, new), question)
        })
        .collect();
    // Which can be judged depends on what there is, never on what it says.
    let family = drafts.iter().filter(|d| d.can_be_judged()).count();
    let rule = question.rule.for_comparisons(family);
    Between {
        list: drafts.into_iter().map(|d| d.judged(&rule)).collect(),
        only_base,
        only_new,
        rule,
    }
}

type Entry<'r> = (&'r RunRecord, &'r CaseRecord);

/// The cases of one side.
struct Side<'r>(BTreeMap<KeyRecord, Vec<Entry<'r>>>);

impl<'r> Side<'r> {
    /// The second of an A/A pair is left out: it is there for the noise of its own run.
    fn of(runs: &'r [Results]) -> Self {
        let runs: BTreeMap<&String, &Results> = runs.iter().map(|r| (&r.run.id, r)).collect();
        let mut side = Side(BTreeMap::new());
        for results in runs.into_values() {
            let planned = results.run.plan.cases.iter().filter(|k| k.replicate == 0);
            for key in planned {
                side.0.entry(key.clone()).or_default();
            }
            for case in results.cases.iter().filter(|c| c.case.replicate == 0) {
                let entries = side.0.entry(case.case.clone()).or_default();
                entries.push((&results.run, case));
            }
        }
        side
    }

    fn keys(&self) -> Vec<&KeyRecord> {
        self.0.keys().collect()
    }

    fn of_case(&self, key: &KeyRecord) -> &[Entry<'r>] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Day and boot: what may be taken for a run of its own.
fn session(run: &RunRecord) -> (&str, &str) {
    (run.started.get(..10).unwrap_or(""), &run.host.boot_id)
}

fn measured(entries: &[Entry<'_>], figure: &Figure) -> Measured {
    let mut sessions: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    let mut runs = BTreeSet::new();
    let mut disturbed = 0;
    for (run, case) in entries {
        let Some(value) = figure.of(case) else {
            continue;
        };
        sessions.entry(session(run)).or_default().push(value);
        runs.insert(&run.id);
        disturbed += usize::from(!case.disturbed.is_empty());
    }
    let all = || sessions.values().flatten().copied();
    let range = all().reduce(f64::min).zip(all().reduce(f64::max));
    let rounds = all().count();
    let mut units: Vec<f64> = sessions.values().filter_map(|v| median(v)).collect();
    units.sort_by(f64::total_cmp);
    Measured {
        runs: runs.len(),
        units,
        rounds,
        range,
        disturbed,
    }
}

/// A matched case before it is judged.
struct Draft {
    matched: Matched,
    estimate: Option<Estimate>,
}

impl Draft {
    fn new(
        (base_key, base_entries): (KeyRecord, &[Entry<'_>]),
        (new_key, new_entries): (KeyRecord, &[Entry<'_>]),
        question: &Question,
    ) -> Self {
        let figure = &question.figure.for_key(&base_key);
        let (base, new) = (
            measured(base_entries, figure),
            measured(new_entries, figure),
        );
        let differences = match base.rounds * new.rounds {
            0 => Vec::new(),
            _ => {
                circumstances(base_entries).differences(&circumstances(new_entries), &question.axes)
            }
        };
        let estimate = comparable(&base, &new, &differences).and_then(|()| {
            Estimate::unpaired(figure.metric(), &base.units, &new.units).map_err(|e| e.to_string())
        });
        let reason = estimate.as_ref().err().cloned().unwrap_or_default();
        Draft {
            matched: Matched {
                base_key,
                new_key,
                base,
                new,
                differences,
                verdict: Verdict::NotComparable(reason),
                judgement: None,
            },
            estimate: estimate.ok(),
        }
    }

    fn can_be_judged(&self) -> bool {
        self.estimate.is_some_and(|e| e.count() >= LEAST_RUNS)
    }

    fn judged(self, rule: &Rule) -> Matched {
        let Some(estimate) = self.estimate else {
            return self.matched;
        };
        let judgement = judge(&estimate, rule);
        Matched {
            verdict: judgement.verdict.clone(),
            judgement: Some(judgement),
            ..self.matched
        }
    }
}

fn circumstances(entries: &[Entry<'_>]) -> Circumstances {
    let mut found = Circumstances::default();
    let measured = entries
        .iter()
        .filter(|(_, c)| c.outcome == Outcome::Measured);
    measured.for_each(|(run, case)| found.add(run, case));
    found
}

/// Why the two must not be compared, if they must not.
fn comparable(base: &Measured, new: &Measured, differences: &[Difference]) -> Result<(), String> {
    match (base.rounds, new.rounds) {
        (0, 0) => return Err("neither side has a complete figure".to_string()),
        (0, _) => return Err("the base has no complete figure".to_string()),
        (_, 0) => return Err("the new side has no complete figure".to_string()),
        _ => {}
    }
    let mut others = differences.iter().filter(|d| !d.compared);
    match (others.next(), others.count()) {
        (None, _) => Ok(()),
        (Some(first), 0) => Err(first.to_string()),
        (Some(first), 1) => Err(format!("{first}; and 1 other difference")),
        (Some(first), n) => Err(format!("{first}; and {n} other differences")),
    }
}
