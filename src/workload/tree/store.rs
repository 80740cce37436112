//! Where an archive is kept during a run: in memory, or in a file without a name where
//! there is too little of it. Either goes with the process that holds it.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::MemfdFlags;

use crate::error::{Context, Result};

/// An archive under construction.
pub(super) struct Store {
    file: File,
    /// Bytes that may be held in memory; 0 once the rest is on disk.
    room: u64,
    written: u64,
    spill: PathBuf,
}

impl Store {
    /// Empty, in memory; on disk in the directory `spill` from the moment that it takes
    /// more than a third of the memory available.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn new(spill: &Path) -> Result<Self> {
        let file = rustix::fs::memfd_create("mountmark-archive", MemfdFlags::CLOEXEC)
            .context("cannot keep an archive in memory")?;
        Ok(Store {
            file: File::from(file),
            room: available() / 3,
            written: 0,
            spill: spill.to_path_buf(),
        })
    }

    /// The finished archive.
    pub fn into_file(self) -> File {
        self.file
    }

    fn move_to_disk(&mut self) -> io::Result<()> {
        let path = self.spill.join("archive");
        let mut disk = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        std::fs::remove_file(&path)?;
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.file, &mut disk)?;
        self.file = disk;
        self.room = u64::MAX;
        Ok(())
    }
}

impl Write for Store {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written + bytes.len() as u64 > self.room {
            self.move_to_disk()?;
        }
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Memory that can be used without swapping, bytes.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_too_much_for_memory_goes_to_disk() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::new(temp.path()).unwrap();
        store.room = 5;
        for part in [&b"abc"[..], b"def", b"ghi"] {
            store.write_all(part).unwrap();
        }
        let mut file = store.into_file();
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abcdefghi");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
        assert!(available() > 0);
    }
}
