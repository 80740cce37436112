//! Opening and naming below one directory: no symbolic link is followed on the way and
//! nothing above is reached, whatever an archive says.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::{Errno, Result};

use super::names;

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// Flags for a file that must not be there yet.
pub(super) const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Flags for reading what is there.
pub(super) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Flags for a directory.
pub(super) const DIR: OFlags = READ.union(OFlags::DIRECTORY);

/// Opens `path` below `root`; the empty path is `root` itself.
pub(super) fn open(root: BorrowedFd<'_>, path: &[u8], flags: OFlags, mode: u32) -> Result<OwnedFd> {
    let path = if path.is_empty() { b"." } else { path };
    let mode = Mode::from_raw_mode(mode);
    match rustix::fs::openat2(root, path, flags, mode, RESOLVE) {
        // Kernels before 5.6.
        Err(Errno::NOSYS) => part_by_part(root, path, flags, mode),
        other => other,
    }
}

fn part_by_part(root: BorrowedFd<'_>, path: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let (dirs, name) = names::split(path);
    let mut at: Option<OwnedFd> = None;
    for part in dirs.split(|b| *b == b'/').filter(|p| !p.is_empty()) {
        let from = at.as_ref().map_or(root, AsFd::as_fd);
        at = Some(rustix::fs::openat(from, part, DIR, Mode::empty())?);
    }
    rustix::fs::openat(at.as_ref().map_or(root, AsFd::as_fd), name, flags, mode)
}

/// Times to set: that of the last change, and of the last access where it is given.
pub(super) fn times(modified: Timespec, accessed: Option<Timespec>) -> Timestamps {
    Timestamps {
        last_access: accessed.unwrap_or(Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_OMIT,
        }),
        last_modification: modified,
    }
}

/// Gives a directory that is filled its times, and its mode where it was made with another.
pub(super) fn dress(
    root: BorrowedFd<'_>,
    path: &[u8],
    mode: Option<u32>,
    times: &Timestamps,
) -> Result<()> {
    if let Some(mode) = mode {
        rustix::fs::chmodat(root, path, Mode::from_raw_mode(mode), AtFlags::empty())?;
    }
    rustix::fs::utimensat(root, path, times, AtFlags::SYMLINK_NOFOLLOW)
}
