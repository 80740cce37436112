//! One group with a memory limit.

use std::fs;
use std::path::{Path, PathBuf};

use super::counts::{self, MemoryCounts, MemoryUse};
use super::{Controller, Version};
use crate::error::{Context, Result, anyhow, bail};
use crate::host::cgroup::{Cgroup, Hierarchies};
use crate::host::ledger::Ledger;
use crate::units::Bytes;

/// A group whose processes share so much memory and no swap. On drop they are killed and
/// the group is removed.
///
/// In version 1 a second group, in the version 2 hierarchy where there is one, counts CPU
/// and waiting and ends the processes.
pub struct MemoryGroup {
    version: Version,
    limit: Bytes,
    /// Before the group with the limit: what it ends is out of that one too.
    beside: Option<Cgroup>,
    limited: Cgroup,
}

impl MemoryGroup {
    /// Makes the group `mountmark-<name>` with `limit`; nothing is in it yet.
    ///
    /// # Errors
    /// When it cannot be made, or limit or swap are not as asked for.
    pub fn create(
        controller: &Controller,
        name: &str,
        limit: Bytes,
        ledger: &Ledger,
    ) -> Result<Self> {
        let limited = Cgroup::create_in(controller.parent(), name, ledger)?;
        let version = controller.version();
        let in_force = set_limit((version, has_swap()), limited.path(), limit)
            .with_context(|| format!("cannot limit {} to {limit}", limited.path().display()))?;
        let beside = match version {
            Version::V1 => Hierarchies::detect()
                .unified
                .and_then(|root| Cgroup::create_in(&root, name, ledger).ok()),
            Version::V2 => None,
        };
        Ok(MemoryGroup {
            version,
            limit: in_force,
            beside,
            limited,
        })
    }

    /// The limit in force.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// The files a process writes itself into to join.
    pub fn procs(&self) -> Vec<PathBuf> {
        let beside = self.beside.iter().map(Cgroup::procs);
        std::iter::once(self.limited.procs())
            .chain(beside)
            .collect()
    }

    /// Its counters now.
    pub fn counts(&self) -> MemoryCounts {
        let pressure = match self.version {
            Version::V1 => self.beside.as_ref().map(Cgroup::path),
            Version::V2 => Some(self.limited.path()),
        };
        counts::counts(self.version, self.limited.path(), pressure)
    }

    /// What it holds now.
    pub fn usage(&self) -> MemoryUse {
        counts::usage(self.version, self.limited.path())
    }
}

/// Sets limit and swap, in the order that both versions take; the limit in force.
fn set_limit((version, has_swap): (Version, bool), dir: &Path, limit: Bytes) -> Result<Bytes> {
    let write = |name: &str, value: &str| {
        let file = dir.join(name);
        fs::write(&file, value).with_context(|| format!("{} takes no {value}", file.display()))
    };
    let text = limit.0.to_string();
    let file = match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    write(file, &text)?;
    if has_swap {
        match version {
            // Memory and swap together may be no more than the memory. (This limit is then
            // the one that is met, and newer kernels do not count how often.)
            Version::V1 if dir.join(MEMSW).exists() => write(MEMSW, &text),
            Version::V1 => Err(anyhow!(
                "swap is not counted by group; boot with swapaccount=1"
            )),
            Version::V2 => write(SWAP_MAX, "0"),
        }
        .context("its processes could be swapped out (swapoff -a helps)")?;
    } else if dir.join(SWAP_MAX).exists() {
        // Somebody may switch it on while we measure.
        write(SWAP_MAX, "0")?;
    }
    let shown = fs::read_to_string(dir.join(file))?;
    let in_force: u64 = shown
        .trim()
        .parse()
        .with_context(|| format!("{file} says {}", shown.trim()))?;
    // The kernel counts pages.
    if limit.0.abs_diff(in_force) >= rustix::param::page_size() as u64 {
        bail!("{} is in force instead", Bytes(in_force));
    }
    Ok(Bytes(in_force))
}

const SWAP_MAX: &str = "memory.swap.max";
const MEMSW: &str = "memory.memsw.limit_in_bytes";

fn has_swap() -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps.lines().count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(dir: &tempfile::TempDir, name: &str) -> String {
        fs::read_to_string(dir.path().join(name)).unwrap()
    }

    #[test]
    fn limit_and_swap_are_written_in_the_words_of_the_version() {
        let dir = tempfile::tempdir().unwrap();
        let limit = Bytes::mib(64);
        let set =
            |version, swap, dir: &tempfile::TempDir| set_limit((version, swap), dir.path(), limit);
        assert_eq!(set(Version::V2, true, &dir).unwrap(), limit);
        assert_eq!(written(&dir, "memory.max"), "67108864");
        assert_eq!(written(&dir, "memory.swap.max"), "0");
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(set(Version::V1, false, &dir).unwrap(), limit);
        let error = crate::error::one_line(&set(Version::V1, true, &dir).unwrap_err());
        assert!(error.contains("swapaccount=1"), "{error}");
        fs::write(dir.path().join(MEMSW), "").unwrap();
        set(Version::V1, true, &dir).unwrap();
        assert_eq!(written(&dir, "memory.limit_in_bytes"), "67108864");
        assert_eq!(written(&dir, MEMSW), "67108864");
    }
}
