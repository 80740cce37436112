//! Measures the harness itself once a run.

use std::path::Path;

use super::crew::{self, Place, Seen, WAIT};
use super::worker::{Task, Work};
use crate::engine::{Address, null};
use crate::error::{Context, Result};
use crate::record::Ceiling;
use crate::workload::Event;

/// The cost of a statement that costs the engine nothing, in a worker on `cpus`.
///
/// # Errors
/// When the worker fails: then no case could be measured either.
pub(super) fn measure(cpus: &[usize], log: &Path) -> Result<Ceiling> {
    let task = Task {
        workload: Work::Ceiling,
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
    let mut found = None;
    crew::run(&[(task, place)], &mut |seen| {
        if let Seen::Event(_, Event::OperationFinished(operation)) = seen {
            found = Some(Ceiling {
                statements: operation.statements,
                ns_per_statement: operation.wall_ns as f64 / operation.statements as f64,
            });
        }
        WAIT
    })
    .map_err(|(_, error)| error)
    .context("the worker cannot run here")?;
    found.context("the worker measured nothing")
}
