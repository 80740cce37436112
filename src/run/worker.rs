//! The worker process: `mountmark worker` runs one workload of one case and tells its
//! events as lines of JSON. A crash, a kill or a leak stays in the case.

use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::TargetProbe;
use crate::engine::{Address, ServerWatch};
use crate::error::{Context, Result};
use crate::workload::{Bench, Duet, Event, Gate, ceiling, load, sqlbench, sync, tree};

/// What a worker is to do; crosses its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub workload: Work,
    pub address: Address,
    /// The directory on the target, for syncfs; `None` leaves the ends alike.
    pub target: Option<PathBuf>,
    /// The target's block device.
    pub device: Option<PathBuf>,
    /// Where the server's CPU time and memory can be read.
    pub server: Option<ServerWatch>,
    /// Its side of a duet; `None` alone.
    pub duet: Option<Duet>,
}

/// The workload of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Work {
    /// A phase of sql-bench.
    Phase {
        name: String,
        options: sqlbench::Options,
    },
    /// A load.
    Load {
        options: load::Options,
        cell: load::Cell,
    },
    /// Steps on a tree of files.
    Tree(tree::Task),
    /// Calls that write to the device.
    Sync(sync::Task),
    /// How many statements a second the harness itself can do.
    Ceiling,
}

/// What a worker says, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Event(Box<Event>),
    Done,
    Failed(Vec<String>),
}

/// The worker's side: reads its task, runs it, tells its events and how it ended.
///
/// # Errors
/// When it was not started by mountmark, or nobody reads what it tells.
pub fn child() -> Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let task: Task = serde_json::from_str(&text)
        .context("'mountmark worker' is started by mountmark itself, with a task on its input")?;
    let mut output = BufWriter::new(io::stdout().lock());
    let mut say = |line: &Line| -> Result<()> {
        serde_json::to_writer(&mut output, line)?;
        output.write_all(b"\n")?;
        output.flush()?;
        Ok(())
    };
    match perform(&task, &mut |event| say(&Line::Event(Box::new(event)))) {
        Ok(()) => say(&Line::Done),
        Err(error) => say(&Line::Failed(crate::error::chain(&error))),
    }
}

/// A step is one call, which is not cut short.
const NO_LIMIT: Duration = Duration::MAX;

fn perform(task: &Task, tell: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
    let mut probe = TargetProbe::open(task)?;
    match &task.workload {
        Work::Phase { name, options } => {
            let limit = options.time_limit();
            let gate = Gate::new(task.duet.as_ref())?;
            let mut bench = Bench::new(&task.address, &mut probe, tell, limit).with_gate(gate);
            sqlbench::run(name, &mut bench, options)
        }
        Work::Load { options, cell } => {
            let limit = sqlbench::Options::default().time_limit();
            let gate = Gate::new(task.duet.as_ref())?;
            let mut bench = Bench::new(&task.address, &mut probe, tell, limit).with_gate(gate);
            load::run(&mut bench, options, *cell)
        }
        Work::Tree(tree) => {
            let mut bench = Bench::new(&task.address, &mut probe, tell, NO_LIMIT);
            tree::run(&mut bench, tree)
        }
        Work::Sync(sync) => {
            let mut bench = Bench::new(&task.address, &mut probe, tell, sync::TIME_LIMIT);
            sync::run(&mut bench, sync)
        }
        Work::Ceiling => {
            let limit = sqlbench::Options::default().time_limit();
            ceiling(&mut Bench::new(&task.address, &mut probe, tell, limit))
        }
    }
}
