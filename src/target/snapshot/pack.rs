//! Into one archive, in the order of names. A file with the content of one before is a link
//! to that: hundreds of databases that were made as copies of one take the room, and the
//! time, of one.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tar::{Builder, EntryType, Header, HeaderMode};

use super::BUFFER;
use crate::error::{Context, Result};

/// Contents are kept for comparison up to so much in all; a file beyond that is packed as
/// it is.
const KEPT_BYTES: usize = 128 << 20;
/// Files larger than this are not compared.
const LARGEST: u64 = 16 << 20;
/// Contents of one name and length that are kept.
const MOST_ALIKE: usize = 4;

/// Packs `dir` into `archive`.
pub(super) fn pack(dir: &Path, archive: &Path) -> Result<()> {
    // A server's files are nobody else's to read, packed or not.
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(archive)?;
    let mut builder = Builder::new(BufWriter::with_capacity(BUFFER, file));
    builder.follow_symlinks(false);
    builder.mode(HeaderMode::Complete);
    let mut packer = Packer {
        builder,
        seen: HashMap::new(),
        kept: 0,
        content: Vec::new(),
    };
    packer.directory(dir, Path::new("."))?;
    packer.builder.into_inner()?.flush()?;
    Ok(())
}

/// A packed file, to compare others of its name and length with.
struct Seen {
    name: PathBuf,
    content: Vec<u8>,
}

struct Packer {
    builder: Builder<BufWriter<File>>,
    seen: HashMap<(OsString, u64), Vec<Seen>>,
    kept: usize,
    content: Vec<u8>,
}

impl Packer {
    fn directory(&mut self, from: &Path, name: &Path) -> Result<()> {
        self.builder.append_dir(name, from)?;
        let mut entries: Vec<_> = std::fs::read_dir(from)
            .with_context(|| format!("cannot read {}", from.display()))?
            .collect::<std::io::Result<_>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (from, name) = (entry.path(), name.join(entry.file_name()));
            let told = || format!("cannot pack {}", from.display());
            let kind = entry.file_type().with_context(told)?;
            if kind.is_dir() {
                self.directory(&from, &name)?;
            } else if kind.is_file() {
                self.file(&from, name, entry.file_name())
                    .with_context(told)?;
            } else if kind.is_symlink() {
                self.builder
                    .append_path_with_name(&from, &name)
                    .with_context(told)?;
            }
            // Sockets and pipes belong to a process.
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, name: PathBuf, file_name: OsString) -> Result<()> {
        let mut file = File::open(from)?;
        let meta = file.metadata()?;
        let mut header = Header::new_gnu();
        header.set_metadata(&meta);
        if meta.len() > LARGEST {
            self.builder.append_data(&mut header, &name, file)?;
            return Ok(());
        }
        self.content.clear();
        file.read_to_end(&mut self.content)?;
        header.set_size(self.content.len() as u64);
        let alike = self.seen.entry((file_name, meta.len())).or_default();
        if let Some(first) = alike.iter().find(|seen| seen.content == self.content) {
            header.set_entry_type(EntryType::Link);
            header.set_size(0);
            self.builder.append_link(&mut header, &name, &first.name)?;
            return Ok(());
        }
        self.builder
            .append_data(&mut header, &name, self.content.as_slice())?;
        let room = self.kept + self.content.len() <= KEPT_BYTES && alike.len() < MOST_ALIKE;
        if room && !self.content.is_empty() {
            self.kept += self.content.len();
            alike.push(Seen {
                name,
                content: self.content.clone(),
            });
        }
        Ok(())
    }
}
