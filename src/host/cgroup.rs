//! Control groups: a version 2 directory counts the CPU of a process tree and ends it,
//! also where the version 2 hierarchy has no controllers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::ledger::{Item, ItemId, Ledger};
use crate::error::{Context, Result};
use crate::units::CpuTime;

/// Where the hierarchies are mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchies {
    /// The version 2 hierarchy.
    pub unified: Option<PathBuf>,
    /// The version 1 memory hierarchy.
    pub memory_v1: Option<PathBuf>,
}

impl Hierarchies {
    /// Reads them from `/proc/mounts`.
    pub fn detect() -> Self {
        Hierarchies::parse(&fs::read_to_string("/proc/mounts").unwrap_or_default())
    }

    fn parse(mounts: &str) -> Self {
        let mut found = Hierarchies::default();
        for line in mounts.lines() {
            let mut fields = line.split(' ').skip(1);
            let (Some(at), Some(kind), Some(options)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            match kind {
                "cgroup2" => found.unified = Some(PathBuf::from(at)),
                "cgroup" if options.split(',').any(|o| o == "memory") => {
                    found.memory_v1 = Some(PathBuf::from(at));
                }
                _ => {}
            }
        }
        found
    }
}

/// One group of ours; its processes are killed and it is removed on drop.
pub struct Cgroup {
    path: PathBuf,
    ledger: Ledger,
    item: ItemId,
}

impl Cgroup {
    /// Makes the group `mountmark-<name>` at the top of the version 2 hierarchy.
    ///
    /// # Errors
    /// When there is no such hierarchy or it cannot be written to.
    pub fn create(name: &str, ledger: &Ledger) -> Result<Self> {
        let root = Hierarchies::detect()
            .unified
            .context("no cgroup version 2 hierarchy is mounted")?;
        Self::create_in(&root, name, ledger)
    }

    /// The same below another group, of either version.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub(super) fn create_in(parent: &Path, name: &str, ledger: &Ledger) -> Result<Self> {
        let path = parent.join(format!("mountmark-{name}"));
        let item = ledger.note(Item::Cgroup { path: path.clone() })?;
        if let Err(error) = fs::create_dir(&path) {
            ledger.done(item)?;
            return Err(error)
                .with_context(|| format!("cannot make the cgroup {}", path.display()));
        }
        Ok(Cgroup {
            path,
            ledger: ledger.clone(),
            item,
        })
    }

    /// Its directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file a process writes itself into to join.
    pub fn procs(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    /// CPU used by the group so far.
    pub fn cpu(&self) -> Option<CpuTime> {
        cpu_stat(&self.path)
    }

    /// Kills every process in the group and waits until it is empty.
    pub fn kill(&self) {
        let procs = self.procs();
        let end = Instant::now() + Duration::from_secs(5);
        // A file that is not there would be made in a directory that is no group.
        let at_once = self.path.join("cgroup.kill");
        let can = at_once.exists() && fs::write(at_once, "1").is_ok();
        while Instant::now() < end {
            let there = fs::read_to_string(&procs).unwrap_or_default();
            let mut there = there.lines().filter_map(|pid| pid.parse().ok()).peekable();
            if there.peek().is_none() {
                return;
            }
            // Version 1, and version 2 before 5.14, end them one by one.
            for pid in there.filter(|_| !can) {
                let pid = nix::unistd::Pid::from_raw(pid);
                let _gone = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn remove(&self) -> io::Result<()> {
        let end = Instant::now() + Duration::from_secs(2);
        loop {
            match fs::remove_dir(&self.path) {
                // A process just killed may still be on its way out.
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) && Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                other => return other,
            }
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.kill();
        if self.remove().is_ok() {
            // What cannot be written here stays noted, and `clean` finds it gone.
            drop(self.ledger.done(self.item));
        }
    }
}

/// `user_usec` and `system_usec` of a version 2 group.
pub fn cpu_stat(group: &Path) -> Option<CpuTime> {
    let text = fs::read_to_string(group.join("cpu.stat")).ok()?;
    let micros = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok())
    };
    Some(CpuTime {
        user_ns: micros("user_usec ")? * 1000,
        system_ns: micros("system_usec ")? * 1000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_in_the_mounts() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
            cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n\
            cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
            cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let found = Hierarchies::parse(mounts);
        assert_eq!(found.unified.unwrap(), Path::new("/sys/fs/cgroup/unified"));
        assert_eq!(found.memory_v1.unwrap(), Path::new("/sys/fs/cgroup/memory"));
    }
}
