//! Out of the archive: every file is written anew, those too that were packed as links.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use tar::{Archive, Entry, EntryType, Header};

use super::BUFFER;
use crate::error::{Context, Result, bail};

type Packed<'a> = Entry<'a, BufReader<File>>;

/// Restores `archive` into the directory `into`, which is there.
pub(super) fn restore(archive: &Path, into: &Path) -> Result<()> {
    let mut packed = Archive::new(BufReader::with_capacity(BUFFER, File::open(archive)?));
    let mut restorer = Restorer {
        into,
        archive: File::open(archive)?,
        owns: rustix::process::geteuid().is_root(),
        directories: Vec::new(),
        contents: HashMap::new(),
        buffer: Vec::new(),
    };
    // Not by seeking, which throws the buffer away at every file.
    for entry in packed.entries()? {
        restorer.entry(entry?)?;
    }
    restorer.finish()
}

struct Restorer<'a> {
    into: &'a Path,
    archive: File,
    /// Root gives files their owners.
    owns: bool,
    /// What is set when everything is in them.
    directories: Vec<(PathBuf, Header)>,
    /// Where in the archive the content of a file lies, by its path below `into`.
    contents: HashMap<PathBuf, (u64, u64)>,
    buffer: Vec<u8>,
}

impl Restorer<'_> {
    fn entry(&mut self, mut entry: Packed<'_>) -> Result<()> {
        let name = entry.path()?.into_owned();
        let header = entry.header().clone();
        let path = below(self.into, &name)?;
        let told = || format!("cannot restore {}", path.display());
        match header.entry_type() {
            EntryType::Directory => {
                if path != self.into {
                    std::fs::create_dir(&path).with_context(told)?;
                }
                self.directories.push((path, header));
                return Ok(());
            }
            EntryType::Symlink => {
                let Some(aim) = entry.link_name()? else {
                    bail!("a link without its aim: {}", name.display());
                };
                symlink(aim, &path).with_context(told)?;
                if self.owns {
                    let (uid, gid) = owner(&header)?;
                    std::os::unix::fs::lchown(&path, Some(uid), Some(gid)).with_context(told)?;
                }
                return touch(&path, &header).with_context(told);
            }
            EntryType::Link => {
                let first = entry.link_name()?;
                let first = first.map(|name| below(self.into, &name)).transpose()?;
                let place = first.and_then(|first| self.contents.get(&first).copied());
                let Some((at, size)) = place else {
                    bail!("the archive lacks the content of {}", name.display());
                };
                self.buffer.resize(size as usize, 0);
                self.archive.read_exact_at(&mut self.buffer, at)?;
            }
            EntryType::Regular => {
                let place = (entry.raw_file_position(), entry.size());
                self.contents.insert(path.clone(), place);
                self.buffer.clear();
                // A large file goes through in pieces.
                if entry.size() > BUFFER as u64 {
                    let file = create(&path, &header).with_context(told)?;
                    copy(&mut entry, &file, &mut self.buffer).with_context(told)?;
                    return self.dress(&file, &header).with_context(told);
                }
                entry.read_to_end(&mut self.buffer)?;
            }
            other => bail!("{} is of an unknown kind {other:?}", name.display()),
        }
        let mut file = create(&path, &header).with_context(told)?;
        file.write_all(&self.buffer).with_context(told)?;
        self.dress(&file, &header).with_context(told)
    }

    /// Mode, owner and time of a file.
    fn dress(&self, file: &File, header: &Header) -> Result<()> {
        if self.owns {
            let (uid, gid) = owner(header)?;
            std::os::unix::fs::fchown(file, Some(uid), Some(gid))?;
        }
        // After the owner, whose change takes some bits away.
        file.set_permissions(Permissions::from_mode(header.mode()? & 0o7777))?;
        rustix::fs::futimens(file, &times(header)?)?;
        Ok(())
    }

    /// The directories, whose times the files in them changed; inner ones first.
    fn finish(self) -> Result<()> {
        if self.directories.is_empty() {
            bail!("the archive is empty");
        }
        for (path, header) in self.directories.iter().rev() {
            let told = || format!("cannot restore {}", path.display());
            let dir = File::open(path).with_context(told)?;
            self.dress(&dir, header).with_context(told)?;
        }
        Ok(())
    }
}

/// A name of the archive below `into`: it cannot lead elsewhere.
fn below(into: &Path, name: &Path) -> Result<PathBuf> {
    let mut path = into.to_path_buf();
    for part in name.components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            _ => bail!("the archive names {}, which lies outside", name.display()),
        }
    }
    Ok(path)
}

fn create(path: &Path, header: &Header) -> Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(header.mode()? & 0o700)
        .open(path)?;
    Ok(file)
}

fn copy(from: &mut impl Read, mut to: &File, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.resize(BUFFER, 0);
    loop {
        match from.read(buffer)? {
            0 => return Ok(()),
            n => to.write_all(&buffer[..n])?,
        }
    }
}

fn owner(header: &Header) -> Result<(u32, u32)> {
    Ok((header.uid()? as u32, header.gid()? as u32))
}

/// The time of a link itself.
fn touch(path: &Path, header: &Header) -> Result<()> {
    rustix::fs::utimensat(CWD, path, &times(header)?, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

fn times(header: &Header) -> Result<Timestamps> {
    let time = Timespec {
        tv_sec: i64::try_from(header.mtime()?)?,
        tv_nsec: 0,
    };
    Ok(Timestamps {
        last_access: time,
        last_modification: time,
    })
}
