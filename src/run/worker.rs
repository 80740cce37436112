//! The worker process: `mountmark worker` runs one workload of one case and tells its
//! events as lines of JSON. A crash, a kill or a leak stays in the case.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::engine::{Address, ServerWatch};
use crate::error::{Context, Error, Result};
use crate::host::{self, interrupt};
use crate::measure::{CpuTime, DeviceCounters};
use crate::target;
use crate::workload::{Bench, Event, Probe, ceiling, sqlbench, sync, tree};

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
}

/// The workload of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Work {
    /// A phase of sql-bench.
    Phase {
        name: String,
        options: sqlbench::Options,
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
enum Line {
    Event(Box<Event>),
    Done,
    Failed(Vec<String>),
}

/// Where a worker runs and what it writes to.
pub(super) struct Place<'a> {
    /// CPUs it may use; empty: all.
    pub cpus: &'a [usize],
    /// `cgroup.procs` it joins.
    pub cgroup: Option<PathBuf>,
    /// Its standard error.
    pub log: &'a Path,
}

/// A worker that failed, with the end of what it wrote to standard error.
#[derive(Debug)]
pub(super) struct WorkerFailed {
    causes: Vec<String>,
    pub log: Vec<String>,
}

impl WorkerFailed {
    /// The causes, outermost first.
    pub fn causes(&self) -> &[String] {
        &self.causes
    }
}

impl std::fmt::Display for WorkerFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.causes.join(": "))
    }
}

impl std::error::Error for WorkerFailed {}

/// Runs `task` in a worker and hands its events to `tell`.
///
/// # Errors
/// [`WorkerFailed`] with the worker's own causes or how it ended; an interrupt, after
/// the worker has been killed.
pub(super) fn run(task: &Task, place: &Place<'_>, tell: &mut dyn FnMut(&Event)) -> Result<()> {
    let mut worker = Worker(spawn(place)?);
    let mut input = worker.0.stdin.take().context("the worker has no input")?;
    // A worker that dies before it has read its task says so by its exit.
    let _written = serde_json::to_writer(&mut input, task);
    drop(input);
    let output = worker.0.stdout.take().context("the worker has no output")?;
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    let mut verdict = None;
    loop {
        wait_readable(&output)?;
        line.clear();
        if output.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        match serde_json::from_slice(&line) {
            Ok(Line::Event(event)) => tell(&event),
            Ok(Line::Done) => verdict = Some(Ok(())),
            Ok(Line::Failed(causes)) => verdict = Some(Err(causes)),
            Err(_) => break,
        }
    }
    let status = worker.end()?;
    let causes = match verdict {
        Some(Ok(())) if status.success() => return Ok(()),
        Some(Err(causes)) => causes,
        _ => vec![ending(status)],
    };
    Err(Error::new(WorkerFailed {
        causes,
        log: tail(place.log),
    }))
}

fn ending(status: ExitStatus) -> String {
    match status.signal().map(Signal::try_from) {
        Some(Ok(Signal::SIGKILL)) => {
            "the worker was killed (SIGKILL): by somebody, or by the kernel for want of memory"
                .to_string()
        }
        Some(Ok(signal)) => format!("the worker was ended by {signal}"),
        _ => format!("the worker ended without a result ({status})"),
    }
}

/// The last lines of a log.
pub(super) fn tail(log: &Path) -> Vec<String> {
    const LINES: usize = 20;
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(ToString::to_string).collect()
}

/// Waits for output or an interrupt.
fn wait_readable(output: &BufReader<impl AsFd + Read>) -> Result<()> {
    if !output.buffer().is_empty() {
        return Ok(());
    }
    loop {
        interrupt::check()?;
        let mut fds = [PollFd::new(output.get_ref().as_fd(), PollFlags::POLLIN)];
        // The time-out covers a signal that comes between the check and the wait.
        match poll(&mut fds, PollTimeout::from(200u8)) {
            Ok(0) | Err(nix::Error::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error).context("cannot wait for the worker"),
        }
    }
}

struct Worker(Child);

impl Worker {
    fn end(mut self) -> Result<ExitStatus> {
        self.0.wait().context("cannot wait for the worker")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // Its own process group: whatever it may have started goes with it.
            let group = Pid::from_raw(-(self.0.id() as i32));
            let _already_gone = kill(group, Signal::SIGKILL);
            let _reaped = self.0.wait();
        }
    }
}

fn spawn(place: &Place<'_>) -> Result<Child> {
    let log = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .open(place.log)
        .with_context(|| format!("cannot write {}", place.log.display()))?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("mountmark")
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .process_group(0);
    let join = match &place.cgroup {
        Some(procs) => Some(
            OpenOptions::new()
                .write(true)
                .open(procs)
                .with_context(|| format!("cannot open {}", procs.display()))?,
        ),
        None => None,
    };
    let cpus = place.cpus.to_vec();
    let parent = std::process::id();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            if let Some(mut procs) = join.as_ref() {
                procs.write_all(b"0")?;
            }
            host::pin(&cpus)?;
            die_with(parent)
        });
    }
    command.spawn().context("cannot start the worker")
}

/// Asks for SIGKILL when the parent's thread ends, and looks whether it has already.
fn die_with(parent: u32) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    if nix::unistd::getppid().as_raw() as u32 != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
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

fn perform(task: &Task, tell: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
    let mut probe = TargetProbe::open(task)?;
    match &task.workload {
        Work::Phase { name, options } => {
            let mut bench = Bench::new(&task.address, &mut probe, tell, options.time_limit());
            sqlbench::run(name, &mut bench, options)
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

/// A step is one call, which is not cut short.
const NO_LIMIT: Duration = Duration::MAX;

/// Watches the target from within the worker.
struct TargetProbe {
    target: Option<(PathBuf, File, target::DirtyGauge)>,
    device: Option<target::BlockStat>,
    server: Option<ServerWatch>,
}

impl TargetProbe {
    fn open(task: &Task) -> Result<Self> {
        let target = match &task.target {
            None => None,
            Some(dir) => {
                let opened =
                    File::open(dir).with_context(|| format!("cannot open {}", dir.display()))?;
                Some((dir.clone(), opened, target::DirtyGauge::open(dir)))
            }
        };
        let device = match &task.device {
            None => None,
            Some(device) => Some(target::BlockStat::open(device)?),
        };
        Ok(TargetProbe {
            target,
            device,
            server: task.server.clone(),
        })
    }
}

impl Probe for TargetProbe {
    fn device(&mut self) -> Option<DeviceCounters> {
        self.device.as_mut()?.read().ok()
    }

    fn server_cpu(&mut self) -> Option<CpuTime> {
        self.server.as_ref()?.cpu()
    }

    fn server_memory(&mut self) -> Option<u64> {
        self.server.as_ref()?.memory()
    }

    fn dirty_bytes(&mut self) -> Option<u64> {
        self.target.as_ref()?.2.read()
    }

    fn sync(&mut self) -> Result<()> {
        match &self.target {
            Some((dir, file, _)) => rustix::fs::syncfs(file)
                .with_context(|| format!("syncfs of {} failed", dir.display())),
            None => Ok(()),
        }
    }
}
