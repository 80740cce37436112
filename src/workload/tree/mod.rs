//! Trees of files, without a server. `small-files`: an archive of little files is
//! unpacked and removed. `source-tree`: one like a large project and its build is
//! unpacked, copied within the file system, copied again, read through, removed.
//!
//! Every step is a phase of its own with one operation, which counts files and links.
//! Its window holds the step and nothing else: opening the archive, listing directories
//! and setting modes and times are inside, `syncfs` is the way from *returned* to
//! *flushed*. The next step begins when the one before has been flushed.

mod archive;
mod generate;
mod names;
mod options;
mod place;
mod random;
mod scan;
mod store;
mod unpack;
mod verify;
mod walk;
mod work;

#[cfg(test)]
mod tests;

pub use archive::{Archive, Need, WORKLOADS};
pub use options::{Options, Order};
pub use scan::Contents;

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Bench;
use super::bench::run_step;
use crate::error::{Context, Error, Result, ensure};
use crate::units::Bytes;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The archive is unpacked.
    Unpack,
    /// What was unpacked is copied.
    Copy,
    /// It is copied once more.
    CopyAgain,
    /// Everything that is there is read.
    Read,
    /// Everything that is there is removed.
    Remove,
}

impl Step {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Step::Unpack => "unpack",
            Step::Copy => "copy",
            Step::CopyAgain => "copy-again",
            Step::Read => "read",
            Step::Remove => "remove",
        }
    }
}

/// The steps of a workload, in the parts between which the target is made cold: what is
/// read is read from the device. `remove` comes after reading, or after unpacking, and
/// finds in memory what that left there.
pub fn parts(workload: &str) -> Vec<Vec<Step>> {
    match workload {
        "small-files" => vec![vec![Step::Unpack, Step::Remove]],
        _ => vec![
            vec![Step::Unpack, Step::Copy, Step::CopyAgain],
            vec![Step::Read, Step::Remove],
        ],
    }
}

/// How many copies of the tree there are at most.
pub fn copies(workload: &str) -> u64 {
    match workload {
        "small-files" => 1,
        _ => 3,
    }
}

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// Copies of the tree that are there when `Read` or `Remove` begins.
    pub copies: u64,
    /// The archive.
    pub archive: PathBuf,
    /// What it holds.
    pub contents: Contents,
    /// Threads.
    pub jobs: usize,
    /// The directory on the target.
    pub data: PathBuf,
}

/// What a step handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Done {
    /// Files and links.
    names: u64,
    /// Bytes of the files.
    bytes: u64,
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Self) {
        self.names += other.names;
        self.bytes += other.bytes;
    }
}

impl std::iter::Sum for Done {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Done::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}

const UNPACKED: &str = "unpacked";
const COPIES: [&str; 2] = ["copy", "copy-again"];

/// Runs the steps of `task`; afterwards, when they have copied, compares each copy with
/// the archive, and when they have removed, makes sure that nothing is left.
///
/// # Errors
/// The kernel's words with the name of the file; a full target with what was needed and
/// what there was; a step that handled another number of files than the archive has.
pub fn run(bench: &mut Bench<'_>, task: &Task) -> Result<()> {
    // Modes are the archive's, not the user's.
    rustix::process::umask(Mode::empty());
    let free = free(&task.data)?;
    for step in &task.steps {
        let result = run_step(bench, step.name(), |bench| perform(bench, task, *step));
        result.map_err(|error| explain(error, task, free))?;
    }
    if task.steps.contains(&Step::CopyAgain) {
        for name in [UNPACKED].iter().chain(&COPIES) {
            let tree = open(&task.data, name)?;
            verify::verify(&task.archive, &task.contents, tree.as_fd())
                .with_context(|| format!("the tree '{name}' is wrong"))?;
        }
    }
    if task.steps.contains(&Step::Remove) {
        work::nothing_left(open(&task.data, ".")?.as_fd()).context("not all was removed")?;
    }
    Ok(())
}

fn perform(bench: &mut Bench<'_>, task: &Task, step: Step) -> Result<()> {
    let copies = match step {
        Step::Read | Step::Remove => task.copies,
        _ => 1,
    };
    let bytes = match step {
        Step::Read => task.contents.read_bytes,
        _ => task.contents.bytes,
    };
    let expected = Done {
        names: task.contents.names() * copies,
        bytes: bytes * copies,
    };
    let mut op = bench.start(step.name(), expected.names)?;
    let done = op.whole(|| {
        let done = handle(task, step)?;
        // Nothing is read of what is removed; its bytes are known all the same.
        let bytes = match step {
            Step::Remove => expected.bytes,
            _ => done.bytes,
        };
        Ok((Done { bytes, ..done }, done.names, bytes))
    })?;
    op.finish()?;
    ensure!(
        done == expected,
        "it handled {} files of {} bytes, expected {} of {}",
        done.names,
        done.bytes,
        expected.names,
        expected.bytes
    );
    Ok(())
}

fn handle(task: &Task, step: Step) -> Result<Done> {
    let copy = |name: &str| {
        let (from, to) = (open(&task.data, UNPACKED)?, make(&task.data, name)?);
        work::copy(from.as_fd(), to.as_fd(), task.jobs)
    };
    match step {
        Step::Unpack => {
            let top = make(&task.data, UNPACKED)?;
            let chunks = &task.contents.chunks;
            unpack::unpack(&task.archive, chunks, top.as_fd(), task.jobs)
        }
        Step::Copy => copy(COPIES[0]),
        Step::CopyAgain => copy(COPIES[1]),
        Step::Read => work::read(open(&task.data, ".")?.as_fd(), task.jobs),
        Step::Remove => work::remove(open(&task.data, ".")?.as_fd(), task.jobs),
    }
}

fn open(data: &Path, name: &str) -> Result<OwnedFd> {
    let path = data.join(name);
    rustix::fs::open(&path, place::DIR, Mode::empty())
        .with_context(|| format!("cannot open {}", path.display()))
}

fn make(data: &Path, name: &str) -> Result<OwnedFd> {
    let path = data.join(name);
    rustix::fs::mkdirat(CWD, &path, Mode::from_raw_mode(0o755))
        .with_context(|| format!("cannot make {}", path.display()))?;
    open(data, name)
}

fn free(data: &Path) -> Result<(u64, u64)> {
    let stat = rustix::fs::statvfs(data)
        .with_context(|| format!("cannot look at the free space of {}", data.display()))?;
    Ok((stat.f_bavail * stat.f_frsize, stat.f_favail))
}

/// A full target says what was needed and what there was.
fn explain(error: Error, task: &Task, (bytes, inodes): (u64, u64)) -> Error {
    let full = error.chain().any(|cause| {
        let errno = cause.downcast_ref::<Errno>().copied();
        matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
    });
    if !full {
        return error;
    }
    let contents = &task.contents;
    error.context(format!(
        "the target is full: at the start {} and {inodes} inodes were free, for {} files of {} \
         and {} directories, {} times; choose a smaller --tree-scale, or a larger --image-size",
        Bytes(bytes).human(),
        contents.names(),
        Bytes(contents.bytes).human(),
        contents.dirs,
        task.copies,
    ))
}

/// Runs `work` in as many threads as there are jobs, in this one if there is one.
fn in_parallel<T: Send>(jobs: usize, work: impl Fn() -> Result<T> + Sync) -> Result<Vec<T>> {
    if jobs == 1 {
        return Ok(vec![work()?]);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(&work)).collect();
        threads
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}
