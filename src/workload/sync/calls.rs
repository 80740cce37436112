//! Writes of one size and what makes them durable: the calls that `wal_sync_method` and
//! its like choose from.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags};
use rustix::io::ReadWriteFlags;

use super::buffer::Aligned;
use super::{Scratch, Shape};

/// The file that is written over, bytes: a WAL segment's size.
pub(super) const FILE: u64 = 16 << 20;

const NAME: &str = "overwritten";

/// What makes a write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Fdatasync,
    Fsync,
    /// Of the file, at open.
    Dsync,
    /// Of the file, at open.
    Sync,
    /// Of the one write.
    RwfDsync,
}

const METHODS: [Method; 5] = [
    Method::Fdatasync,
    Method::Fsync,
    Method::Dsync,
    Method::Sync,
    Method::RwfDsync,
];

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Fdatasync => "fdatasync",
            Method::Fsync => "fsync",
            Method::Dsync => "O_DSYNC",
            Method::Sync => "O_SYNC",
            Method::RwfDsync => "RWF_DSYNC",
        }
    }

    fn open_flags(self) -> i32 {
        match self {
            Method::Dsync => libc::O_DSYNC,
            Method::Sync => libc::O_SYNC,
            _ => 0,
        }
    }
}

/// Where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// The next place of a file that has all its blocks, from the start again at its end.
    Overwrite,
    /// The end of a file that grows.
    Append,
    /// As `Overwrite`, two writes to one sync; methods without a call of their own make
    /// each write durable.
    TwoWrites,
}

/// One shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pattern: Pattern,
    method: Method,
    direct: bool,
    kib: u64,
}

/// Every shape, in the order of the table.
pub(super) fn all() -> impl Iterator<Item = Call> {
    let patterns = [Pattern::Overwrite, Pattern::Append, Pattern::TwoWrites];
    patterns.into_iter().flat_map(|pattern| {
        [4, 8, 16, 64].into_iter().flat_map(move |kib| {
            METHODS.into_iter().flat_map(move |method| {
                [false, true].into_iter().map(move |direct| Call {
                    pattern,
                    method,
                    direct,
                    kib,
                })
            })
        })
    })
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = match self.pattern {
            Pattern::Overwrite => "overwrite",
            Pattern::Append => "append",
            Pattern::TwoWrites => "two-writes",
        };
        write!(f, "{pattern} {}K {}", self.kib, self.method.name())?;
        match self.direct {
            true => f.write_str(" O_DIRECT"),
            false => Ok(()),
        }
    }
}

/// Makes the file that is written over, with all its blocks.
pub(super) fn prepare(dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join(NAME);
    filled(&path, FILE)?;
    Ok(path)
}

/// A file of `size` bytes, a multiple of 1 MiB, that has been written and synced.
pub(super) fn filled(path: &Path, size: u64) -> io::Result<()> {
    let file = File::create_new(path)?;
    let buffer = Aligned::new(1 << 20);
    for at in (0..size).step_by(buffer.len()) {
        file.write_all_at(&buffer, at)?;
    }
    file.sync_all()
}

impl Call {
    /// Opens the file of the shape in `dir`.
    pub fn open(self, dir: &Path) -> io::Result<Box<dyn Shape>> {
        let append = self.pattern == Pattern::Append;
        let scratch = append.then(|| Scratch::new(dir, "appended"));
        let path = scratch
            .as_ref()
            .map_or_else(|| dir.join(NAME), |s| s.path.clone());
        let direct = if self.direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new()
            .write(true)
            .create(append)
            .custom_flags(self.method.open_flags() | direct)
            .open(path)?;
        if self.direct && !takes_direct(&file) {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        Ok(Box::new(Writer {
            call: self,
            buffer: Aligned::new((self.kib << 10) as usize),
            at: 0,
            file,
            _scratch: scratch,
        }))
    }
}

/// False where the flag is taken and then passed over (ext4 with data=journal, btrfs with
/// checksums of some kinds): the kernel tells since 6.1.
fn takes_direct(file: &File) -> bool {
    let told = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    told.map_or(true, |stat| {
        stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 || stat.stx_dio_offset_align > 0
    })
}

struct Writer {
    call: Call,
    buffer: Aligned,
    at: u64,
    file: File,
    _scratch: Option<Scratch>,
}

impl Writer {
    fn write(&mut self) -> io::Result<()> {
        let written = match self.call.method {
            Method::RwfDsync => rustix::io::pwritev2(
                &self.file,
                &[IoSlice::new(&self.buffer)],
                self.at,
                ReadWriteFlags::DSYNC,
            )?,
            _ => self.file.write_at(&self.buffer, self.at)?,
        };
        if written != self.buffer.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.at += written as u64;
        if self.call.pattern != Pattern::Append && self.at >= FILE {
            self.at = 0;
        }
        Ok(())
    }
}

impl Shape for Writer {
    fn bytes(&self) -> u64 {
        let writes = match self.call.pattern {
            Pattern::TwoWrites => 2,
            _ => 1,
        };
        writes * self.buffer.len() as u64
    }

    fn call(&mut self) -> io::Result<()> {
        self.write()?;
        if self.call.pattern == Pattern::TwoWrites {
            self.write()?;
        }
        match self.call.method {
            Method::Fdatasync => self.file.sync_data(),
            Method::Fsync => self.file.sync_all(),
            Method::Dsync | Method::Sync | Method::RwfDsync => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_own_name() {
        let names: std::collections::BTreeSet<String> = all().map(|c| c.to_string()).collect();
        assert_eq!(names.len(), 3 * 4 * 5 * 2);
        assert!(names.contains("overwrite 8K fdatasync"));
        assert!(names.contains("append 64K O_DSYNC O_DIRECT"));
    }

    #[test]
    fn the_flags_differ() {
        // One is part of the other: a kernel that took both for the same would not show.
        assert_ne!(Method::Dsync.open_flags(), Method::Sync.open_flags());
        assert_eq!(
            Method::Sync.open_flags() & Method::Dsync.open_flags(),
            Method::Dsync.open_flags()
        );
    }

    #[test]
    fn what_is_written_grows_or_goes_round() {
        let temp = tempfile::tempdir().unwrap();
        let file = prepare(temp.path()).unwrap();
        for call in all().filter(|c| !c.direct && c.kib == 64) {
            let mut shape = call.open(temp.path()).unwrap();
            for _ in 0..3 {
                shape.call().unwrap();
            }
            if call.pattern == Pattern::Append {
                let length = temp.path().join("appended").metadata().unwrap().len();
                assert_eq!(length, 3 * shape.bytes());
            }
            drop(shape);
            assert_eq!(file.metadata().unwrap().len(), FILE);
            assert!(!temp.path().join("appended").exists());
        }
    }
}
