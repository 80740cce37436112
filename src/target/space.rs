//! Room for images: 10 % of what holds them stays free.

use std::path::Path;

use super::mountinfo;
use crate::error::{Context, Result, bail};
use crate::units::Bytes;

/// Fails unless `size` fits into the file system of `dir` and 10 % of it stay free; in
/// memory, 10 % of the machine's memory must stay available too.
pub fn check_space(dir: &Path, size: Bytes) -> Result<()> {
    let stat = rustix::fs::statvfs(dir)
        .with_context(|| format!("cannot look at the free space of {}", dir.display()))?;
    let reserve = stat.f_blocks * stat.f_frsize / 10;
    let free = stat.f_bavail * stat.f_frsize;
    if size.0.saturating_add(reserve) > free {
        bail!(
            "{} has no room for {}: {} are free, of which 10 % of that file system ({}) must \
             stay free; choose a smaller --image-size or another --image-dir",
            dir.display(),
            size.human(),
            Bytes(free).human(),
            Bytes(reserve).human()
        );
    }
    if mountinfo::holder_of(dir)?.in_memory() {
        let (available, total) = memory()?;
        if size.0.saturating_add(total.0 / 10) > available.0 {
            bail!(
                "{} is in memory, of which {} are available and 10 % ({}) must stay so: no room \
                 for {}; choose a smaller --image-size or an --image-dir on disk",
                dir.display(),
                available.human(),
                Bytes(total.0 / 10).human(),
                size.human()
            );
        }
    }
    Ok(())
}

/// Memory available without swapping, and all of it.
fn memory() -> Result<(Bytes, Bytes)> {
    let text = std::fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(Bytes(kib * 1024))
    };
    field("MemAvailable:")
        .zip(field("MemTotal:"))
        .context("/proc/meminfo does not tell the memory available")
}
