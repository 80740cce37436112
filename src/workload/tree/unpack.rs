//! Unpacks an archive, as `tar x` does: in the order of the archive, modes and times of
//! files as they are written, those of directories at the end. Owners are left out:
//! everything belongs to who runs this; so are set-id bits.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, Mode, Timespec};
use rustix::io::Errno;
use tar::{Entry, EntryType};

use super::Done;
use super::names;
use super::place::{self, DIR, NEW};
use crate::error::{Context, Result, bail};

const BUFFER: usize = 256 << 10;

/// Unpacks the archive whose parts begin at `chunks` (the last is its end) into the empty
/// directory `root`; several `jobs` take a part after the other.
pub(super) fn unpack(
    archive: &Path,
    chunks: &[u64],
    root: BorrowedFd<'_>,
    jobs: usize,
) -> Result<Done> {
    let whole = [0, *chunks.last().context("the archive is empty")?];
    let chunks = if jobs == 1 { &whole } else { chunks };
    let next = AtomicUsize::new(0);
    let work = || -> Result<Unpacker<'_>> {
        let file = open(archive)?;
        let mut unpacker = Unpacker::new(root);
        loop {
            match chunks.get(next.fetch_add(1, Ordering::Relaxed)..) {
                Some([at, end, ..]) => unpacker.part(&file, *at, *end)?,
                _ => return Ok(unpacker),
            }
        }
    };
    let mut unpackers = super::in_parallel(jobs, work)?;
    let mut done = Done::default();
    for unpacker in &unpackers {
        for (name, target) in &unpacker.hard_links {
            rustix::fs::linkat(root, target, root, name, AtFlags::empty())
                .with_context(|| format!("cannot link {}", shown(name)))?;
            done.names += 1;
        }
        done += unpacker.done;
    }
    // Those below first: making one would change the time of that above.
    let mut dirs: Vec<_> = unpackers
        .iter_mut()
        .flat_map(|u| u.dirs.drain(..))
        .collect();
    dirs.sort_by(|a, b| b.path.cmp(&a.path));
    for dir in dirs {
        place::dress(root, &dir.path, dir.mode, &place::times(dir.time, None))
            .with_context(|| format!("cannot set the mode and time of {}", shown(&dir.path)))?;
    }
    Ok(done)
}

pub(super) fn open(archive: &Path) -> Result<File> {
    File::open(archive).with_context(|| format!("cannot open the archive {}", archive.display()))
}

