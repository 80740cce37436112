//! Copying, reading and removing a tree, at no more cost than `cp -a`, `cat` and `rm -rf`.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use rustix::fs::{Advice, AtFlags, FileType, Mode, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::Done;
use super::place::{self, DIR, NEW, READ};
use super::unpack::shown;
use super::walk::{Open, join, walk};
use crate::error::{Context, Result, bail};

const BUFFER: usize = 256 << 10;
/// Above this the kernel is told that a file is read from its start to its end.
const LONG: i64 = 128 << 10;

/// Names of files that have several, by their inode: the first to be met is copied.
type Linked = Mutex<HashMap<u64, Vec<u8>>>;

struct CopiedDir {
    path: Vec<u8>,
    mode: Option<u32>,
    times: Timestamps,
}

struct Copier {
    buffer: Vec<u8>,
    dirs: Vec<CopiedDir>,
    hard_links: Vec<(Vec<u8>, Vec<u8>)>,
    done: Done,
}

/// Copies the tree at `from` into the empty directory `to` by reading and writing (never
/// by sharing blocks, which would copy nothing), with modes, times and links.
pub(super) fn copy(from: BorrowedFd<'_>, to: BorrowedFd<'_>, jobs: usize) -> Result<Done> {
    let linked = Linked::default();
    let begin = || Copier {
        buffer: vec![0; BUFFER],
        dirs: Vec::new(),
        hard_links: Vec::new(),
        done: Done::default(),
    };
    let visit = |copier: &mut Copier, open: &Open<'_>| copier.dir(open, to, &linked);
    let (mut copiers, _) = walk(from, jobs, begin, visit)?;
    let mut done = Done::default();
    for copier in &copiers {
        for (name, first) in &copier.hard_links {
            rustix::fs::linkat(to, first, to, name, AtFlags::empty())
                .with_context(|| format!("cannot link {}", shown(name)))?;
            done.names += 1;
        }
        done += copier.done;
    }
    let mut dirs: Vec<_> = copiers.iter_mut().flat_map(|c| c.dirs.drain(..)).collect();
    dirs.sort_by(|a, b| b.path.cmp(&a.path));
    for dir in dirs {
        place::dress(to, &dir.path, dir.mode, &dir.times)
            .with_context(|| format!("cannot set the mode and time of {}", shown(&dir.path)))?;
    }
    Ok(done)
}

impl Copier {
    fn dir(&mut self, open: &Open<'_>, to: BorrowedFd<'_>, linked: &Linked) -> Result<()> {
        let made: OwnedFd;
        let into = match open.path {
            // The top is there already and is not the archive's.
            b"" => to,
            path => {
                let stat = rustix::fs::fstat(open.fd)?;
                let mode = stat.st_mode & 0o777;
                rustix::fs::mkdirat(to, path, Mode::from_raw_mode(mode | 0o700))?;
                self.dirs.push(CopiedDir {
                    path: path.to_vec(),
                    mode: (mode & 0o700 != 0o700).then_some(mode),
                    times: times(&stat),
                });
                made = place::open(to, path, DIR, 0)?;
                made.as_fd()
            }
        };
        for (name, kind) in open.entries.files() {
            let names = match kind {
                FileType::Symlink => symlink(open.fd, into, name).map(|()| 1),
                FileType::RegularFile => self.file(open, into, name, linked),
                _ => Err(Errno::INVAL),
            };
            self.done.names +=
                names.with_context(|| format!("cannot copy {}", name.to_string_lossy()))?;
        }
        Ok(())
    }

    /// Gives how many names it made: a hard link is made, and counted, at the end.
    fn file(
        &mut self,
        open: &Open<'_>,
        into: BorrowedFd<'_>,
        name: &CStr,
        linked: &Linked,
    ) -> rustix::io::Result<u64> {
        let source = rustix::fs::openat(open.fd, name, READ, Mode::empty())?;
        let stat = rustix::fs::fstat(&source)?;
        if stat.st_nlink > 1 {
            let path = join(open.path, name);
            let mut linked = linked
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(first) = linked.get(&stat.st_ino) {
                self.hard_links.push((path, first.clone()));
                return Ok(0);
            }
            linked.insert(stat.st_ino, path);
        }
        let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
        let target = rustix::fs::openat(into, name, NEW, mode)?;
        if stat.st_size > LONG {
            rustix::fs::fadvise(&source, 0, None, Advice::Sequential)?;
        }
        let buffer = &mut self.buffer;
        self.done.bytes += through(&source, buffer, stat.st_size, |mut part| {
            while !part.is_empty() {
                let written = rustix::io::write(&target, part)?;
                part = &part[written..];
            }
            Ok(())
        })?;
        rustix::fs::futimens(&target, &times(&stat))?;
        Ok(1)
    }
}

