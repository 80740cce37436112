//! An initialised data directory, packed once and restored before every round: the same
//! content on every file system, laid out by that file system under its own options. (A
//! reflink or a snapshot of the file system would not be: the first rewrite of each
//! block would be copied.)

use std::fs::{File, Permissions};
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::Advice;

use super::tree;
use crate::error::{Context, Result, bail};

const BUFFER: usize = 1 << 20;

/// Packs the directory into an uncompressed archive, with owners, modes, times, links
/// and empty directories. Holes become zeros, so that what is restored does not depend
/// on the file system it was made on.
pub fn pack(dir: &Path, archive: &Path) -> Result<()> {
    let told = || format!("cannot pack {} into {}", dir.display(), archive.display());
    let file = File::create(archive).with_context(told)?;
    let mut builder = tar::Builder::new(BufWriter::with_capacity(BUFFER, file));
    builder.follow_symlinks(false);
    builder.sparse(false);
    builder.mode(tar::HeaderMode::Complete);
    builder.append_dir_all(".", dir).with_context(told)?;
    let mut file = builder.into_inner().with_context(told)?;
    file.flush().with_context(told)?;
    Ok(())
}

/// Restores an archive into the directory `into`, which is made if it is missing and
/// gets the owner, mode and time of the packed one. The files are not synced.
pub fn restore(archive: &Path, into: &Path) -> Result<()> {
    let told = || {
        format!(
            "cannot restore {} into {}",
            archive.display(),
            into.display()
        )
    };
    match std::fs::create_dir(into) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(e).with_context(told);
        }
        _ => {}
    }
    let dirs = directories(archive).with_context(told)?;
    if dirs.is_empty() {
        bail!("{} is empty", archive.display());
    }
    let mut packed = open(archive).with_context(told)?;
    packed.set_preserve_permissions(true);
    packed.set_preserve_mtime(true);
    packed.set_preserve_ownerships(rustix::process::geteuid().is_root());
    packed.unpack(into).with_context(told)?;
    for (name, header) in dirs {
        dress(into, &name, &header).with_context(told)?;
    }
    Ok(())
}

/// The directories of an archive, the top one first.
fn directories(archive: &Path) -> Result<Vec<(PathBuf, tar::Header)>> {
    let mut dirs = Vec::new();
    for entry in open(archive)?.entries_with_seek()? {
        let entry = entry?;
        if entry.header().entry_type().is_dir() {
            dirs.push((entry.path()?.into_owned(), entry.header().clone()));
        }
    }
    Ok(dirs)
}

fn open(archive: &Path) -> std::io::Result<tar::Archive<BufReader<File>>> {
    let file = File::open(archive)?;
    Ok(tar::Archive::new(BufReader::with_capacity(BUFFER, file)))
}

/// What the tar crate leaves out: the times of directories, and all of the top one.
fn dress(into: &Path, name: &Path, header: &tar::Header) -> Result<()> {
    let top = !name
        .components()
        .any(|part| matches!(part, Component::Normal(_)));
    let dir = into.join(name);
    if top && rustix::process::geteuid().is_root() {
        let (uid, gid) = (header.uid()? as u32, header.gid()? as u32);
        std::os::unix::fs::chown(&dir, Some(uid), Some(gid))?;
    }
    if top {
        std::fs::set_permissions(&dir, Permissions::from_mode(header.mode()? & 0o7777))?;
    }
    let time = UNIX_EPOCH + Duration::from_secs(header.mtime()?);
    File::open(&dir)?.set_modified(time)?;
    Ok(())
}

/// Syncs the files below `dir` and asks the kernel to drop them from its cache: advice,
/// for directories whose file system cannot be mounted anew. A case that starts so
/// counts as warm.
pub fn drop_cached(dir: &Path) -> Result<()> {
    tree::files(dir, &mut |path, file| {
        file.sync_all()
            .with_context(|| format!("cannot sync {}", path.display()))?;
        rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
            .with_context(|| format!("cannot drop {} from the cache", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn what_is_restored_is_what_was_packed() {
        let temp = tempfile::tempdir().unwrap();
        let from = temp.path().join("from");
        fs::create_dir_all(from.join("empty")).unwrap();
        fs::create_dir(from.join("closed")).unwrap();
        fs::write(from.join("closed/file"), vec![7; 10_000]).unwrap();
        symlink("closed/file", from.join("link")).unwrap();
        symlink("/nowhere", from.join("dangling")).unwrap();
        let long = "n".repeat(150);
        fs::write(from.join(&long), "long").unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(from.join("closed"), Some(65534), Some(65534)).unwrap();
        }
        fs::set_permissions(from.join("closed"), Permissions::from_mode(0o750)).unwrap();
        let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for dir in ["empty", "closed", "."] {
            File::open(from.join(dir))
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
        fs::set_permissions(&from, Permissions::from_mode(0o700)).unwrap();
        let archive = temp.path().join("a.tar");
        pack(&from, &archive).unwrap();
        let into = temp.path().join("into");
        restore(&archive, &into).unwrap();
        for name in [
            ".",
            "empty",
            "closed",
            "closed/file",
            "link",
            "dangling",
            &long,
        ] {
            let a = from.join(name).symlink_metadata().unwrap();
            let b = into.join(name).symlink_metadata().unwrap();
            let facts = |m: &fs::Metadata| (m.mode(), m.uid(), m.gid(), m.mtime());
            assert_eq!(facts(&a), facts(&b), "{name}");
        }
        assert_eq!(fs::read(into.join("link")).unwrap(), vec![7; 10_000]);
        assert_eq!(
            fs::read_link(into.join("dangling")).unwrap(),
            Path::new("/nowhere")
        );
        assert_eq!(fs::read_dir(&into).unwrap().count(), 5);
        drop_cached(&into).unwrap();
    }

    #[test]
    fn an_empty_archive_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let archive = temp.path().join("a.tar");
        fs::write(&archive, "").unwrap();
        let error = restore(&archive, &temp.path().join("into")).unwrap_err();
        assert!(error.to_string().contains("is empty"), "{error}");
        assert!(restore(&temp.path().join("none"), temp.path()).is_err());
    }
}
