//! A limit on the dirty data of one file system.
//!
//! cgroup v1 throttles writers by the memory of the whole machine, not by the limit of
//! the group: without this a case with little memory may still leave a gigabyte dirty.

use std::path::{Path, PathBuf};

use super::dirty::own_bdi;
use super::mountinfo;
use crate::error::{Context, Result};
use crate::units::Bytes;

/// The limit, in force until this is dropped. A remount of btrfs ends it: set it after
/// the last one.
#[derive(Debug)]
pub struct DirtyLimit {
    dir: PathBuf,
    before: [(&'static str, String); 2],
    in_force: Bytes,
}

impl DirtyLimit {
    /// Lets the file system mounted at `at` hold at most `limit` of dirty data.
    pub fn set(at: &Path, limit: Bytes) -> Result<DirtyLimit> {
        let told = || format!("cannot limit the dirty data of {}", at.display());
        let at = at.canonicalize().with_context(told)?;
        let mount = mountinfo::holder_of(&at).with_context(told)?;
        let name = own_bdi(&mount, &at)
            .context("it has no backing device to itself")
            .with_context(told)?;
        let dir = Path::new("/sys/class/bdi").join(name);
        let now = |file| std::fs::read_to_string(dir.join(file));
        // max_bytes cannot be put back, it is computed from max_ratio.
        let before = [
            ("max_ratio", now("max_ratio").with_context(told)?),
            ("strict_limit", now("strict_limit").with_context(told)?),
        ];
        let mut guard = DirtyLimit {
            dir: dir.clone(),
            before,
            in_force: limit,
        };
        std::fs::write(dir.join("max_bytes"), limit.0.to_string())
            .and_then(|()| std::fs::write(dir.join("strict_limit"), "1"))
            .context("this kernel has no max_bytes or strict_limit for backing devices")
            .with_context(told)?;
        let shown = now("max_bytes").with_context(told)?;
        guard.in_force = shown.trim().parse().map(Bytes).with_context(told)?;
        Ok(guard)
    }

    /// What the kernel made of the limit: it rounds to millionths of the memory.
    pub fn in_force(&self) -> Bytes {
        self.in_force
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        for (file, value) in &self.before {
            let _ = std::fs::write(self.dir.join(file), value.trim());
        }
    }
}
