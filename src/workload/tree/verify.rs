//! Compares a tree with the archive it came from, outside every window: contents, modes,
//! times, link targets, and that nothing else is there.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, Stat};
use tar::{Entry, EntryType};

use super::names;
use super::place::{self, DIR, READ};
use super::scan::Contents;
use super::unpack::{Part, open, shown};
use super::walk::walk;
use crate::error::{Context, Result, bail, ensure};

/// Compares the tree at `root` with the archive.
///
/// # Errors
/// The name of the first entry that differs, and in what; more or fewer names than the
/// archive has.
pub(super) fn verify(archive: &Path, contents: &Contents, root: BorrowedFd<'_>) -> Result<()> {
    let file = open(archive)?;
    let end = contents.chunks.last().copied().unwrap_or(0);
    let mut archive = Part::new(&file, 0, end);
    let mut buffers = (Vec::new(), Vec::new());
    for entry in archive.entries()? {
        let mut entry = entry?;
        let Some(name) = names::below(&entry.path_bytes())? else {
            continue;
        };
        compare(&mut entry, &name, root, &mut buffers)
            .with_context(|| format!("{} is not as in the archive", shown(&name)))?;
    }
    let (names, dirs) = walk(
        root,
        1,
        || 0,
        |names, open| {
            *names += open.entries.files().count() as u64;
            Ok(())
        },
    )?;
    let found = (names.iter().sum::<u64>(), dirs.len() as u64);
    let expected = (contents.names(), contents.dirs);
    ensure!(
        found == expected,
        "there are {} files and {} directories, the archive has {} and {}",
        found.0,
        found.1,
        expected.0,
        expected.1
    );
    Ok(())
}

fn compare<R: Read>(
    entry: &mut Entry<'_, R>,
    name: &[u8],
    root: BorrowedFd<'_>,
    buffers: &mut (Vec<u8>, Vec<u8>),
) -> Result<()> {
    let (dir, last) = names::split(name);
    let kind = entry.header().entry_type();
    if kind == EntryType::XGlobalHeader {
        return Ok(());
    }
    let parent = place::open(root, dir, DIR, 0)?;
    let stat = rustix::fs::statat(&parent, last, AtFlags::SYMLINK_NOFOLLOW)?;
    let found = FileType::from_raw_mode(stat.st_mode);
    match kind {
        EntryType::Directory => {
            ensure!(found == FileType::Directory, "it is no directory");
            same_facts(entry, &stat)
        }
        EntryType::Symlink => {
            ensure!(found == FileType::Symlink, "it is no symbolic link");
            let target = rustix::fs::readlinkat(&parent, last, Vec::new())?;
            let wanted = entry.link_name_bytes().unwrap_or_default();
            ensure!(target.as_bytes() == &*wanted, "it points elsewhere");
            same_time(entry, &stat)
        }
        EntryType::Link => {
            let first = names::below(&entry.link_name_bytes().unwrap_or_default())?;
            let first = first.context("it is a link to the top")?;
            let other = rustix::fs::statat(root, &first, AtFlags::SYMLINK_NOFOLLOW)?;
            ensure!(other.st_ino == stat.st_ino, "it is another file");
            Ok(())
        }
        _ => {
            ensure!(found == FileType::RegularFile, "it is no file");
            same_facts(entry, &stat)?;
            let file = rustix::fs::openat(parent.as_fd(), last, READ, Mode::empty())?;
            let (wanted, found) = buffers;
            wanted.clear();
            found.clear();
            entry.read_to_end(wanted)?;
            std::fs::File::from(file).read_to_end(found)?;
            ensure!(wanted == found, "its contents differ");
            Ok(())
        }
    }
}

fn same_facts<R: Read>(entry: &Entry<'_, R>, stat: &Stat) -> Result<()> {
    let (wanted, found) = (entry.header().mode()? & 0o777, stat.st_mode & 0o777);
    if wanted != found {
        bail!("its mode is {found:o}, not {wanted:o}");
    }
    same_time(entry, stat)
}

fn same_time<R: Read>(entry: &Entry<'_, R>, stat: &Stat) -> Result<()> {
    let (wanted, found) = (entry.header().mtime()? as i64, stat.st_mtime);
    ensure!(
        wanted == found,
        "it was last changed at {found}, not at {wanted}"
    );
    Ok(())
}