pub(super) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// A part of a file, read from its beginning.
pub(super) struct Part<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl<'f> Part<'f> {
    pub fn new(file: &'f File, at: u64, end: u64) -> tar::Archive<BufReader<Self>> {
        tar::Archive::new(BufReader::with_capacity(BUFFER, Part { file, at, end }))
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min((self.end - self.at) as usize);
        let read = self.file.read_at(&mut buffer[..length], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

struct MadeDir {
    path: Vec<u8>,
    /// To be set, where it was made with another.
    mode: Option<u32>,
    time: Timespec,
}

struct Unpacker<'r> {
    root: BorrowedFd<'r>,
    /// The directory worked in, open: names in it need no way from the root.
    parent: Option<(Vec<u8>, OwnedFd)>,
    /// That of the last file. A directory is opened when two files in turn lie in it.
    last: Vec<u8>,
    buffer: Vec<u8>,
    dirs: Vec<MadeDir>,
    hard_links: Vec<(Vec<u8>, Vec<u8>)>,
    done: Done,
}

impl<'r> Unpacker<'r> {
    fn new(root: BorrowedFd<'r>) -> Self {
        Unpacker {
            root,
            parent: None,
            last: Vec::new(),
            buffer: vec![0; BUFFER],
            dirs: Vec::new(),
            hard_links: Vec::new(),
            done: Done::default(),
        }
    }

    fn part(&mut self, file: &File, at: u64, end: u64) -> Result<()> {
        let mut archive = Part::new(file, at, end);
        for entry in archive.entries().context("cannot read the archive")? {
            let mut entry = entry.context("cannot read the archive")?;
            let Some(name) = names::below(&entry.path_bytes())? else {
                continue;
            };
            self.entry(&mut entry, &name)
                .with_context(|| format!("cannot unpack {}", shown(&name)))?;
        }
        Ok(())
    }

    fn entry<R: Read>(&mut self, entry: &mut Entry<'_, R>, name: &[u8]) -> Result<()> {
        let header = entry.header();
        let mode = header.mode()? & 0o777;
        let time = Timespec {
            tv_sec: header.mtime()? as i64,
            tv_nsec: 0,
        };
        match header.entry_type() {
            EntryType::Regular | EntryType::Continuous => self.file(entry, name, mode, time),
            EntryType::Directory => self.dir(name, mode, time),
            EntryType::Symlink => {
                let target = entry.link_name_bytes().context("a link to nothing")?;
                self.symlink(name, &target, time)
            }
            EntryType::Link => {
                let target = entry.link_name_bytes().context("a link to nothing")?;
                let target = names::below(&target)?.context("a link to the top")?;
                self.hard_links.push((name.to_vec(), target));
                Ok(())
            }
            EntryType::XGlobalHeader => Ok(()),
            _ => bail!("not a file, directory or link"),
        }
    }

    fn file<R: Read>(
        &mut self,
        entry: &mut Entry<'_, R>,
        name: &[u8],
        mode: u32,
        time: Timespec,
    ) -> Result<()> {
        let file = match self.create(name, mode) {
            Err(Errno::NOENT) => {
                self.make_above(name)?;
                self.create(name, mode)
            }
            other => other,
        }?;
        let mut left = entry.size();
        while left > 0 {
            let wanted = self.buffer.len().min(left as usize);
            let read = entry.read(&mut self.buffer[..wanted])?;
            if read == 0 {
                bail!("the archive is cut short");
            }
            let mut written = 0;
            while written < read {
                written += rustix::io::write(&file, &self.buffer[written..read])?;
            }
            left -= read as u64;
        }
        rustix::fs::futimens(&file, &place::times(time, None))?;
        self.done.names += 1;
        self.done.bytes += entry.size();
        Ok(())
    }

    fn create(&mut self, name: &[u8], mode: u32) -> rustix::io::Result<OwnedFd> {
        let (dir, last) = names::split(name);
        if self.parent.as_ref().is_none_or(|(path, _)| path != dir) {
            if self.last != dir {
                self.last.clear();
                self.last.extend_from_slice(dir);
                return place::open(self.root, name, NEW, mode);
            }
            self.parent = Some((dir.to_vec(), place::open(self.root, dir, DIR, 0)?));
        }
        match &self.parent {
            Some((_, dir)) => rustix::fs::openat(dir, last, NEW, Mode::from_raw_mode(mode)),
            None => place::open(self.root, name, NEW, mode),
        }
    }

    /// The directory that `name` lies in, open.
    fn enter(&mut self, name: &[u8]) -> Result<()> {
        let dir = names::split(name).0;
        if self.parent.as_ref().is_some_and(|(path, _)| path == dir) {
            return Ok(());
        }
        let opened = match place::open(self.root, dir, DIR, 0) {
            Err(Errno::NOENT) => {
                self.make_above(name)?;
                place::open(self.root, dir, DIR, 0)
            }
            other => other,
        }?;
        self.parent = Some((dir.to_vec(), opened));
        Ok(())
    }

    fn dir(&mut self, name: &[u8], mode: u32, time: Timespec) -> Result<()> {
        self.enter(name)?;
        let Some((_, parent)) = &self.parent else {
            bail!("no parent");
        };
        let made = Mode::from_raw_mode(mode | 0o700);
        let as_made = match rustix::fs::mkdirat(parent, names::split(name).1, made) {
            Ok(()) => mode & 0o700 == 0o700,
            // Another job, or an entry below it, came first.
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        self.dirs.push(MadeDir {
            path: name.to_vec(),
            mode: (!as_made).then_some(mode),
            time,
        });
        Ok(())
    }

    fn symlink(&mut self, name: &[u8], target: &[u8], time: Timespec) -> Result<()> {
        self.enter(name)?;
        let Some((_, parent)) = &self.parent else {
            bail!("no parent");
        };
        let last = names::split(name).1;
        rustix::fs::symlinkat(target, parent, last)?;
        let times = place::times(time, None);
        rustix::fs::utimensat(parent, last, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        self.done.names += 1;
        Ok(())
    }

    /// Makes the directories above `name` that are missing.
    fn make_above(&self, name: &[u8]) -> Result<()> {
        let above: Vec<&[u8]> = names::above(name).collect();
        for dir in above.into_iter().rev() {
            let parent = place::open(self.root, names::split(dir).0, DIR, 0)?;
            let mode = Mode::from_raw_mode(0o755);
            match rustix::fs::mkdirat(parent.as_fd(), names::split(dir).1, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
