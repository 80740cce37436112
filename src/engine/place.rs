//! The places a private server lives in: whom it runs as, whether it can reach its
//! directories, and whether its socket's path fits.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Uid, User, chown, geteuid};

use crate::error::{Context, Result, bail};

/// Bytes of a socket's path that the kernel takes, without the closing zero.
const SOCKET_PATH_BYTES: usize = 107;

/// An unprivileged user that a server becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl Account {
    /// The user `name` when we are root; `None` when we are not: the server is then
    /// whoever runs us.
    ///
    /// # Errors
    /// When we are root and there is no such user.
    pub fn for_server(name: &str) -> Result<Option<Self>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        match User::from_name(name).with_context(|| format!("cannot look up user {name}"))? {
            Some(user) if !user.uid.is_root() => Ok(Some(Account {
                name: user.name,
                uid: user.uid.as_raw(),
                gid: user.gid.as_raw(),
            })),
            _ => bail!(
                "the server must not run as root and there is no user '{name}' to run it as; \
                 create one: useradd --system --no-create-home {name}"
            ),
        }
    }
}

/// Makes `dir` the server's own: it must exist, and becomes closed to all others.
///
/// # Errors
/// When it cannot be given away, or lies below a directory that the server cannot pass.
pub(super) fn give(dir: &Path, account: Option<&Account>) -> Result<()> {
    let owned = || -> std::io::Result<()> {
        if let Some(account) = account {
            let (uid, gid) = (Uid::from_raw(account.uid), Gid::from_raw(account.gid));
            chown(dir, Some(uid), Some(gid))?;
        }
        fs::set_permissions(dir, Permissions::from_mode(0o700))
    };
    owned().with_context(|| format!("cannot make {} the server's own", dir.display()))?;
    match account {
        Some(account) => reachable(dir, account),
        None => Ok(()),
    }
}

/// Refuses a data directory that something is in.
///
/// # Errors
/// When it is not empty or cannot be read.
pub(super) fn must_be_empty(dir: &Path) -> Result<()> {
    let mut entries =
        fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => bail!("the directory is not empty"),
    }
}

fn reachable(dir: &Path, account: &Account) -> Result<()> {
    let real = dir
        .canonicalize()
        .with_context(|| format!("cannot resolve {}", dir.display()))?;
    for parent in real.ancestors().skip(1) {
        let meta =
            fs::metadata(parent).with_context(|| format!("cannot look at {}", parent.display()))?;
        let bit = match () {
            () if meta.uid() == account.uid => 0o100,
            () if meta.gid() == account.gid => 0o010,
            () => 0o001,
        };
        if meta.mode() & bit == 0 {
            bail!(
                "user {} cannot reach {}: {} is closed to it (mode {:04o}); \
                 choose another directory, or chmod o+x {}",
                account.name,
                dir.display(),
                parent.display(),
                meta.mode() & 0o7777,
                parent.display()
            );
        }
    }
    Ok(())
}

/// `dir/name`, when the kernel can take it as a socket's path.
///
/// # Errors
/// When it is too long.
pub(super) fn socket_path(dir: &Path, name: &str) -> Result<PathBuf> {
    let path = dir.join(name);
    let length = path.as_os_str().as_bytes().len();
    if length > SOCKET_PATH_BYTES {
        bail!(
            "the socket path {} has {length} bytes, {SOCKET_PATH_BYTES} are possible; \
             choose a shorter run directory",
            path.display()
        );
    }
    Ok(path)
}

/// The first of `names` in the directories of PATH.
pub(super) fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| {
        dirs.iter()
            .map(|dir| dir.join(name))
            .find(|file| is_executable(file))
    })
}

/// True for a file that someone may execute.
pub(super) fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_socket_path_is_refused_with_its_length() {
        let dir = PathBuf::from(format!("/tmp/{}", "x".repeat(90)));
        assert!(socket_path(&dir, "s").is_ok());
        let error = socket_path(&dir, ".s.PGSQL.5432").unwrap_err();
        assert!(error.to_string().contains("109 bytes"), "{error}");
    }

    #[test]
    fn a_closed_parent_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let account = Account {
            name: "someone".to_string(),
            uid: 61234,
            gid: 61234,
        };
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        let error = reachable(&inner, &account).unwrap_err().to_string();
        assert!(error.contains("mode 0700"), "{error}");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o711)).unwrap();
        assert!(reachable(&inner, &account).is_ok());
    }
}
