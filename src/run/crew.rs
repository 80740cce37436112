//! The orchestrator's side of the workers: starts one, or the two of a duet, hands on what
//! they tell, and ends them.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::worker::{Line, Task};
use crate::error::{Context, Error, Result};
use crate::host::{self, interrupt};
use crate::workload::Event;

/// Where a worker runs and what it writes to.
pub(super) struct Place {
    /// CPUs it may use; empty: all.
    pub cpus: Vec<usize>,
    /// `cgroup.procs` files it joins.
    pub cgroups: Vec<PathBuf>,
    /// Its standard error.
    pub log: PathBuf,
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

/// What [`run`] tells.
pub(super) enum Seen<'a> {
    /// The worker of this task has told something.
    Event(usize, &'a Event),
    /// Time has passed.
    Time,
}

/// The longest that is waited before looking for a signal.
pub(super) const WAIT: Duration = Duration::from_millis(200);

/// Runs the tasks at the same time, a worker each, and hands what they tell to `watch`,
/// which is also called each time as much time has passed as it asked for.
///
/// # Errors
/// The number of the task at fault and [`WorkerFailed`] with the worker's own causes or
/// how it ended; an interrupt. Then the other workers have been killed.
pub(super) fn run(
    tasks: &[(Task, Place)],
    watch: &mut dyn FnMut(Seen<'_>) -> Duration,
) -> Result<(), (usize, Error)> {
    let mut crew = Vec::new();
    for (number, (task, place)) in tasks.iter().enumerate() {
        crew.push(Member::start(task, place).map_err(|e| (number, e))?);
    }
    while let Some(number) = wait_readable(&crew, &mut || watch(Seen::Time))? {
        let member = &mut crew[number];
        match member.listen() {
            Ok(Some(event)) => drop(watch(Seen::Event(number, &event))),
            Ok(None) => {}
            Err(error) => return Err((number, error)),
        }
    }
    Ok(())
}

/// One worker at work.
struct Member {
    worker: Worker,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    verdict: Option<Result<(), Vec<String>>>,
    log: PathBuf,
    ended: bool,
}

impl Member {
    fn start(task: &Task, place: &Place) -> Result<Self> {
        let mut worker = Worker(spawn(place)?);
        let mut input = worker.0.stdin.take().context("the worker has no input")?;
        // A worker that dies before it has read its task says so by its exit.
        let _written = serde_json::to_writer(&mut input, task);
        drop(input);
        let output = worker.0.stdout.take().context("the worker has no output")?;
        Ok(Member {
            worker,
            output: BufReader::new(output),
            line: Vec::new(),
            verdict: None,
            log: place.log.clone(),
            ended: false,
        })
    }

    /// Takes one line; an event, if it is one.
    fn listen(&mut self) -> Result<Option<Event>> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            self.ended = true;
            return self.end().map(|()| None);
        }
        match serde_json::from_slice(&self.line) {
            Ok(Line::Event(event)) => return Ok(Some(*event)),
            Ok(Line::Done) => self.verdict = Some(Ok(())),
            Ok(Line::Failed(causes)) => self.verdict = Some(Err(causes)),
            Err(error) => return Err(error).context("the worker says what nobody understands"),
        }
        Ok(None)
    }

    fn end(&mut self) -> Result<()> {
        let status = self.worker.0.wait().context("cannot wait for the worker")?;
        let causes = match self.verdict.take() {
            Some(Ok(())) if status.success() => return Ok(()),
            Some(Err(causes)) => causes,
            _ => vec![ending(status)],
        };
        Err(Error::new(WorkerFailed {
            causes,
            log: tail(&self.log),
        }))
    }
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
fn tail(log: &Path) -> Vec<String> {
    const LINES: usize = 20;
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(ToString::to_string).collect()
}

/// Waits until a worker says something; its number, or `None` when all have ended.
fn wait_readable(
    crew: &[Member],
    time_passes: &mut dyn FnMut() -> Duration,
) -> Result<Option<usize>, (usize, Error)> {
    let talking: Vec<usize> = (0..crew.len()).filter(|n| !crew[*n].ended).collect();
    let Some(any) = talking.first().copied() else {
        return Ok(None);
    };
    if let Some(number) = talking
        .iter()
        .find(|n| !crew[**n].output.buffer().is_empty())
    {
        return Ok(Some(*number));
    }
    loop {
        interrupt::check().map_err(|e| (any, e))?;
        let mut fds: Vec<PollFd<'_>> = talking
            .iter()
            .map(|n| PollFd::new(crew[*n].output.get_ref().as_fd(), PollFlags::POLLIN))
            .collect();
        // The time-out covers a signal that comes between the check and the wait.
        let wait = time_passes().min(WAIT).as_millis().max(1) as u8;
        match poll(&mut fds, PollTimeout::from(wait)) {
            Ok(0) | Err(nix::Error::EINTR) => {}
            Ok(_) => {
                let ready = fds.iter().position(|fd| fd.any() == Some(true));
                return Ok(Some(ready.map_or(any, |at| talking[at])));
            }
            Err(error) => {
                let error = Error::new(error).context("cannot wait for the worker");
                return Err((any, error));
            }
        }
    }
}

struct Worker(Child);

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

fn spawn(place: &Place) -> Result<Child> {
    let log = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .open(&place.log)
        .with_context(|| format!("cannot write {}", place.log.display()))?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("mountmark")
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .process_group(0);
    let open = |procs: &PathBuf| {
        OpenOptions::new()
            .write(true)
            .open(procs)
            .with_context(|| format!("cannot open {}", procs.display()))
    };
    let join: Vec<fs::File> = place.cgroups.iter().map(open).collect::<Result<_>>()?;
    let cpus = place.cpus.clone();
    let parent = std::process::id();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            for mut procs in &join {
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
