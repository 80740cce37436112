//! What of ours exists on this machine, written down *before* it is made, so that
//! `mountmark clean` finds what a killed run left.
//!
//! One file a run in the state directory, held under `flock` while the run lives: a
//! file nobody holds is what a killed run left. It is a log of JSON lines and only ever
//! grows: a torn last line loses nothing that was done, and the lock stays with the file
//! (a rename would give it to another).

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::error::{Context, Result, bail};

mod dirty;
mod leftover;
mod record;

pub use dirty::DirtyBefore;
pub use leftover::Leftover;
use record::{Line, Record};

const VERSION: u32 = 1;
const SUFFIX: &str = ".jsonl";

/// Something of ours outside the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    /// A directory with our marker file.
    Directory {
        /// Where it is.
        path: PathBuf,
    },
    /// An image file in a directory of ours.
    Image {
        /// Where it is.
        path: PathBuf,
    },
    /// A cgroup named `mountmark-*`.
    Cgroup {
        /// Its directory in the cgroup file system.
        path: PathBuf,
    },
    /// A loop device on an image of ours.
    LoopDevice {
        /// The device, `/dev/loopN`.
        device: PathBuf,
        /// The image it must sit on to be ours.
        backing: PathBuf,
    },
    /// A limit on the dirty data of a backing device.
    DirtyLimit {
        /// Its directory in sysfs.
        dir: PathBuf,
        /// What is to be put back.
        before: DirtyBefore,
    },
}

/// Names a noted item until it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemId(u64);

/// Another mountmark that is running now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its run.
    pub run_id: String,
    /// Its process.
    pub pid: u32,
}

/// The state file of this run; clones share it. The file goes when the last clone goes
/// and every item is done, and stays for `mountmark clean` otherwise.
#[derive(Clone, Debug)]
pub struct Ledger(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    run_id: String,
    path: PathBuf,
    file: File,
    next: u64,
    open: BTreeSet<u64>,
}

impl Ledger {
    /// Opens the state file of `run_id` in [`state_dir`].
    pub fn open(run_id: &str) -> Result<Ledger> {
        Self::open_in(&state_dir()?, run_id)
    }

