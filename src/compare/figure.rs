//! Which figure of a case is compared.

use super::Metric;
use crate::record::{CaseRecord, Completeness, EndRecord, KeyRecord, Outcome, PhaseRecord};

/// A figure that every measured case of a workload has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Of a load transactions a second; of everything else seconds, until settled or until
    /// returned.
    Mixed {
        /// Until settled.
        settled: bool,
    },
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
    /// What is compared where the user says nothing: transactions a second of loads; of
    /// everything else *settled*, or *returned* where no case tells when it had settled,
    /// as in what was imported.
    pub fn usual<'c>(cases: impl IntoIterator<Item = &'c CaseRecord> + Clone) -> Figure {
        let load = |c: &&CaseRecord| c.case.load.is_some();
        let loads = cases.clone().into_iter().filter(load).count();
        let mut others = cases.into_iter().filter(|c| !load(c)).peekable();
        if loads > 0 && others.peek().is_none() {
            return Figure::Transactions;
        }
        let mut ends = others
            .flat_map(|c| &c.phases)
            .filter_map(|p| p.ends)
            .peekable();
        let settled = ends.peek().is_none() || ends.any(|e| e.settled.is_some());
        match (loads, settled) {
            (0, true) => Figure::Settled,
            (0, false) => Figure::Returned,
            _ => Figure::Mixed { settled },
        }
    }

    /// The figure that is compared for cases with this key.
    pub fn for_key(&self, key: &KeyRecord) -> Figure {
        match self {
            Figure::Mixed { .. } if key.load.is_some() => Figure::Transactions,
            Figure::Mixed { settled: true } => Figure::Settled,
            Figure::Mixed { settled: false } => Figure::Returned,
            chosen => chosen.clone(),
        }
    }

    /// What the figure is, and whether more of it is better; [`Figure::Mixed`] must have
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
            Figure::Mixed { settled: true } => "seconds until settled, of loads transactions/s",
            Figure::Mixed { settled: false } => "seconds until returned, of loads transactions/s",
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
            Figure::Mixed { .. } => self.for_key(&case.case).of(case),
            Figure::Transactions => Some(case.load.as_ref()?.tps()).filter(|tps| *tps > 0.0),
            Figure::Returned => ends(case, |p| Some(p.ends?.returned)),
            Figure::Flushed => ends(case, |p| p.ends?.flushed),
            Figure::Settled => ends(case, |p| p.ends?.settled),
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
