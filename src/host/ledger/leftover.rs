//! Removing what a killed run left, and nothing else: each kind of item has its own
//! proof that the thing is ours.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Item, Record, dirty};
use crate::error::{Context, Error, Result, bail, one_line};
use crate::host::marker::{self, IMAGE_SUFFIX, PREFIX};

/// What one killed run left; holds the lock of its state file.
#[derive(Debug)]
pub struct Leftover {
    /// The run.
    pub run_id: String,
    /// The process that is no more.
    pub pid: u32,
    /// What it noted and did not undo, oldest first.
    pub items: Vec<Item>,
    _lock: File,
    state_file: PathBuf,
}

impl Leftover {
    pub(super) fn new(record: Record, lock: File, state_file: PathBuf) -> Leftover {
        Leftover {
            run_id: record.run_id,
            pid: record.pid,
            items: record.items,
            _lock: lock,
            state_file,
        }
    }

    /// Removes what is there and provably ours, newest first, and tells what was
    /// removed. What is gone already is fine. If something resists, the rest is still
    /// removed, the state file stays, and the error tells both.
    pub fn clean(self) -> Result<Vec<String>> {
        let mut removed = Vec::new();
        let mut failed = Vec::new();
        for item in self.items.iter().rev() {
            match clean(item, &self.run_id, &self.state_file) {
                Ok(Some(what)) => removed.push(what),
                Ok(None) => {}
                Err(error) => failed.push(one_line(&error)),
            }
        }
        if failed.is_empty() {
            fs::remove_file(&self.state_file)
                .with_context(|| format!("cannot remove {}", self.state_file.display()))?;
            return Ok(removed);
        }
        let mut error = Error::msg(failed.join("; "));
        if !removed.is_empty() {
            error = error.context(format!("removed: {}", removed.join(", ")));
        }
        Err(error.context(format!(
            "not everything of run {} could be removed (noted in {})",
            self.run_id,
            self.state_file.display()
        )))
    }
}

/// Tells what was removed; `None` if there was nothing.
fn clean(item: &Item, run_id: &str, state_file: &Path) -> Result<Option<String>> {
    match item {
        Item::Directory { path } => directory(path, run_id),
        Item::Image { path } => image(path, run_id),
        Item::Cgroup { path } => cgroup(path),
        Item::LoopDevice { device, backing } => loop_device(device, backing),
        Item::DirtyLimit { dir, before } => dirty::lift(dir, before, state_file),
    }
}

fn directory(path: &Path, run_id: &str) -> Result<Option<String>> {
    let told = || Some(format!("directory {}", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ours = name.starts_with(&format!("{PREFIX}{run_id}"));
    if ours && path.is_dir() && marker::owner(path).is_none() {
        // Killed between making the directory and its marker: rmdir takes empty ones only.
        if fs::remove_dir(path).is_ok() {
            return Ok(told());
        }
    }
    Ok(marker::remove_tree(path, run_id)?.then(told).flatten())
}

fn image(path: &Path, run_id: &str) -> Result<Option<String>> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    let dir = path.parent().unwrap_or(Path::new("/"));
    if !path.to_string_lossy().ends_with(IMAGE_SUFFIX)
        || marker::owner(dir).as_deref() != Some(run_id)
    {
        bail!(
            "{} is not provably an image of run {run_id}: left alone",
            path.display()
        );
    }
    fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
    Ok(Some(format!("image {}", path.display())))
}

fn cgroup(path: &Path) -> Result<Option<String>> {
    if !path.is_dir() {
        return Ok(None);
    }
    const CGROUP: i64 = 0x0027_e0eb;
    const CGROUP2: i64 = 0x6367_7270;
    let kind = rustix::fs::statfs(path)
        .with_context(|| format!("cannot look at {}", path.display()))?
        .f_type as i64;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with(PREFIX) || ![CGROUP, CGROUP2].contains(&kind) {
        bail!("{} is not a cgroup of ours: left alone", path.display());
    }
    remove_cgroup(path)?;
    Ok(Some(format!("cgroup {}", path.display())))
}

/// How long processes of a killed run may take to be gone.
const DYING: Duration = Duration::from_secs(5);

fn remove_cgroup(path: &Path) -> Result<()> {
    let procs = || fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    // Processes of a run just killed may still be on their way out.
    let end = Instant::now() + DYING;
    while !procs().trim().is_empty() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    let procs = procs();
    if !procs.trim().is_empty() {
        bail!(
            "cgroup {} still holds processes ({}); end them first",
            path.display(),
            procs.split_whitespace().collect::<Vec<_>>().join(", ")
        );
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_cgroup(&entry.path())?;
        }
    }
    loop {
        match fs::remove_dir(path) {
            // A process that is no longer listed may not be quite gone.
            Err(e) if e.raw_os_error() == Some(libc::EBUSY) && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => {
                return other.with_context(|| format!("cannot remove cgroup {}", path.display()));
            }
        }
    }
}

/// Detaches a loop device that still sits on our image. Autoclear does it for us as a
/// rule; a killed run whose server lives on is the exception.
fn loop_device(device: &Path, backing: &Path) -> Result<Option<String>> {
    let on_ours = || {
        let name = device.file_name()?;
        let sys = Path::new("/sys/block").join(name).join("loop/backing_file");
        let text = fs::read_to_string(sys).ok()?;
        let text = text.trim_end().trim_end_matches(" (deleted)");
        (Path::new(text) == backing && text.ends_with(IMAGE_SUFFIX)).then_some(())
    };
    if on_ours().is_none() {
        return Ok(None);
    }
    const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_CLOEXEC)
        .open(device)
        .with_context(|| format!("cannot open {}", device.display()))?;
    // Open, it can no longer be freed and given to another: look again.
    if on_ours().is_none() {
        return Ok(None);
    }
    // SAFETY: LOOP_CLR_FD takes no argument; the descriptor is open.
    let cleared = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_CLR_FD, 0) };
    let error = std::io::Error::last_os_error();
    drop(file);
    if cleared != 0 && error.raw_os_error() != Some(libc::ENXIO) {
        return Err(error).with_context(|| format!("cannot detach {}", device.display()));
    }
    for _ in 0..50 {
        if on_ours().is_none() {
            return Ok(Some(format!("loop device {}", device.display())));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!(
        "{} is still in use on {}; end the processes that use it",
        device.display(),
        backing.display()
    )
}
