//! What must be said beside a figure whenever it stands beside others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::record::{CaseRecord, DurabilityRecord, Outcome, Results};

/// Beside a figure of a case whose commits can be lost.
pub const NOT_DURABLE: char = '†';
/// Beside one of which that cannot be told.
pub const UNKNOWN: char = '‡';
/// Beside one from an image in memory.
pub const IN_MEMORY: char = '°';

/// What must be said of some cases; all the reasons that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Why commits can be lost.
    pub not_durable: Vec<String>,
    /// Why it cannot be told whether they can.
    pub unknown: Vec<String>,
    /// The device lies in memory: counts are good, times are no disk's.
    pub in_memory: bool,
}

impl Marks {
    /// Of the measured ones among `cases`.
    pub fn of<'c>(cases: impl IntoIterator<Item = &'c CaseRecord>) -> Self {
        let mut marks = Marks::default();
        let measured = |case: &&CaseRecord| case.outcome == Outcome::Measured;
        for case in cases.into_iter().filter(measured) {
            let (list, reason) = match &case.durability {
                Some(DurabilityRecord::NotDurable(reason)) => (&mut marks.not_durable, reason),
                Some(DurabilityRecord::Unknown(reason)) => (&mut marks.unknown, reason),
                Some(DurabilityRecord::HonouredTo(_)) | None => (&mut Vec::new(), &String::new()),
            };
            if !reason.is_empty() && !list.contains(reason) {
                list.push(reason.clone());
            }
            let target = case.target.as_ref();
            let device = target.and_then(|target| target.device.as_ref());
            marks.in_memory |= device.is_some_and(|device| device.in_memory);
        }
        marks
    }

    /// Nothing speaks against its durability.
    pub fn is_durable(&self) -> bool {
        self.not_durable.is_empty() && self.unknown.is_empty()
    }
}

/// The signs alone, behind a blank if there are any.
impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signs = [
            (!self.not_durable.is_empty(), NOT_DURABLE),
            (!self.unknown.is_empty(), UNKNOWN),
            (self.in_memory, IN_MEMORY),
        ];
        let signs: String = signs.iter().filter(|s| s.0).map(|s| s.1).collect();
        match signs.is_empty() {
            true => Ok(()),
            false => write!(f, " {signs}"),
        }
    }
}

/// What the signs in the tables of a run mean, a line each: who bears it and why.
pub fn legend(results: &Results) -> Vec<String> {
    let mut lines: BTreeMap<(usize, String), BTreeSet<&str>> = BTreeMap::new();
    for case in &results.cases {
        for line in reasons(&Marks::of([case])) {
            lines.entry(line).or_default().insert(&case.case.target);
        }
    }
    let line = |((kind, reason), bearers): ((usize, String), BTreeSet<&str>)| {
        let sign = [NOT_DURABLE, UNKNOWN, IN_MEMORY][kind];
        let bearers: Vec<&str> = in_order(results)
            .into_iter()
            .filter(|target| bearers.contains(target))
            .collect();
        format!("{sign} {}: {reason}", bearers.join(", "))
    };
    lines.into_iter().map(line).collect()
}

/// The reasons of marks, with the number of their sign.
fn reasons(marks: &Marks) -> Vec<(usize, String)> {
    let not_durable = marks.not_durable.iter();
    let unknown = marks.unknown.iter();
    not_durable
        .map(|reason| (0, format!("not durable: {reason}")))
        .chain(unknown.map(|reason| (1, format!("durability unknown: {reason}"))))
        .chain(marks.in_memory.then(|| {
            let words = "the device is in memory: counts are exact, times are no disk's and \
                         not ranked";
            (2, words.to_string())
        }))
        .collect()
}

/// The targets as the tables have them.
fn in_order(results: &Results) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    let planned = results.run.plan.cases.iter();
    for key in planned.chain(results.cases.iter().map(|case| &case.case)) {
        if !targets.contains(&key.target.as_str()) {
            targets.push(&key.target);
        }
    }
    targets
}
