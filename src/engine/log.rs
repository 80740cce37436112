//! What a process of ours prints: kept in a file or in memory, quoted in errors.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::error::{Context, Result};

/// The end of a log that goes into an error message.
const TAIL_BYTES: u64 = 8192;
const TAIL_LINES: usize = 12;

/// Where a process writes what it has to say.
pub(super) struct Log {
    file: File,
}

impl Log {
    /// A file, readable by us alone; emptied.
    pub fn at(path: &Path) -> Result<Self> {
        // Appending, so that the two streams do not overwrite each other.
        let open = || {
            let _ = fs::remove_file(path);
            OpenOptions::new()
                .read(true)
                .append(true)
                .create_new(true)
                .mode(0o600)
                .open(path)
        };
        let file = open().with_context(|| format!("cannot make the log {}", path.display()))?;
        Ok(Log { file })
    }

    /// No file at all: for helpers.
    pub fn in_memory() -> Result<Self> {
        Ok(Log { file: memory()? })
    }

    /// As the standard output of a process.
    pub fn stream(&self) -> Result<Stdio> {
        let file = self.file.try_clone().context("cannot hand the log on")?;
        Ok(Stdio::from(file))
    }

    fn read_from(&self, from_end: u64) -> io::Result<String> {
        // By its own description: the process appends through the shared offset.
        let mut file = File::open(fd_path(self.file.as_raw_fd()))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(from_end)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Everything written.
    pub fn text(&self) -> String {
        self.read_from(u64::MAX).unwrap_or_default()
    }

    /// The last lines.
    pub fn tail(&self) -> Vec<String> {
        let text = self.read_from(TAIL_BYTES).unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        let skip = lines.len().saturating_sub(TAIL_LINES);
        lines[skip..].iter().map(ToString::to_string).collect()
    }

    /// The last lines as the end of a message.
    pub fn quoted(&self) -> String {
        let tail = self.tail();
        if tail.is_empty() {
            return ", and its log is empty".to_string();
        }
        format!("; its last lines:\n  {}", tail.join("\n  "))
    }
}

fn memory() -> Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let fd = memfd_create(c"mountmark", MFdFlags::MFD_CLOEXEC);
    Ok(File::from(fd.context("cannot make a file in memory")?))
}

/// A standard input that ends: no pipe that could block us.
pub(super) fn file_of(text: &str) -> Result<File> {
    let mut file = memory()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

fn fd_path(fd: RawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{fd}"))
}
