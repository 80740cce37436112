//! The bare calls by which databases make data durable, without a database: what a file
//! system, its options and the device below make of them.
//!
//! Every shape is an operation; a call of it is one or two writes and what makes them
//! durable, and its latency is all of that. Opening files, making and preparing them, a
//! first call that shows whether the kernel takes the shape at all, and a `syncfs` that
//! leaves nothing of the shape before, are outside the windows. So are data: nothing is
//! read back.
//!
//! The phase has one end three times: the time in all windows together, the bare flushes
//! of the device left out.

mod buffer;
mod calls;
mod logs;
mod options;

pub use options::{Options, WORKLOAD};

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Bench;
use super::event::{EndTime, Ends, Event, OperationResult, PhaseResult};
use super::operation::Window;
use crate::error::{Context, Result};
use crate::measure::CpuTime;

/// After this a shape is cut short.
pub const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The operation that is nothing but a flush of the device.
pub const DEVICE_FLUSH: &str = "device flush";

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Calls of each shape.
    pub calls: u64,
    /// The directory on the target.
    pub data: PathBuf,
    /// The target's block device, where the target has it to itself: it can be flushed
    /// bare then, for comparison.
    pub device: Option<PathBuf>,
}

/// A shape of calls, open and ready.
trait Shape {
    /// Bytes that a call writes, those of the file alone.
    fn bytes(&self) -> u64;
    /// One call.
    fn call(&mut self) -> io::Result<()>;
}

/// Measures every shape in turn.
///
/// # Errors
/// The kernel's words, but for a shape that it does not take: that is a result.
pub fn run(bench: &mut Bench<'_>, task: &Task) -> Result<()> {
    bench.tell(Event::PhaseStarted {
        phase: WORKLOAD.to_string(),
    })?;
    flush_bare(bench, task)?;
    let mut total = Total::default();
    let file = calls::prepare(&task.data).context("cannot prepare the file to write over")?;
    for call in calls::all() {
        let shape = call.open(&task.data);
        total.add(measure(bench, &call.to_string(), task.calls, shape)?);
    }
    std::fs::remove_file(&file)?;
    for (name, open) in logs::ALL {
        total.add(measure(bench, name, task.calls, open(&task.data))?);
    }
    flush_bare(bench, task)?;
    bench.tell(Event::PhaseFinished(total.finished()))
}

/// At the beginning and at the end, as the machine may be faster at one of them.
fn flush_bare(bench: &mut Bench<'_>, task: &Task) -> Result<()> {
    let Some(device) = &task.device else {
        return Ok(());
    };
    let file = File::open(device).with_context(|| format!("cannot open {}", device.display()))?;
    measure(bench, DEVICE_FLUSH, task.calls, Ok(Box::new(Flush(file)))).map(drop)
}

/// Measures one shape; `None` when the kernel does not take it.
fn measure(
    bench: &mut Bench<'_>,
    name: &str,
    calls: u64,
    shape: io::Result<Box<dyn Shape>>,
) -> Result<Option<Window>> {
    let ready = shape.and_then(|mut shape| shape.call().map(|()| shape));
    let mut shape = match ready {
        Ok(shape) => shape,
        Err(error) if is_refusal(&error) => {
            let result = refused(name, calls, &error);
            bench.tell(Event::OperationFinished(Box::new(result)))?;
            return Ok(None);
        }
        Err(error) => return Err(error).with_context(|| format!("cannot begin '{name}'")),
    };
    bench.sync()?;
    let mut op = bench.start(name, calls)?;
    let bytes = shape.bytes();
    for call in 0..calls {
        op.call(bytes, || shape.call())?;
        if op.over_limit(call + 1) {
            break;
        }
    }
    op.close().map(Some)
}

/// What a kernel says that does not know a flag, or a file system that has no use for it.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS)
    )
}

fn refused(name: &str, planned: u64, error: &io::Error) -> OperationResult {
    OperationResult {
        name: name.to_string(),
        count: 0,
        planned,
        rows: None,
        statements: 0,
        rows_received: 0,
        bytes: None,
        refused: Some(error.to_string()),
        wall_ns: 0,
        client: CpuTime::default(),
        server: None,
        device: None,
        slices: Vec::new(),
        latency: None,
        time_limited: false,
    }
}

/// A flush of the device and nothing else: the data under it was written long ago.
struct Flush(File);

impl Shape for Flush {
    fn bytes(&self) -> u64 {
        0
    }

    fn call(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// What all windows held together.
#[derive(Default)]
struct Total {
    end: EndTime,
    client: CpuTime,
}

impl Total {
    fn add(&mut self, window: Option<Window>) {
        let Some(window) = window else {
            return;
        };
        self.end.wall_ns += window.wall_ns;
        self.client = self.client + window.client;
        if let Some(device) = window.device {
            let sum = self.end.device.get_or_insert_default();
            sum.read_bytes += device.read_bytes;
            sum.written_bytes += device.written_bytes;
            sum.discarded_bytes += device.discarded_bytes;
            sum.flushes += device.flushes;
        }
    }

    fn finished(self) -> PhaseResult {
        PhaseResult {
            name: WORKLOAD.to_string(),
            ends: Ends {
                returned: self.end,
                flushed: self.end,
                settled: self.end,
                dirty_bytes: None,
            },
            client: self.client,
            server: None,
            machine: None,
            duet: None,
            server_memory_bytes: None,
            settings: Default::default(),
        }
    }
}

/// A file of a shape, removed with it.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new(dir: &Path, name: &str) -> Self {
        Scratch {
            path: dir.join(name),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _gone_already = std::fs::remove_file(&self.path);
    }
}
