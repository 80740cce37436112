//! What makes a directory ours: a file in it that holds the run id. Nothing without it
//! is ever removed, so a wrong path costs an error and not somebody's data.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::{Context, Result, bail};

/// The name of the marker file.
pub const MARKER: &str = ".mountmark";

/// How the name of every image file of ours ends.
pub const IMAGE_SUFFIX: &str = ".mountmark.img";

/// How the name of every directory and cgroup of ours begins.
pub const PREFIX: &str = "mountmark-";

/// Declares the existing directory `dir` to belong to `run_id`.
pub fn put(dir: &Path, run_id: &str) -> Result<()> {
    let path = dir.join(MARKER);
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| writeln!(file, "{run_id}"))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The run a directory belongs to, if it is one of ours.
pub fn owner(dir: &Path) -> Option<String> {
    owner_at(&open_dir(dir).ok()?)
}

fn open_dir(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, DIRECTORY, Mode::empty())
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn owner_at(dir: &OwnedFd) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, MARKER, flags, Mode::empty()).ok()?;
    let mut text = String::new();
    std::fs::File::from(fd)
        .take(4096)
        .read_to_string(&mut text)
        .ok()?;
    Some(text.trim_end().to_string())
}

/// Removes `dir` and all below it; `false` if there was none. Refuses a directory
/// without the marker of `run_id`, follows no symbolic link and crosses no mount point.
/// The marker goes last, so that an interrupted removal can be taken up again.
pub fn remove_tree(dir: &Path, run_id: &str) -> Result<bool> {
    let fd = match open_dir(dir) {
        Err(Errno::NOENT) => return Ok(false),
        other => other.with_context(|| format!("cannot open {}", dir.display()))?,
    };
    match owner_at(&fd) {
        Some(owner) if owner == run_id => {}
        Some(owner) => bail!(
            "{} belongs to run {owner}, not to {run_id}: left alone",
            dir.display()
        ),
        None => bail!(
            "{} has no marker file {MARKER} of ours: left alone",
            dir.display()
        ),
    }
    empty(&fd, dir, Some(MARKER))?;
    rustix::fs::unlinkat(&fd, MARKER, AtFlags::empty())
        .and_then(|()| rustix::fs::unlinkat(CWD, dir, AtFlags::REMOVEDIR))
        .with_context(|| format!("cannot remove {}", dir.display()))?;
    Ok(true)
}

/// Empties an open directory; `path` is for messages only, every step is relative to
/// the descriptor, so nobody can swap a directory for a link under us.
fn empty(dir: &OwnedFd, path: &Path, except: Option<&str>) -> Result<()> {
    for (name, kind) in entries(dir).with_context(|| format!("cannot read {}", path.display()))? {
        if except.is_some_and(|e| e.as_bytes() == name.as_bytes()) {
            continue;
        }
        let shown = path.join(name.to_string_lossy().as_ref());
        let flags = if kind == FileType::Directory {
            let below = enter(dir, &name).map_err(|e| not_entered(e, &shown))?;
            empty(&below, &shown, None)?;
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        rustix::fs::unlinkat(dir, &name, flags)
            .with_context(|| format!("cannot remove {}", shown.display()))?;
    }
    Ok(())
}

fn entries(dir: &OwnedFd) -> rustix::io::Result<Vec<(CString, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes() == b"." || name.to_bytes() == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

/// Opens a directory below `dir` unless that crosses into another mount: `NO_XDEV`
/// catches bind mounts too, which the device number alone does not show.
fn enter(dir: &OwnedFd, name: &CString) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    let below = match rustix::fs::openat2(dir, name, DIRECTORY, Mode::empty(), resolve) {
        Err(Errno::NOSYS) => rustix::fs::openat(dir, name, DIRECTORY, Mode::empty()),
        other => other,
    }?;
    let device = |fd: &OwnedFd| rustix::fs::fstat(fd.as_fd()).map(|s| s.st_dev);
    if device(&below)? != device(dir)? {
        return Err(Errno::XDEV);
    }
    Ok(below)
}

fn not_entered(error: Errno, path: &Path) -> crate::error::Error {
    let path = path.display();
    match error {
        Errno::XDEV => crate::error::anyhow!(
            "{path} is another file system: nothing on it is removed; unmount it first"
        ),
        other => crate::error::Error::new(other).context(format!("cannot open {path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_directory_with_our_marker_goes() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("d");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("file"), "x").unwrap();
        let error = remove_tree(&dir, "r1").unwrap_err().to_string();
        assert!(error.contains("no marker"), "{error}");
        put(&dir, "r1").unwrap();
        assert_eq!(owner(&dir).as_deref(), Some("r1"));
        let error = remove_tree(&dir, "r2").unwrap_err().to_string();
        assert!(error.contains("belongs to run r1"), "{error}");
        assert!(dir.join("file").exists());
        assert!(remove_tree(&dir, "r1").unwrap());
        assert!(!dir.exists());
        assert!(!remove_tree(&dir, "r1").unwrap());
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        let outside = temp.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        let dir = temp.path().join("d");
        fs::create_dir_all(dir.join("a/b")).unwrap();
        put(&dir, "r").unwrap();
        symlink(&outside, dir.join("a/link")).unwrap();
        symlink(&dir, temp.path().join("alias")).unwrap();
        assert!(remove_tree(&temp.path().join("alias"), "r").is_err());
        remove_tree(&dir, "r").unwrap();
        assert!(outside.join("kept").exists());
    }
}
