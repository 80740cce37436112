//! Which figure of a case is compared.

use super::Metric;
use crate::record::{CaseRecord, Completeness, EndRecord, KeyRecord, Outcome, PhaseRecord};

/// A figure that every measured case of a workload has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// That of each workload where nothing is chosen: transactions a second of a load,
    /// seconds until settled of everything else.
    Usual,
    /// Committed transactions a second of a load, until returned.
    Transactions,
    /// Until the last statement was answered.
    Returned,
    /// And the target was flushed.
    Flushed,
    /// And the server had nothing left to write: what verdicts stand on, as only then
    /// have both sides done the same work.
    Settled,
    /// An operation of that name; several of one name are summed, as the suite does.
    Operation(String),
}

impl Figure {
    /// The figure that is compared for cases with this key.
    pub fn for_key(&self, key: &KeyRecord) -> Figure {
        match self {
            Figure::Usual if key.load.is_some() => Figure::Transactions,
            Figure::Usual => Figure::Settled,
            chosen => chosen.clone(),
        }
    }

    /// What the figure is, and whether more of it is better; [`Figure::Usual`] must have
    /// been made one by [`for_key`](Figure::for_key).
    pub fn metric(&self) -> Metric {
        match self {
            Figure::Transactions => Metric::TRANSACTIONS_PER_SECOND,
            _ => Metric::SECONDS,
        }
    }

    /// In words.
    pub fn name(&self) -> &str {
        match self {
            Figure::Usual => "seconds until settled, of loads transactions/s",
            Figure::Transactions => "transactions/s",
            Figure::Returned => "seconds until returned",
            Figure::Flushed => "seconds until flushed",
            Figure::Settled => "seconds until settled",
            Figure::Operation(name) => name,
        }
    }

    /// The figure of a case, in the unit of its metric; `None` where it was not measured to its end.
    pub fn of(&self, case: &CaseRecord) -> Option<f64> {
        if case.outcome != Outcome::Measured {
            return None;
        }
        match self {
            Figure::Usual => self.for_key(&case.case).of(case),
            Figure::Transactions => Some(case.load.as_ref()?.tps()).filter(|tps| *tps > 0.0),
            Figure::Returned => ends(case, |p| Some(p.ends?.returned)),
            Figure::Flushed => ends(case, |p| Some(p.ends?.flushed)),
            Figure::Settled => ends(case, |p| Some(p.ends?.settled)),
            Figure::Operation(name) => operation(case, name),
        }
    }
}

fn ends(case: &CaseRecord, end: impl Fn(&PhaseRecord) -> Option<EndRecord>) -> Option<f64> {
    let complete = |p: &PhaseRecord| p.completeness == Completeness::Complete;
    if case.phases.is_empty() || !case.phases.iter().all(complete) {
        return None;
    }
    case.phases
        .iter()
        .map(|phase| Some(end(phase)?.wall_ns as f64 / 1e9))
        .sum()
}

fn operation(case: &CaseRecord, name: &str) -> Option<f64> {
    let mut sum = None;
    let operations = case.phases.iter().flat_map(|p| &p.operations);
    for operation in operations.filter(|o| o.name == name) {
        if operation.completeness != Completeness::Complete {
            return None;
        }
        *sum.get_or_insert(0.0) += operation.wall_ns as f64 / 1e9;
    }
    sum
}
