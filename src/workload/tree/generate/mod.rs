//! Generated archives: fixed by their scale alone, so that every run everywhere unpacks
//! the same bytes.

mod small_files;
mod source_tree;

pub(super) use small_files::small_files;
pub(super) use source_tree::source_tree;

use std::collections::HashSet;
use std::io::Write;

use tar::{EntryType, Header};

use super::random::Random;
use crate::error::{Context, Result};
use crate::host::interrupt;

/// Writes the entries of an archive.
struct Packer<W: Write> {
    builder: tar::Builder<W>,
    dirs: HashSet<String>,
    entries: u64,
}

impl<W: Write> Packer<W> {
    fn new(out: W) -> Self {
        Packer {
            builder: tar::Builder::new(out),
            dirs: HashSet::new(),
            entries: 0,
        }
    }

    /// A directory and those above it, each once.
    fn dir(&mut self, path: &str, mode: u32, time: u64) -> Result<()> {
        if path.is_empty() || self.dirs.contains(path) {
            return Ok(());
        }
        if let Some((above, _)) = path.rsplit_once('/') {
            self.dir(above, mode, time)?;
        }
        self.dirs.insert(path.to_string());
        let mut header = header(EntryType::Directory, mode, time, 0);
        self.builder
            .append_data(&mut header, format!("{path}/"), &[][..])
            .context("cannot keep the archive")?;
        self.count()
    }

    fn file(&mut self, path: &str, mode: u32, time: u64, content: &[u8]) -> Result<()> {
        let mut header = header(EntryType::Regular, mode, time, content.len() as u64);
        self.builder
            .append_data(&mut header, path, content)
            .context("cannot keep the archive")?;
        self.count()
    }

    fn symlink(&mut self, path: &str, target: &str, time: u64) -> Result<()> {
        let mut header = header(EntryType::Symlink, 0o777, time, 0);
        self.builder
            .append_link(&mut header, path, target)
            .context("cannot keep the archive")?;
        self.count()
    }

    fn count(&mut self) -> Result<()> {
        self.entries += 1;
        match self.entries % 1024 {
            0 => interrupt::check(),
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Result<()> {
        self.builder.finish().context("cannot keep the archive")
    }
}

fn header(kind: EntryType, mode: u32, time: u64, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Content to cut files from. Cutting costs nothing, and no two files begin alike.
struct Pool(Vec<u8>);

impl Pool {
    /// Lines of words: compresses about as program text does.
    fn text(random: &mut Random, length: usize) -> Self {
        const SYLLABLES: &[&str] = &[
            "al", "be", "con", "der", "en", "for", "get", "in", "ker", "lo", "ma", "ner", "out",
            "per", "que", "ran", "set", "tor", "un", "ver", "win", "ze",
        ];
        let mut text = Vec::with_capacity(length + 16);
        while text.len() < length {
            for _ in 0..random.range(1, 4) {
                text.extend_from_slice(random.pick(SYLLABLES).as_bytes());
            }
            let end = match random.once_in(9) {
                true => b'\n',
                false => *random.pick(b"   _(),;.="),
            };
            text.push(end);
        }
        Pool(text)
    }

    /// Half noise, half zeros and short patterns: compresses about as machine code does.
    fn code(random: &mut Random, length: usize) -> Self {
        let mut code = Vec::with_capacity(length + 64);
        while code.len() < length {
            match random.once_in(2) {
                true => code.extend_from_slice(&random.next().to_le_bytes()),
                false => {
                    let byte = *random.pick(&[0, 0, 0, 0x48, 0xff]);
                    code.extend(std::iter::repeat_n(byte, random.range(2, 16) as usize));
                }
            }
        }
        Pool(code)
    }

    /// `size` bytes that begin with `head`.
    fn fill(&self, random: &mut Random, head: &str, size: u64, into: &mut Vec<u8>) {
        let size = size as usize;
        into.clear();
        into.extend_from_slice(&head.as_bytes()[..head.len().min(size)]);
        let mut at = random.range(0, self.0.len() as u64) as usize;
        while into.len() < size {
            let part = &self.0[at..];
            let length = part.len().min(size - into.len());
            into.extend_from_slice(&part[..length]);
            at = 0;
        }
    }
}
