//! A limit on the dirty data of one file system.
//!
//! cgroup v1 throttles writers by the memory of the whole machine, not by the limit of
//! the group: without this a case with little memory may still leave a gigabyte dirty.

use std::path::{Path, PathBuf};

use super::dirty::own_bdi;
use super::mountinfo;
use crate::error::{Context, Result};
use crate::host::ledger::{self, Item, ItemId, Ledger};
use crate::units::Bytes;

/// Whether a file system of this type, mounted so, lets the kernel charge what is written
/// to the group that made it dirty, and throttle that group alone: in version 2 of the
/// control groups ext2, ext3 and ext4 do (one driver), and btrfs, f2fs and xfs. With
/// `data=journal` data go through the journal, which is nobody's.
pub fn writeback_by_group(fs_type: &str, options: &[String]) -> bool {
    let journaled = || options.iter().any(|option| option == "data=journal");
    match fs_type {
        "ext2" | "ext3" | "ext4" => !journaled(),
        "btrfs" | "f2fs" | "xfs" => true,
        _ => false,
    }
}

/// The limit, in force until this is dropped. A remount of btrfs ends it: set it after
/// the last one.
#[derive(Debug)]
pub struct DirtyLimit {
    dir: PathBuf,
    before: ledger::DirtyBefore,
    in_force: Bytes,
    ledger: Ledger,
    item: ItemId,
}

/// Before Linux 6.2.
const UNKNOWN: &str = "this kernel has no max_bytes or strict_limit for backing devices";

impl DirtyLimit {
    /// Lets the file system mounted at `at` hold at most `limit` of dirty data. A killed
    /// run leaves the limit behind, and `mountmark clean` lifts it.
    ///
    /// # Errors
    /// When the file system shares its device with others, or the kernel has no such limit.
    pub fn set(at: &Path, limit: Bytes, ledger: &Ledger) -> Result<DirtyLimit> {
        let told = || format!("cannot limit the dirty data of {}", at.display());
        let dir = Self::device_of(at)
            .context("it has no backing device to itself")
            .with_context(told)?;
        // max_bytes cannot be put back, it is computed from max_ratio.
        let before = ledger::DirtyBefore::read(&dir)
            .context(UNKNOWN)
            .with_context(told)?;
        let item = ledger.note(Item::DirtyLimit {
            dir: dir.clone(),
            before: before.clone(),
        })?;
        let mut guard = DirtyLimit {
            dir: dir.clone(),
            before,
            in_force: limit,
            ledger: ledger.clone(),
            item,
        };
        std::fs::write(dir.join("max_bytes"), limit.0.to_string())
            .and_then(|()| std::fs::write(dir.join("strict_limit"), "1"))
            .context(UNKNOWN)
            .with_context(told)?;
        let shown = std::fs::read_to_string(dir.join("max_bytes")).with_context(told)?;
        guard.in_force = shown.trim().parse().map(Bytes).with_context(told)?;
        Ok(guard)
    }

    /// The backing device, in sysfs, that only the file system mounted at `at` uses.
    fn device_of(at: &Path) -> Option<PathBuf> {
        let at = at.canonicalize().ok()?;
        let mount = mountinfo::holder_of(&at).ok()?;
        let name = own_bdi(&mount, &at)?;
        Some(Path::new("/sys/class/bdi").join(name))
    }

    /// What the kernel made of the limit: it rounds to millionths of the memory.
    pub fn in_force(&self) -> Bytes {
        self.in_force
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        if self.before.restore(&self.dir).is_ok() || !self.dir.exists() {
            // What cannot be written here stays noted, and `clean` does it again.
            drop(self.ledger.done(self.item));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_charged_where_the_kernel_can() {
        let by = |fs: &str, options: &[&str]| {
            let options: Vec<String> = options.iter().map(|o| o.to_string()).collect();
            writeback_by_group(fs, &options)
        };
        assert!(by("ext2", &[]) && by("ext4", &["data=ordered"]) && by("xfs", &[]));
        assert!(!by("ext4", &["rw", "data=journal"]));
        assert!(!by("jfs", &[]) && !by("tmpfs", &[]));
    }
}
