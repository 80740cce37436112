//! An initialised data directory, packed once and restored before every round: the same
//! content on every file system, laid out by that file system under its own options. (A
//! reflink or a snapshot of the file system would not be: the first rewrite of each
//! block would be copied.)

mod pack;
mod restore;

use std::path::Path;

use rustix::fs::Advice;

use super::tree;
use crate::error::{Context, Result};

const BUFFER: usize = 1 << 20;

/// Packs the directory into an uncompressed archive, with owners, modes, times, links
/// and empty directories. Holes become zeros, so that what is restored does not depend
/// on the file system it was made on. Files of one name and content are stored once.
pub fn pack(dir: &Path, archive: &Path) -> Result<()> {
    pack::pack(dir, archive)
        .with_context(|| format!("cannot pack {} into {}", dir.display(), archive.display()))
}

/// Restores an archive into the directory `into`, which is made if it is missing and
/// gets the owner, mode and time of the packed one. Every file has blocks of its own. The
/// files are not synced.
pub fn restore(archive: &Path, into: &Path) -> Result<()> {
    let told = || {
        format!(
            "cannot restore {} into {}",
            archive.display(),
            into.display()
        )
    };
    match std::fs::create_dir(into) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(e).with_context(told),
        _ => restore::restore(archive, into).with_context(told),
    }
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
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::time::{Duration, UNIX_EPOCH};

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

    /// Copies take no room in the archive, and are files of their own again afterwards.
    #[test]
    fn copies_are_packed_once_and_restored_apart() {
        let temp = tempfile::tempdir().unwrap();
        let from = temp.path().join("from");
        for (dir, byte) in [("a", 1), ("b", 1), ("c", 2), ("d", 1)] {
            fs::create_dir_all(from.join(dir)).unwrap();
            fs::write(from.join(dir).join("1259"), vec![byte; 500_000]).unwrap();
            fs::write(from.join(dir).join("empty"), "").unwrap();
        }
        fs::set_permissions(from.join("d/1259"), Permissions::from_mode(0o640)).unwrap();
        fs::write(from.join("large"), vec![3; (16 << 20) + 17]).unwrap();
        let archive = temp.path().join("a.tar");
        pack(&from, &archive).unwrap();
        let packed = fs::metadata(&archive).unwrap().len();
        assert!(packed < (16 << 20) + 1_100_000, "{packed}");
        let into = temp.path().join("into");
        restore(&archive, &into).unwrap();
        for name in ["a/1259", "b/1259", "c/1259", "d/1259", "d/empty", "large"] {
            let (a, b) = (from.join(name), into.join(name));
            assert!(fs::read(&a).unwrap() == fs::read(&b).unwrap(), "{name}");
            let mode = |path| fs::metadata(path).unwrap().mode();
            assert_eq!(mode(&a), mode(&b), "{name}");
            let restored = fs::metadata(&b).unwrap();
            assert_eq!(restored.nlink(), 1, "{name}");
        }
    }

    #[test]
    fn an_archive_cannot_lead_outside() {
        let temp = tempfile::tempdir().unwrap();
        let archive = temp.path().join("a.tar");
        let mut builder = tar::Builder::new(File::create(&archive).unwrap());
        let mut header = tar::Header::new_gnu();
        // The crate itself writes no such name.
        header.as_old_mut().name[..7].copy_from_slice(b"../over");
        header.set_size(1);
        header.set_mode(0o600);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        builder.append(&header, &b"x"[..]).unwrap();
        builder.finish().unwrap();
        assert!(restore(&archive, &temp.path().join("into")).is_err());
        assert!(!temp.path().join("over").exists());
    }

    #[test]
    fn an_empty_archive_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let archive = temp.path().join("a.tar");
        fs::write(&archive, "").unwrap();
        let error = restore(&archive, &temp.path().join("into")).unwrap_err();
        let error = crate::error::one_line(&error);
        assert!(error.contains("is empty"), "{error}");
        assert!(restore(&temp.path().join("none"), temp.path()).is_err());
    }
}
