//! Data that one file system has not written to its device yet.
//!
//! `/proc/meminfo` counts the whole machine. The kernel counts per backing device in
//! debugfs (`bdi/<major:minor>/stats`), which is this file system's own number when it
//! has the device to itself; for a directory beside others the pages of its files are
//! counted with `cachestat`.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::device::{number_of, sysfs};
use super::{mountinfo, tree};
use crate::error::{Context, Result};

/// What may stay dirty in a file system at rest (inodes).
const REST: u64 = 64 << 10;

/// Writes everything of the file system that holds `path` to its device.
pub fn syncfs(path: &Path) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .and_then(rustix::fs::syncfs)
        .with_context(|| format!("cannot sync the file system of {}", path.display()))
}

/// Bytes dirty or under writeback: of the whole file system if `at` is its mount point
/// and it has the device to itself, of the files below `at` otherwise. `None` if this
/// kernel cannot tell.
pub fn dirty_bytes(at: &Path) -> Option<u64> {
    DirtyGauge::open(at).read()
}

/// Waits until nearly nothing is dirty, nothing changes any more, or `limit` is over;
/// returns what is dirty then.
pub fn wait_clean(at: &Path, limit: Duration) -> Option<u64> {
    const STILL: Duration = Duration::from_millis(300);
    let gauge = DirtyGauge::open(at);
    let start = Instant::now();
    let mut dirty = gauge.read()?;
    let mut changed = start;
    while dirty > REST && start.elapsed() < limit && changed.elapsed() < STILL {
        std::thread::sleep(Duration::from_millis(10));
        let now = gauge.read()?;
        if now != dirty {
            changed = Instant::now();
        }
        dirty = now;
    }
    Some(dirty)
}

/// Reads the dirty bytes of one place again and again.
#[derive(Debug)]
pub struct DirtyGauge(Source);

#[derive(Debug)]
enum Source {
    /// Memory only: nothing is ever written.
    Memory,
    Device(File),
    Files(PathBuf),
}

impl DirtyGauge {
    /// Finds the best source for `at`.
    pub fn open(at: &Path) -> DirtyGauge {
        DirtyGauge(source(at).unwrap_or_else(|| Source::Files(at.to_path_buf())))
    }

    /// Bytes dirty or under writeback now.
    pub fn read(&self) -> Option<u64> {
        match &self.0 {
            Source::Memory => Some(0),
            Source::Device(file) => {
                let mut buffer = [0u8; 4096];
                let length = file.read_at(&mut buffer, 0).ok()?;
                parse(std::str::from_utf8(&buffer[..length]).ok()?)
            }
            Source::Files(dir) => of_files(dir),
        }
    }
}

fn source(at: &Path) -> Option<Source> {
    let at = at.canonicalize().ok()?;
    let mount = mountinfo::holder_of(&at).ok()?;
    if mount.in_memory() {
        return Some(Source::Memory);
    }
    let number = number_of(&mount.device()?).ok()?;
    // The counters of a disk hold those of its other partitions too.
    if mount.at != at || sysfs(number).join("partition").exists() {
        return None;
    }
    let name = match mount.fs_type.as_str() {
        "btrfs" => btrfs_bdi(&sysfs(number).canonicalize().ok()?)?,
        _ => format!("{}:{}", number.0, number.1),
    };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let path = format!("bdi/{name}/stats");
    let file = rustix::fs::openat(debugfs()?, path, flags, Mode::empty()).ok()?;
    Some(Source::Device(file.into()))
}

/// The root of debugfs, as a mount that is attached nowhere: it needs no mount point,
/// nobody sees it, and it goes with the descriptor.
fn debugfs() -> Option<&'static OwnedFd> {
    static ROOT: OnceLock<Option<OwnedFd>> = OnceLock::new();
    ROOT.get_or_init(|| {
        let own = || {
            let context = fsopen("debugfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&context)?;
            fsmount(
                &context,
                FsMountFlags::FSMOUNT_CLOEXEC,
                MountAttrFlags::empty(),
            )
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        own()
            .or_else(|_| rustix::fs::openat(CWD, "/sys/kernel/debug", flags, Mode::empty()))
            .ok()
    })
    .as_ref()
}

/// btrfs has a backing device of its own, `btrfs-N`, that bears no number of the disk.
fn btrfs_bdi(device: &Path) -> Option<String> {
    let name = device.file_name()?;
    std::fs::read_dir("/sys/fs/btrfs")
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .find(|fs| fs.join("devices").join(name).exists())
        .and_then(|fs| std::fs::read_link(fs.join("bdi")).ok())
        .and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()))
}

/// `BdiReclaimable` is what is dirty, `BdiWriteback` what is on its way.
fn parse(stats: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = stats.lines().find(|line| line.starts_with(name))?;
        let kib = line.trim_end_matches("kB").split_whitespace().nth(1)?;
        kib.parse::<u64>().ok()
    };
    Some((field("BdiReclaimable:")? + field("BdiWriteback:")?) * 1024)
}

#[repr(C)]
#[derive(Default)]
struct CacheRange {
    offset: u64,
    length: u64,
}

/// Pages by state, as `struct cachestat` has them.
#[repr(C)]
#[derive(Default)]
struct CachePages {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

fn of_files(dir: &Path) -> Option<u64> {
    const CACHESTAT: libc::c_long = 451;
    let mut pages = 0;
    let range = CacheRange::default();
    tree::files(dir, &mut |path, file| {
        let mut found = CachePages::default();
        // SAFETY: both structs have the kernel's layout and outlive the call.
        let done = unsafe {
            libc::syscall(
                CACHESTAT,
                file.as_raw_fd(),
                &raw const range,
                &raw mut found,
                0,
            )
        };
        if done != 0 {
            return Err(std::io::Error::last_os_error())
                .with_context(|| format!("cannot count the pages of {}", path.display()));
        }
        pages += found.dirty + found.writeback;
        Ok(())
    })
    .ok()?;
    // SAFETY: sysconf only looks up a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistics_of_a_backing_device_are_read() {
        let stats = "BdiWriteback:                8 kB\nBdiReclaimable:          20504 kB\n\
                     BdiDirtyThresh:        4936972 kB\n";
        assert_eq!(parse(stats), Some(20512 * 1024));
        assert_eq!(parse("BdiWriteback: 8 kB\n"), None);
    }
}
