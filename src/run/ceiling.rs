//! Measures the harness itself once a run, and says where a result comes near it.

use std::collections::BTreeMap;
use std::path::Path;

use super::crew::{self, Place, Seen, WAIT};
use super::worker::{Task, Work};
use crate::engine::{Address, null};
use crate::error::{Context, Error, Result};
use crate::plan::Plan;
use crate::record::{CaseRecord, Ceiling, LoadCeiling};
use crate::workload::Event;
use crate::workload::load::{Cell, Options};

/// A result above this share of the ceiling carries a remark.
const NEAR: f64 = 0.8;

/// What the harness can do in a worker on `cpus`: a statement that costs the engine nothing,
/// and for each number of clients of `plan` its load on an engine that answers at once.
///
/// # Errors
/// When the worker fails: then no case could be measured either.
pub(super) fn measure(plan: &Plan, cpus: &[usize], log: &Path) -> Result<Ceiling> {
    let mut ceiling = statements(cpus, log)?;
    let Some(options) = &plan.load else {
        return Ok(ceiling);
    };
    let cells = plan.cases.iter().filter_map(|case| case.key.load);
    let by_clients: BTreeMap<u32, Cell> = cells.map(|cell| (cell.clients, cell)).collect();
    for (clients, cell) in by_clients {
        // A script that needs true answers (\gset) has no ceiling.
        let tps = match options.for_ceiling(cell)? {
            Some(options) => load(options, cell, cpus, log).unwrap_or_default(),
            None => None,
        };
        ceiling
            .loads
            .extend(tps.map(|tps| LoadCeiling { clients, tps }));
    }
    Ok(ceiling)
}

fn statements(cpus: &[usize], log: &Path) -> Result<Ceiling> {
    let mut found = None;
    run(Work::Ceiling, cpus, log, &mut |event| {
        if let Event::OperationFinished(operation) = event {
            found = Some(Ceiling {
                statements: operation.statements,
                ns_per_statement: operation.wall_ns as f64 / operation.statements as f64,
                loads: Vec::new(),
            });
        }
    })?;
    found.context("the worker measured nothing")
}

/// Transactions a second.
fn load(options: Options, cell: Cell, cpus: &[usize], log: &Path) -> Result<Option<f64>> {
    let mut found = None;
    run(Work::Load { options, cell }, cpus, log, &mut |event| {
        if let Event::LoadFinished(result) = event
            && result.wall_ns > 0
        {
            found = Some(result.committed as f64 * 1e9 / result.wall_ns as f64);
        }
    })?;
    Ok(found)
}

fn run(workload: Work, cpus: &[usize], log: &Path, hear: &mut dyn FnMut(&Event)) -> Result<()> {
    let task = Task {
        workload,
        address: Address::Null {
            script: null::Script::default(),
        },
        target: None,
        device: None,
        server: None,
        duet: None,
    };
    let place = Place {
        cpus: cpus.to_vec(),
        cgroups: Vec::new(),
        log: log.to_path_buf(),
    };
    crew::run(&[(task, place)], &mut |seen| {
        if let Seen::Event(_, event) = seen {
            hear(event);
        }
        WAIT
    })
    .map_err(|(_, error): (usize, Error)| error)
    .context("the worker cannot run here")
}

/// Where the figures of `record` say as much about mountmark as about the database. The
/// engine that pretends is the ceiling and gets no remark.
pub(super) fn remarks(record: &CaseRecord, ceiling: &Ceiling) -> Vec<String> {
    let kind = record.engine.as_ref().map(|engine| engine.kind.as_str());
    if kind == Some("null") {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    let clients = record.case.load.map(|load| load.clients);
    let own = ceiling
        .loads
        .iter()
        .find(|own| Some(own.clients) == clients);
    if let (Some(load), Some(own)) = (&record.load, own)
        && load.tps() > own.tps * NEAR
    {
        remarks.push(format!(
            "{:.0} transactions/s are within 20 % of the {:.0} that mountmark itself can do with \
             {} clients on an engine that answers at once",
            load.tps(),
            own.tps,
            own.clients
        ));
    }
    let least_ns = ceiling.ns_per_statement / NEAR;
    for operation in record.phases.iter().flat_map(|phase| &phase.operations) {
        let statements = operation.statements.unwrap_or(0);
        // Files have no statements; their steps are calls of the kernel.
        if kind.is_some()
            && statements > 0
            && operation.wall_ns as f64 / (statements as f64) < least_ns
        {
            remarks.push(format!(
                "operation {}: its statements took hardly longer than the {:.0} ns that mountmark \
                 itself needs for one",
                operation.name, ceiling.ns_per_statement
            ));
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    #[test]
    fn a_load_near_the_ceiling_is_told_so() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
        let mut case = record::load(&dir).expect("the example").cases.remove(0);
        let mut ceiling = Ceiling {
            statements: 1,
            ns_per_statement: 0.001,
            loads: Vec::new(),
        };
        assert_eq!(remarks(&case, &ceiling), Vec::<String>::new());
        ceiling.ns_per_statement = 1e12;
        let said = remarks(&case, &ceiling);
        assert!(said[0].contains("hardly longer"), "{said:?}");
        if let Some(engine) = &mut case.engine {
            engine.kind = "null".to_string();
        }
        assert_eq!(remarks(&case, &ceiling), Vec::<String>::new());
    }
}
