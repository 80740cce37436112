//! A mount namespace of our own: mounts made in it are seen by nobody else, and go with
//! the last process in it, however that ends.

use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};

use crate::error::{Context, Result};

/// What this process may do with file systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// File systems can be made and mounted; the mount namespace is private.
    Full,
    /// Only directories can be measured.
    DirectoriesOnly {
        /// Why.
        reason: String,
    },
}

/// Enters a private mount namespace if that is allowed.
///
/// It acts on the calling thread and the threads and processes that come from it: call
/// it before any other thread exists.
pub fn enter_private() -> Result<Privilege> {
    if !rustix::process::geteuid().is_root() {
        return Ok(denied("not root"));
    }
    match nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS) {
        Ok(()) => {}
        Err(nix::Error::EPERM) => {
            return Ok(denied("root without the right to mount (CAP_SYS_ADMIN)"));
        }
        Err(error) => return Err(error).context("cannot enter a private mount namespace"),
    }
    // Without this, systemd's shared propagation would show our mounts to the host.
    match mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    ) {
        Ok(()) => Ok(Privilege::Full),
        Err(Errno::PERM | Errno::ACCESS) => {
            Ok(denied("root that is not allowed to mount (seccomp or LSM)"))
        }
        Err(error) => Err(error).context("cannot make the mounts of this process private"),
    }
}

fn denied(who: &str) -> Privilege {
    Privilege::DirectoriesOnly {
        reason: format!("{who}: file systems cannot be made, only directories measured"),
    }
}