    /// The same in a state directory of the caller's choice.
    pub fn open_in(dir: &Path, run_id: &str) -> Result<Ledger> {
        let safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if run_id.is_empty() || run_id.starts_with('.') || !run_id.chars().all(safe) {
            bail!("'{run_id}' is no run id: only letters, digits, '-', '_' and '.'");
        }
        make_state_dir(dir)?;
        let path = dir.join(format!("{run_id}{SUFFIX}"));
        let file = create_locked(&path)?;
        let mut state = State {
            run_id: run_id.to_string(),
            path,
            file,
            next: 0,
            open: BTreeSet::new(),
        };
        state.append(&Line::Run {
            version: VERSION,
            run_id: run_id.to_string(),
            pid: std::process::id(),
        })?;
        Ok(Ledger(Arc::new(Mutex::new(state))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run this ledger belongs to.
    pub fn run_id(&self) -> String {
        self.state().run_id.clone()
    }

    /// Where the state file is.
    pub fn path(&self) -> PathBuf {
        self.state().path.clone()
    }

    /// Writes down what is about to be made; on disk when this returns.
    pub fn note(&self, item: Item) -> Result<ItemId> {
        let mut state = self.state();
        let id = state.next;
        state.append(&Line::Note { id, item })?;
        state.next += 1;
        state.open.insert(id);
        Ok(ItemId(id))
    }

    /// The item exists no more.
    pub fn done(&self, id: ItemId) -> Result<()> {
        let mut state = self.state();
        if state.open.remove(&id.0) {
            state.append(&Line::Done { id: id.0 })?;
        }
        Ok(())
    }

    /// Other mountmarks that run now and use the same state directory.
    pub fn others(&self) -> Result<Vec<Other>> {
        let own = self.path();
        running_in(own.parent().unwrap_or(Path::new("/")), Some(&own))
    }
}

/// The mountmarks that run now, from [`state_dir`].
pub fn running() -> Result<Vec<Other>> {
    running_in(&state_dir()?, None)
}

fn running_in(dir: &Path, own: Option<&Path>) -> Result<Vec<Other>> {
    let mut found = Vec::new();
    for path in files(dir)?
        .into_iter()
        .filter(|path| Some(path.as_path()) != own)
    {
        let Ok(mut file) = File::open(&path) else {
            continue;
        };
        if !locked_by_another(&file)? {
            continue;
        }
        if let Ok(Some(record)) = Record::read(&mut file, &path) {
            found.push(Other {
                run_id: record.run_id,
                pid: record.pid,
            });
        }
    }
    Ok(found)
}

impl State {
    fn append(&mut self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_string(line).context("a path is not UTF-8")?;
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data())
            .with_context(|| format!("cannot write the state file {}", self.path.display()))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.open.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Where state files are: `$MOUNTMARK_STATE_DIR`, else `$XDG_STATE_HOME/mountmark`, else
/// `/var/lib/mountmark` for root and `~/.local/state/mountmark` for others.
pub fn state_dir() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(dir) = set("MOUNTMARK_STATE_DIR") {
        return Ok(dir.into());
    }
    if let Some(dir) = set("XDG_STATE_HOME") {
        return Ok(PathBuf::from(dir).join("mountmark"));
    }
    if rustix::process::geteuid().is_root() {
        return Ok("/var/lib/mountmark".into());
    }
    match set("HOME") {
        Some(home) => Ok(PathBuf::from(home).join(".local/state/mountmark")),
        None => bail!("no place for the state file: set HOME or MOUNTMARK_STATE_DIR"),
    }
}

/// What killed runs left, oldest file name first, from [`state_dir`].
pub fn leftovers() -> Result<Vec<Leftover>> {
    leftovers_in(&state_dir()?)
}

/// The same in a state directory of the caller's choice. Each [`Leftover`] holds the
/// lock of its file, so no second `clean` works on it.
pub fn leftovers_in(dir: &Path) -> Result<Vec<Leftover>> {
    let mut found = Vec::new();
    for path in files(dir)? {
        let mut file = match File::open(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            other => other.with_context(|| format!("cannot read {}", path.display()))?,
        };
        if locked_by_another(&file)? || !same_file(&file, &path) {
            continue;
        }
        match Record::read(&mut file, &path)? {
            Some(record) => found.push(Leftover::new(record, file, path)),
            // Killed between creating the file and its first line: nothing was made.
            None => fs::remove_file(&path)
                .with_context(|| format!("cannot remove {}", path.display()))?,
        }
    }
    Ok(found)
}

fn make_state_dir(dir: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| {
            format!(
                "cannot make the state directory {}; set MOUNTMARK_STATE_DIR to a writable place",
                dir.display()
            )
        })
}

/// Creates and locks a state file. A `clean` may lock and remove the new file in the
/// moment before we hold it, so what we hold must still be what the name says.
fn create_locked(path: &Path) -> Result<File> {
    for _ in 0..100 {
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .read(true)
            .mode(0o600)
            .open(path)
            .with_context(|| format!("cannot create the state file {}", path.display()))?;
        if lock_soon(&file)? && same_file(&file, path) {
            if let Some(dir) = path.parent() {
                let _ = File::open(dir).and_then(|dir| dir.sync_all());
            }
            return Ok(file);
        }
    }
    bail!("cannot lock the state file {}", path.display())
}

/// Takes the lock of a new file, which others hold only for the moment of a look at it.
fn lock_soon(file: &File) -> Result<bool> {
    for _ in 0..100 {
        if !locked_by_another(file)? {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Takes the lock unless another holds it.
fn locked_by_another(file: &File) -> Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error).context("cannot lock a state file"),
    }
}

fn same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.with_context(|| format!("cannot read {}", dir.display()))?,
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(SUFFIX))
        .collect();
    found.sort();
    Ok(found)
}
