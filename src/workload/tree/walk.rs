//! Walks a tree: every directory once, the entries of each by inode number, which is
//! about the order in which they lie on the device. One job goes depth first; several
//! share a stack of directories.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard};

use rustix::fs::{AtFlags, FileType, RawDir};

use super::place::{self, DIR};
use super::unpack::shown;
use crate::error::{Context, Result};

/// A directory that is being visited.
pub(super) struct Open<'d> {
    /// Below the top; empty is the top.
    pub path: &'d [u8],
    pub fd: BorrowedFd<'d>,
    /// All entries but directories.
    pub entries: &'d Entries,
}

/// The entries of one directory; the memory is used again for the next.
#[derive(Default)]
pub(super) struct Entries {
    /// Names, each with its NUL.
    names: Vec<u8>,
    list: Vec<Listed>,
}

struct Listed {
    inode: u64,
    at: usize,
    kind: FileType,
}

impl Entries {
    fn read(&mut self, dir: &OwnedFd, buffer: &mut [MaybeUninit<u8>]) -> rustix::io::Result<()> {
        self.names.clear();
        self.list.clear();
        let mut raw = RawDir::new(dir, buffer);
        while let Some(entry) = raw.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(stat.st_mode)
                }
                known => known,
            };
            self.list.push(Listed {
                inode: entry.ino(),
                at: self.names.len(),
                kind,
            });
            self.names.extend_from_slice(name.to_bytes_with_nul());
        }
        self.list.sort_unstable_by_key(|entry| entry.inode);
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        self.list.iter().filter_map(|entry| {
            let name = CStr::from_bytes_until_nul(&self.names[entry.at..]).ok()?;
            Some((name, entry.kind))
        })
    }

    /// Names and kinds of all but directories.
    pub fn files(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        self.all().filter(|(_, kind)| *kind != FileType::Directory)
    }
}

#[derive(Default)]
struct Stack {
    waiting: Vec<Vec<u8>>,
    found: Vec<Vec<u8>>,
    busy: usize,
    failed: bool,
}

/// Visits every directory of the tree at `root`, each before those below it. Gives what
/// each job has gathered, and all directories below the top, each before those below it.
///
/// # Errors
/// The first of `visit` or of reading a directory, with the directory's name.
pub(super) fn walk<S: Send>(
    root: BorrowedFd<'_>,
    jobs: usize,
    begin: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &Open<'_>) -> Result<()> + Sync,
) -> Result<(Vec<S>, Vec<Vec<u8>>)> {
    let stack = Mutex::new(Stack {
        waiting: vec![Vec::new()],
        ..Stack::default()
    });
    let changed = Condvar::new();
    let work = || -> Result<S> {
        let mut state = begin();
        let mut entries = Entries::default();
        let mut buffer = vec![MaybeUninit::uninit(); 64 << 10];
        while let Some(path) = take(&stack, &changed) {
            let mut below = Vec::new();
            let mut one = || -> Result<()> {
                let fd = place::open(root, &path, DIR, 0)?;
                entries.read(&fd, &mut buffer)?;
                let open = Open {
                    path: &path,
                    fd: fd.as_fd(),
                    entries: &entries,
                };
                visit(&mut state, &open)?;
                let dirs = entries.all().filter(|(_, k)| *k == FileType::Directory);
                below.extend(dirs.map(|(name, _)| join(&path, name)));
                Ok(())
            };
            let result = one().with_context(|| format!("in directory '{}'", shown(&path)));
            put(&stack, &changed, below, result.is_err());
            result?;
        }
        Ok(state)
    };
    let states = super::in_parallel(jobs, work)?;
    let found = std::mem::take(&mut lock(&stack).found);
    Ok((states, found))
}

/// The path of an entry of the directory `path`.
pub(super) fn join(path: &[u8], name: &CStr) -> Vec<u8> {
    let mut joined = Vec::with_capacity(path.len() + 1 + name.count_bytes());
    if !path.is_empty() {
        joined.extend_from_slice(path);
        joined.push(b'/');
    }
    joined.extend_from_slice(name.to_bytes());
    joined
}

fn lock(stack: &Mutex<Stack>) -> MutexGuard<'_, Stack> {
    stack
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The next directory; `None` when there is none and none can come any more.
fn take(stack: &Mutex<Stack>, changed: &Condvar) -> Option<Vec<u8>> {
    let mut stack = lock(stack);
    loop {
        if stack.failed {
            return None;
        }
        if let Some(path) = stack.waiting.pop() {
            stack.busy += 1;
            return Some(path);
        }
        if stack.busy == 0 {
            return None;
        }
        stack = changed
            .wait(stack)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
    }
}

fn put(stack: &Mutex<Stack>, changed: &Condvar, below: Vec<Vec<u8>>, failed: bool) {
    let mut stack = lock(stack);
    stack.busy -= 1;
    stack.failed |= failed;
    stack.found.extend(below.iter().cloned());
    stack.waiting.extend(below.into_iter().rev());
    changed.notify_all();
}
