//! A look through an archive before anything is unpacked: what it holds, and whether it
//! may be unpacked at all.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use tar::{Entry, EntryType};

use super::names;
use crate::error::{Context, Result, bail};
use crate::host::interrupt;

/// What an archive holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Regular files.
    pub files: u64,
    /// Directories, those that are only implied included.
    pub dirs: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Further names of files.
    pub hard_links: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Bytes read when every name is read: files of several names count as often.
    pub read_bytes: u64,
    /// The bytes of the files, each rounded up to 1 KiB.
    pub bytes_by_1k: u64,
    /// The same, each file rounded up to 4 KiB.
    pub bytes_by_4k: u64,
    /// Where every 256th entry begins, for several jobs; the last is the end.
    pub chunks: Vec<u64>,
}

impl Contents {
    /// Names of files and links: what is counted as a file by every step.
    pub fn names(&self) -> u64 {
        self.files + self.symlinks + self.hard_links
    }
}

/// Where an entry lies in the archive, its extensions included.
pub(super) struct Place {
    pub at: u64,
    pub end: u64,
    pub kind: Kind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Dir,
    Symlink,
    HardLink,
}

const CHUNK: usize = 256;

/// Looks through `archive`, from its start; hands the place of each entry to `place`.
///
/// # Errors
/// An entry that leads out of the top, a link that points out of it, a device, a name
/// that stands twice or below what is no directory; each with the entry's name.
pub(super) fn scan(archive: &File, place: &mut dyn FnMut(Place)) -> Result<Contents> {
    let mut reader = BufReader::new(archive);
    reader.seek(SeekFrom::Start(0))?;
    let mut archive = tar::Archive::new(reader);
    let mut scan = Scan::default();
    let mut next = 0;
    let mut count = 0;
    for entry in archive.entries_with_seek().context("not a tar archive")? {
        let entry = entry.context("the archive is damaged")?;
        if count % 4096 == 0 {
            interrupt::check()?;
        }
        let at = next;
        next = entry.raw_file_position() + entry.size().next_multiple_of(512);
        let Some(kind) = scan.take(&entry)? else {
            continue;
        };
        if count % CHUNK == 0 {
            scan.contents.chunks.push(at);
        }
        count += 1;
        place(Place {
            at,
            end: next,
            kind,
        });
    }
    scan.contents.chunks.push(next);
    Ok(scan.contents)
}

#[derive(Default)]
struct Scan {
    /// Kinds and sizes.
    seen: HashMap<Vec<u8>, (Kind, u64)>,
    contents: Contents,
}

impl Scan {
    /// Checks an entry and counts it; `None` for one that stands for nothing.
    fn take<R: std::io::Read>(&mut self, entry: &Entry<'_, R>) -> Result<Option<Kind>> {
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            return Ok(None);
        }
        let full = entry.path_bytes();
        let shown = String::from_utf8_lossy(&full).into_owned();
        let refused = || format!("'{shown}' is refused");
        let Some(name) = names::below(&full).context("the archive is refused")? else {
            return Ok(kind.is_dir().then_some(Kind::Dir));
        };
        let kind = match kind {
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Directory => Kind::Dir,
            EntryType::Symlink => Kind::Symlink,
            EntryType::Link => Kind::HardLink,
            EntryType::GNUSparse => bail!("'{shown}' is sparse; pack it without --sparse"),
            _ => bail!(
                "'{shown}' is a device or a pipe; only files, directories and links are unpacked"
            ),
        };
        self.check_above(&name).with_context(refused)?;
        let size = self.check_link(kind, &name, entry).with_context(refused)?;
        match self.seen.insert(name, (kind, size)) {
            None => self.count(kind, size),
            Some((Kind::Dir, _)) if kind == Kind::Dir => {}
            Some(_) => bail!("'{shown}' stands twice in the archive"),
        }
        Ok(Some(kind))
    }

    /// Every part of the way must be a directory; one that is not in the archive is implied.
    fn check_above(&mut self, name: &[u8]) -> Result<()> {
        let mut implied = Vec::new();
        for dir in names::above(name) {
            match self.seen.get(dir) {
                Some((Kind::Dir, _)) => break,
                Some(_) => bail!("'{}' is not a directory", String::from_utf8_lossy(dir)),
                None => implied.push(dir.to_vec()),
            }
        }
        for dir in implied {
            self.contents.dirs += 1;
            self.seen.insert(dir, (Kind::Dir, 0));
        }
        Ok(())
    }

    /// Where a link leads to; the size of the file that the name stands for.
    fn check_link<R: std::io::Read>(
        &self,
        kind: Kind,
        name: &[u8],
        entry: &Entry<'_, R>,
    ) -> Result<u64> {
        if !matches!(kind, Kind::Symlink | Kind::HardLink) {
            return Ok(entry.size());
        }
        let target = entry.link_name_bytes().context("it is a link to nothing")?;
        let shown = String::from_utf8_lossy(&target);
        if kind == Kind::Symlink {
            if !names::stays_inside(name, &target) {
                bail!("its link '{shown}' points outside");
            }
            return Ok(0);
        }
        let target = names::below(&target)?.context("it is a link to the top")?;
        match self.seen.get(&target) {
            Some((Kind::File | Kind::HardLink, size)) => Ok(*size),
            _ => bail!("it is a link to '{shown}', which is no file that comes before it"),
        }
    }

    fn count(&mut self, kind: Kind, size: u64) {
        let contents = &mut self.contents;
        match kind {
            Kind::Dir => contents.dirs += 1,
            Kind::Symlink => contents.symlinks += 1,
            Kind::HardLink => {
                contents.hard_links += 1;
                contents.read_bytes += size;
            }
            Kind::File => {
                contents.files += 1;
                contents.bytes += size;
                contents.read_bytes += size;
                contents.bytes_by_1k += size.next_multiple_of(1 << 10);
                contents.bytes_by_4k += size.next_multiple_of(4 << 10);
            }
        }
    }
}
