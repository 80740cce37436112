//! Which figure of a case is compared.

use super::Metric;
use crate::record::{CaseRecord, Completeness, EndRecord, Outcome, PhaseRecord};

/// A figure that every measured case of a workload has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
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
    /// What the figure is, and whether more of it is better.
    pub fn metric(&self) -> Metric {
        Metric::SECONDS
    }

    /// In words.
    pub fn name(&self) -> &str {
        match self {
            Figure::Returned => "seconds until returned",
            Figure::Flushed => "seconds until flushed",
            Figure::Settled => "seconds until settled",
            Figure::Operation(name) => name,
        }
    }

    /// The figure of a case, in seconds; `None` where it was not measured to its end.
    pub fn of(&self, case: &CaseRecord) -> Option<f64> {
        if case.outcome != Outcome::Measured {
            return None;
        }
        match self {
            Figure::Returned => ends(case, |p| Some(p.ends?.returned)),
            Figure::Flushed => ends(case, |p| Some(p.ends?.flushed)),
            Figure::Settled => ends(case, |p| Some(p.ends?.settled)),
            Figure::Operation(name) => operation(case, name),
        }
    }
}

fn ends(case: &CaseRecord, end: impl Fn(&PhaseRecord) -> Option<EndRecord>) -> Option<f64> {
    // Without the calls that were refused, a sum is another sum.
    let complete = |p: &PhaseRecord| {
        p.completeness == Completeness::Complete && p.operations.iter().all(|o| o.refused.is_none())
    };
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
        if operation.completeness != Completeness::Complete || operation.refused.is_some() {
            return None;
        }
        *sum.get_or_insert(0.0) += operation.wall_ns as f64 / 1e9;
    }
    sum
}
