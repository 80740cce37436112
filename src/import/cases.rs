//! Cases out of what the files say.

use std::path::Path;

use super::assemble::Circumstances;
use super::line::{Operation, Row, Times};
use super::phase_file::PhaseFile;
use super::run_file::PhaseEnd;
use super::{names, phases};
use crate::record::*;

/// Workload of the operations that a RUN file adds up over several phases.
const WHOLE: &str = "sql-bench";

/// Remarks that differences below a second say nothing.
pub(super) fn mark_whole_seconds(path: &Path, cases: &mut [CaseRecord]) {
    for case in cases {
        case.remarks.push(format!(
            "{}: its wall times are whole seconds; smaller differences say nothing",
            names::file_name(path)
        ));
    }
}

/// The case of a phase whose own output there is.
pub(super) fn of_phase(found: &Circumstances, path: &Path, file: &PhaseFile) -> CaseRecord {
    let operations: Vec<OperationRecord> = file
        .operations
        .iter()
        .map(|(operation, flags)| of_line(&file.phase, operation, flags))
        .collect();
    let mut phase = blank_phase(&file.phase);
    phase.operations = operations;
    let outcome = match (&file.total, &file.skipped) {
        (Some((times, estimated)), _) => {
            finish(&mut phase, times, *estimated);
            Outcome::Measured
        }
        (None, Some(words)) => skipped(words),
        (None, None) => failed("its output ends without a total time"),
    };
    let mut case = found.case(&file.phase, outcome, phase);
    if let Some(date) = &file.date {
        case.started.clone_from(date);
    }
    if file.in_whole_seconds() {
        mark_whole_seconds(path, std::slice::from_mut(&mut case));
    }
    case
}

/// The case of a phase of which only the summary's line is known.
pub(super) fn of_end(found: &Circumstances, name: &str, end: &PhaseEnd) -> CaseRecord {
    let mut phase = blank_phase(name);
    let outcome = match end {
        PhaseEnd::Total(times, estimated) => {
            finish(&mut phase, times, *estimated);
            Outcome::Measured
        }
        PhaseEnd::Skipped(words) => skipped(words),
        PhaseEnd::Failed(words) => failed(words),
    };
    found.case(name, outcome, phase)
}

fn skipped(words: &str) -> Outcome {
    let reason = words.strip_prefix("Test skipped because ").unwrap_or(words);
    Outcome::Skipped {
        reason: reason.to_string(),
        remedy: "it was skipped when the suite ran".to_string(),
    }
}

fn failed(words: &str) -> Outcome {
    Outcome::Failed {
        stage: "work".to_string(),
        causes: vec![words.to_string()],
        log: Vec::new(),
    }
}

/// Gives the rows of a RUN file to the phases that they belong to; those that several
/// phases may have had a part in become a case of their own.
pub(super) fn distribute<'r>(
    found: &Circumstances,
    rows: impl Iterator<Item = &'r Row>,
    cases: &mut Vec<CaseRecord>,
) {
    let mut whole = blank_phase(WHOLE);
    for row in rows {
        let operation = of_row(row);
        let own = phases::of(&row.name);
        let own = own.and_then(|name| cases.iter_mut().find(|c| c.case.workload == name));
        match own.and_then(|case| case.phases.first_mut()) {
            Some(phase) => phase.operations.push(operation),
            None => whole.operations.push(operation),
        }
    }
    if whole.operations.is_empty() {
        return;
    }
    let measured = cases.iter().filter(|c| c.outcome == Outcome::Measured);
    let phases: Vec<&PhaseRecord> = measured.flat_map(|c| &c.phases).collect();
    let ends = phases.iter().filter_map(|p| p.ends);
    let sum = ends.map(|e| e.returned.wall_ns).sum();
    whole.ends = Some(returned(sum));
    whole.completeness = match phases
        .iter()
        .all(|p| p.completeness == Completeness::Complete)
    {
        true => Completeness::Complete,
        false => Completeness::TimeLimited,
    };
    cases.push(found.case(WHOLE, Outcome::Measured, whole));
}

/// A phase of which nothing is known yet.
pub(super) fn blank_phase(name: &str) -> PhaseRecord {
    PhaseRecord {
        duet: None,
        machine: None,
        sampled: None,
        name: name.to_string(),
        completeness: Completeness::Interrupted,
        ends: None,
        client: None,
        server: None,
        server_memory_bytes: None,
        operations: Vec::new(),
    }
}

fn finish(phase: &mut PhaseRecord, times: &Times, estimated: bool) {
    phase.ends = Some(returned(times.wall.ns));
    phase.client = times.cpu;
    phase.completeness = completeness(estimated);
}

/// The one end that imported figures have.
pub(super) fn returned(wall_ns: u64) -> EndsRecord {
    EndsRecord {
        returned: EndRecord {
            wall_ns,
            device: None,
        },
        flushed: None,
        settled: None,
        dirty_bytes: None,
    }
}

fn completeness(estimated: bool) -> Completeness {
    match estimated {
        true => Completeness::TimeLimited,
        false => Completeness::Complete,
    }
}

fn of_line(phase: &str, line: &Operation, flags: &str) -> OperationRecord {
    // The two drops of `insert` have a blank in their name where the suite prints them.
    let name = match (phase, line.name.as_str()) {
        ("insert", "drop_table") => "drop table",
        (_, name) => name,
    };
    OperationRecord {
        slices: Vec::new(),
        rows: line.rows,
        ..operation(name, line.count, &line.times, flags)
    }
}

fn of_row(row: &Row) -> OperationRecord {
    operation(&row.name, row.count, &row.times, &row.flags)
}

fn operation(name: &str, count: u64, times: &Times, flags: &str) -> OperationRecord {
    OperationRecord {
        slices: Vec::new(),
        name: name.to_string(),
        completeness: completeness(flags.contains('+')),
        count,
        planned: count,
        rows: None,
        statements: None,
        rows_received: None,
        bytes: None,
        refused: None,
        flags: flags.to_string(),
        wall_ns: times.wall.ns,
        client: times.cpu.unwrap_or_default(),
        server: None,
        device: None,
        latency: None,
    }
}
