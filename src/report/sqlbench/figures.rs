//! The figures of one RUN file: medians over the rounds, extrapolated where the time limit
//! ended an operation.

use super::sets::CaseSet;
use crate::measure::stats::median;
use crate::record::{CaseRecord, Completeness, OperationRecord, Outcome, PhaseRecord};

/// Wall time and CPU of the client, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    pub wall: f64,
    pub user: f64,
    pub system: f64,
}

impl Times {
    fn of(wall_ns: u64, user_ns: u64, system_ns: u64) -> Times {
        let seconds = |ns: u64| ns as f64 / 1e9;
        Times {
            wall: seconds(wall_ns),
            user: seconds(user_ns),
            system: seconds(system_ns),
        }
    }

    pub fn plus(self, other: Times) -> Times {
        Times {
            wall: self.wall + other.wall,
            user: self.user + other.user,
            system: self.system + other.system,
        }
    }

    fn times(self, factor: f64) -> Times {
        Times {
            wall: self.wall * factor,
            user: self.user * factor,
            system: self.system * factor,
        }
    }

    /// Each median by itself.
    fn medians(all: &[Times]) -> Times {
        let of = |pick: fn(&Times) -> f64| {
            median(&all.iter().map(pick).collect::<Vec<f64>>()).unwrap_or_default()
        };
        Times {
            wall: of(|t| t.wall),
            user: of(|t| t.user),
            system: of(|t| t.system),
        }
    }
}

/// One printed operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub name: String,
    pub count: u64,
    pub rows: Option<u64>,
    pub times: Times,
    /// `+`, estimated; `?`, an imported result that was marked as wrong. A line that an
    /// imported summary added up has the marks of all.
    pub flags: String,
    /// False where the suite prints it so that its summary does not see it.
    pub summed: bool,
}

/// One phase.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phase {
    pub name: String,
    /// When its first round began.
    pub date: String,
    pub end: End,
    pub lines: Vec<Line>,
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Total(Times, bool),
    Skipped(String),
    Failed(String),
}

/// The phases of a set in the suite's order.
pub(super) fn phases(set: &CaseSet<'_>) -> Vec<Phase> {
    set.phases()
        .map(|(name, rounds)| phase(name, rounds))
        .collect()
}

/// The operations of an imported summary that belong to several phases.
pub(super) fn rest(set: &CaseSet<'_>) -> Vec<Line> {
    lines(&measured(set.rest()))
}

/// The phase of each round that was measured to its end.
fn measured<'r>(rounds: &[&'r CaseRecord]) -> Vec<&'r PhaseRecord> {
    rounds
        .iter()
        .filter(|c| c.outcome == Outcome::Measured)
        .filter_map(|c| c.phases.first())
        .collect()
}

fn phase(name: &str, rounds: &[&CaseRecord]) -> Phase {
    let measured = measured(rounds);
    let totals: Vec<Times> = measured.iter().filter_map(|p| total(p)).collect();
    let limited = |p: &&PhaseRecord| p.completeness == Completeness::TimeLimited;
    let end = match totals.as_slice() {
        [] => without(rounds),
        totals => End::Total(Times::medians(totals), measured.iter().any(limited)),
    };
    Phase {
        name: name.to_string(),
        date: rounds.first().map_or(String::new(), |c| date(&c.started)),
        end,
        lines: match measured.is_empty() {
            false => lines(&measured),
            true => lines(
                &rounds
                    .last()
                    .map_or(Vec::new(), |c| c.phases.iter().collect()),
            ),
        },
    }
}

/// Date and time with a blank between them, as the suite prints them.
pub(super) fn date(utc: &str) -> String {
    utc.replace('T', " ").replace('Z', "")
}

/// Why a phase has no total.
fn without(rounds: &[&CaseRecord]) -> End {
    match rounds.last().map(|c| &c.outcome) {
        Some(Outcome::Skipped { reason, .. }) => End::Skipped(reason.clone()),
        Some(Outcome::Failed { causes, .. }) => End::Failed(causes.join(": ")),
        Some(Outcome::Interrupted { stage }) => End::Failed(format!("interrupted in {stage}")),
        Some(Outcome::Measured) | None => End::Failed("it has no total time".to_string()),
    }
}

/// The total of a phase, with what its operations would have taken longer.
fn total(phase: &PhaseRecord) -> Option<Times> {
    let client = phase.client.unwrap_or_default();
    let wall = phase.ends?.returned.wall_ns;
    let total = Times::of(wall, client.user_ns, client.system_ns);
    let more = phase.operations.iter().map(|o| {
        let elapsed = elapsed(o);
        extrapolated(o).plus(elapsed.times(-1.0))
    });
    Some(more.fold(total, Times::plus))
}

fn elapsed(operation: &OperationRecord) -> Times {
    let client = operation.client;
    Times::of(operation.wall_ns, client.user_ns, client.system_ns)
}

/// The suite's rule: elapsed / done × planned, for wall and CPU alike. An imported figure
/// that is estimated has been extrapolated already: what was done is not known.
fn extrapolated(operation: &OperationRecord) -> Times {
    match (operation.completeness, operation.count) {
        (Completeness::TimeLimited, 1..) => {
            elapsed(operation).times(operation.planned as f64 / operation.count as f64)
        }
        _ => elapsed(operation),
    }
}

/// The lines of a phase: those of the first round, each with the medians of all rounds
/// that have it.
fn lines(rounds: &[&PhaseRecord]) -> Vec<Line> {
    let Some(first) = rounds.first() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (at, operation) in first.operations.iter().enumerate() {
        // Some names stand twice in a phase: the second is matched with the second.
        let earlier = first.operations[..at].iter();
        let nth = earlier.filter(|o| o.name == operation.name).count();
        let all: Vec<&OperationRecord> = rounds
            .iter()
            .filter_map(|p| {
                let mut of_name = p.operations.iter().filter(|o| o.name == operation.name);
                of_name.nth(nth)
            })
            .collect();
        lines.push(line(operation, &all));
    }
    lines
}

fn line(first: &OperationRecord, all: &[&OperationRecord]) -> Line {
    let times: Vec<Times> = all.iter().map(|o| extrapolated(o)).collect();
    let limited = |o: &&OperationRecord| o.completeness == Completeness::TimeLimited;
    Line {
        name: first.name.clone(),
        // An estimated line shows the planned count.
        count: match limited(&first) {
            true => first.planned,
            false => first.count,
        },
        rows: first.rows,
        times: Times::medians(&times),
        flags: flags(all),
        summed: true,
    }
}

/// The marks of the round that has most of them.
fn flags(all: &[&OperationRecord]) -> String {
    let own = |o: &&OperationRecord| match (o.completeness, o.flags.as_str()) {
        (Completeness::TimeLimited, "") => "+".to_string(),
        (_, flags) => flags.to_string(),
    };
    let longest = all.iter().map(own).max_by_key(String::len);
    longest.unwrap_or_default()
}
