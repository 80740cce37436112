//! Which file systems this machine can make.

use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, fsopen};

use super::FsType;

/// Why a file system cannot be made here, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct Missing {
    /// What is missing.
    pub reason: String,
    /// The way out.
    pub remedy: String,
}

/// Whether this machine can make and mount `fs`: asks the kernel by `fsopen`, which
/// needs no device and loads the module where there is one, and looks for mkfs.
pub fn probe(fs: FsType) -> Result<(), Missing> {
    let missing = |reason: String, remedy: String| Err(Missing { reason, remedy });
    match fsopen(fs.name(), FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(_) => {}
        Err(Errno::NODEV) => {
            return missing(
                format!("{fs} is not in this kernel"),
                "boot a kernel that has it".to_string(),
            );
        }
        Err(Errno::PERM | Errno::ACCESS) => {
            return missing(
                format!("making {fs} needs the right to mount"),
                "run as root".to_string(),
            );
        }
        Err(Errno::NOSYS) => {
            return missing(
                "this kernel has no fsopen".to_string(),
                "use Linux 5.2 or later".to_string(),
            );
        }
        Err(error) => {
            return missing(
                format!("the kernel cannot open {fs}: {error}"),
                "see the kernel log".to_string(),
            );
        }
    }
    match (mkfs_name(fs), package(fs)) {
        (Some(tool), Some(package)) if find_program(tool).is_none() => missing(
            format!("{tool} is not installed"),
            format!("install the package {package}"),
        ),
        _ => Ok(()),
    }
}

/// The program that makes `fs`; none for tmpfs.
pub(super) fn mkfs_name(fs: FsType) -> Option<&'static str> {
    Some(match fs {
        FsType::Ext2 => "mkfs.ext2",
        FsType::Ext3 => "mkfs.ext3",
        FsType::Ext4 => "mkfs.ext4",
        FsType::Xfs => "mkfs.xfs",
        FsType::Btrfs => "mkfs.btrfs",
        FsType::Jfs => "mkfs.jfs",
        FsType::Reiserfs => "mkfs.reiserfs",
        FsType::Tmpfs => return None,
    })
}

fn package(fs: FsType) -> Option<&'static str> {
    Some(match fs {
        FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => "e2fsprogs",
        FsType::Xfs => "xfsprogs",
        FsType::Btrfs => "btrfs-progs",
        FsType::Jfs => "jfsutils",
        FsType::Reiserfs => "reiserfsprogs",
        FsType::Tmpfs => return None,
    })
}

/// Finds a program on PATH, and where administration tools are when PATH does not say.
pub(super) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|program| is_executable(program))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_beside_the_path_too() {
        assert!(find_program("sh").is_some());
        assert!(find_program("mountmark-no-such-program").is_none());
    }

    #[test]
    fn what_is_missing_is_told_with_the_way_out() {
        let missing = Missing {
            reason: "mkfs.xfs is not installed".into(),
            remedy: "install the package xfsprogs".into(),
        };
        assert_eq!(
            missing.to_string(),
            "mkfs.xfs is not installed; install the package xfsprogs"
        );
    }
}
