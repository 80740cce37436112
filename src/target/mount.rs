//! Mounting what was made, so that an option is either in force or an error.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::attach::mount_once;
use super::mountinfo::{self, Mount};
use super::options;
use super::spec::{FsType, Made};
use crate::error::{Context, Result, bail};

/// How long a busy mount is given: a server that has just been stopped may still be
/// letting go of its files.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// A mounted file system of ours; unmounted on drop.
#[derive(Debug)]
pub struct MountGuard {
    made: Made,
    device: Option<PathBuf>,
    at: PathBuf,
    mount: Mount,
    mounted: bool,
    added: Vec<String>,
    remarks: Vec<String>,
}

impl Made {
    /// Mounts the file system on `device` (none for tmpfs) at the existing directory
    /// `at`, and checks that every option asked for is in force.
    ///
    /// Mount in a private namespace only: see [`enter_private`](super::namespace::enter_private).
    pub fn mount(&self, device: Option<&Path>, at: &Path) -> Result<MountGuard> {
        let at = at
            .canonicalize()
            .with_context(|| format!("cannot mount on {}", at.display()))?;
        let device = match (device, self.fs.needs_device()) {
            (Some(path), true) => Some(
                path.canonicalize()
                    .with_context(|| format!("cannot look at device {}", path.display()))?,
            ),
            (None, false) => None,
            (None, true) => bail!("{} needs a device or an image", self.fs),
            (Some(_), false) => None,
        };
        let added = self.added_options();
        let (mount, remarks) = mount_once(self, &added, device.as_deref(), &at)?;
        Ok(MountGuard {
            made: self.clone(),
            device,
            at,
            mount,
            mounted: true,
            added,
            remarks,
        })
    }

    /// What we ask for besides. btrfs would discard by itself, which punches holes into
    /// an image that was written so that it has none; the size of a tmpfs is the
    /// kernel's default, said aloud.
    fn added_options(&self) -> Vec<String> {
        let asked = self.mount_options();
        let has = |keys: &[&str]| {
            let key = |option: &String| option.split('=').next().unwrap_or_default().to_string();
            asked
                .iter()
                .any(|option| keys.contains(&key(option).as_str()))
        };
        let added = match self.fs {
            FsType::Btrfs if !has(&["discard", "nodiscard"]) => "nodiscard",
            FsType::Tmpfs if !has(&["size", "nr_blocks"]) => "size=50%",
            _ => return Vec::new(),
        };
        vec![added.to_string()]
    }
}

impl MountGuard {
    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// The type that the kernel names.
    pub fn fs_type(&self) -> &str {
        &self.mount.fs_type
    }

    /// What is mounted, as the kernel names it.
    pub fn source(&self) -> String {
        self.mount.source.to_string_lossy().into_owned()
    }

    /// The block device, none for tmpfs.
    pub fn device(&self) -> Option<&Path> {
        self.device.as_deref()
    }

    /// Options that mountmark added to those asked for.
    pub fn added_options(&self) -> &[String] {
        &self.added
    }

    /// What a reader of the results must know: options ignored, warnings of the kernel,
    /// the driver that serves the type.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The options in force now; for ext with all defaults.
    pub fn effective_options(&self) -> Result<Vec<String>> {
        match mountinfo::mounted_at(&self.at)? {
            Some(mount) => Ok(options::effective(&mount)),
            None => bail!("nothing is mounted on {}", self.at.display()),
        }
    }

    /// Unmounts and mounts again: drops exactly this file system's caches. `false` for
    /// tmpfs, whose content would go with it: it cannot be made cold.
    pub fn remount(&mut self) -> Result<bool> {
        if self.device.is_none() {
            return Ok(false);
        }
        self.unmount_now()?;
        let device = self.device.as_deref();
        let (mount, _) = mount_once(&self.made, &self.added, device, &self.at)?;
        self.mount = mount;
        self.mounted = true;
        Ok(true)
    }

    /// Unmounts; waits a little for those that are just ending, then says who is not.
    pub fn unmount(mut self) -> Result<()> {
        self.unmount_now()
    }

    fn unmount_now(&mut self) -> Result<()> {
        if !self.mounted {
            return Ok(());
        }
        let start = Instant::now();
        loop {
            match unmount(&self.at, UnmountFlags::NOFOLLOW) {
                Ok(()) => break,
                Err(Errno::BUSY) if start.elapsed() < BUSY_LIMIT => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(Errno::BUSY) => bail!(
                    "cannot unmount {}: it is still in use by {}",
                    self.at.display(),
                    users(&self.at)
                ),
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("cannot unmount {}", self.at.display()));
                }
            }
        }
        self.mounted = false;
        Ok(())
    }
}

impl Drop for MountGuard {
    fn drop(&mut self) {
        if self.mounted && self.unmount_now().is_err() {
            // Lazy unmounting lets the file system live on unseen, which would falsify
            // what comes after; here nothing comes after.
            let _ = unmount(&self.at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
    }
}

/// Processes with open files or a working directory below `at`, for people.
fn users(at: &Path) -> String {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let proc = entry.path();
        let open = std::fs::read_dir(proc.join("fd")).into_iter().flatten();
        let mut links = open
            .flatten()
            .map(|fd| fd.path())
            .chain([proc.join("cwd"), proc.join("root")]);
        if links.any(|link| std::fs::read_link(link).is_ok_and(|to| to.starts_with(at))) {
            let command = std::fs::read_to_string(proc.join("comm")).unwrap_or_default();
            found.push(format!("{} (pid {name})", command.trim_end()));
        }
    }
    if found.is_empty() {
        return "a process that cannot be seen, or a mount below it".to_string();
    }
    found.join(", ")
}