/// Reads a file of `size` bytes to its end and hands on the parts. A part that is shorter
/// than asked for and reaches the size is the last: the end need not be met.
fn through(
    file: &OwnedFd,
    buffer: &mut [u8],
    size: i64,
    mut part: impl FnMut(&[u8]) -> rustix::io::Result<()>,
) -> rustix::io::Result<u64> {
    let mut total = 0;
    loop {
        let read = rustix::io::read(file, &mut *buffer)?;
        part(&buffer[..read])?;
        total += read as u64;
        if read == 0 || read < buffer.len() && total >= size as u64 {
            return Ok(total);
        }
    }
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds: i64, nanoseconds: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds as i64,
    };
    place::times(
        time(stat.st_mtime, stat.st_mtime_nsec),
        Some(time(stat.st_atime, stat.st_atime_nsec)),
    )
}

fn symlink(from: BorrowedFd<'_>, into: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<()> {
    let target = rustix::fs::readlinkat(from, name, Vec::new())?;
    let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    rustix::fs::symlinkat(&target, into, name)?;
    rustix::fs::utimensat(into, name, &times(&stat), AtFlags::SYMLINK_NOFOLLOW)
}

struct Reader {
    buffer: Vec<u8>,
    done: Done,
}

/// Reads every file of the tree to its end and the target of every link.
pub(super) fn read(root: BorrowedFd<'_>, jobs: usize) -> Result<Done> {
    let begin = || Reader {
        buffer: vec![0; BUFFER],
        done: Done::default(),
    };
    let visit = |reader: &mut Reader, open: &Open<'_>| -> Result<()> {
        for (name, kind) in open.entries.files() {
            let read = match kind {
                FileType::Symlink => rustix::fs::readlinkat(open.fd, name, Vec::new()).map(|_| 0),
                _ => read_file(open.fd, name, &mut reader.buffer),
            };
            reader.done.bytes +=
                read.with_context(|| format!("cannot read {}", name.to_string_lossy()))?;
            reader.done.names += 1;
        }
        Ok(())
    };
    let (readers, _) = walk(root, jobs, begin, visit)?;
    Ok(readers.iter().map(|r| r.done).sum())
}

fn read_file(dir: BorrowedFd<'_>, name: &CStr, buffer: &mut [u8]) -> rustix::io::Result<u64> {
    let file = rustix::fs::openat(dir, name, READ, Mode::empty())?;
    let size = rustix::fs::fstat(&file)?.st_size;
    through(&file, buffer, size, |_| Ok(()))
}

/// Removes all below `root`: the files of each directory as it is met, the directories
/// at the end, those below first.
pub(super) fn remove(root: BorrowedFd<'_>, jobs: usize) -> Result<Done> {
    let visit = |done: &mut Done, open: &Open<'_>| -> Result<()> {
        for (name, _) in open.entries.files() {
            rustix::fs::unlinkat(open.fd, name, AtFlags::empty())
                .with_context(|| format!("cannot remove {}", name.to_string_lossy()))?;
            done.names += 1;
        }
        Ok(())
    };
    let (done, dirs) = walk(root, jobs, Done::default, visit)?;
    for dir in dirs.iter().rev() {
        rustix::fs::unlinkat(root, dir, AtFlags::REMOVEDIR)
            .with_context(|| format!("cannot remove the directory {}", shown(dir)))?;
    }
    Ok(done.into_iter().sum())
}

/// Fails unless nothing is below `root`.
///
/// # Errors
/// The name of what was found.
pub(super) fn nothing_left(root: BorrowedFd<'_>) -> Result<()> {
    let (_, dirs) = walk(
        root,
        1,
        || (),
        |(), open| match open.entries.files().next() {
            None => Ok(()),
            Some((name, _)) => bail!("{} is left", name.to_string_lossy()),
        },
    )?;
    match dirs.first() {
        None => Ok(()),
        Some(dir) => bail!("the directory {} is left", shown(dir)),
    }
}
