//! The mount calls: fsopen, fsconfig, fsmount, move_mount, and what the kernel says
//! when one of them fails.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create,
    fsconfig_create_exclusive, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount,
    unmount,
};

use super::kernel_words::{LogTail, of_context};
use super::mount::BUSY_LIMIT;
use super::mountinfo::{self, Mount};
use super::options;
use super::spec::{FsType, Made};
use crate::error::{Context, Error, Result, anyhow, bail};

/// Mounts once and returns the mount with remarks; nothing stays mounted on error.
pub(super) fn mount_once(
    made: &Made,
    added: &[String],
    device: Option<&Path>,
    at: &Path,
) -> Result<(Mount, Vec<String>)> {
    let kernel_type = made.kernel_type();
    let asked: Vec<String> = made
        .mount_options()
        .into_iter()
        .chain(added.to_vec())
        .collect();
    let what = || {
        let on = device.map(|d| format!(" from {}", d.display()));
        format!("cannot mount {made}{}", on.unwrap_or_default())
    };
    let name = device
        .and_then(Path::file_name)
        .map_or_else(|| kernel_type.into(), |name| name.to_string_lossy());
    let (context, attributes, mut log) = created(made, device, &asked, &name).with_context(what)?;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        .map_err(|errno| explained(errno, &context, &mut log, None))
        .with_context(what)?;
    move_mount(&mount, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .with_context(|| format!("cannot attach it to {}", at.display()))
        .with_context(what)?;
    drop(mount);
    let mut remarks = warnings(&context, &mut log);
    drop(context);
    let checked = check(made, &asked, at).with_context(what);
    let (mount, ignored) = checked.inspect_err(|_| {
        let _ = unmount(at, UnmountFlags::NOFOLLOW);
    })?;
    remarks.extend(ignored);
    remarks.extend(driver_remark(made, &mount));
    Ok((mount, remarks))
}

/// Opens, configures and creates the superblock. A busy device is given some time: the
/// file system may still be in use by a process that is just ending elsewhere.
fn created(
    made: &Made,
    device: Option<&Path>,
    asked: &[String],
    name: &str,
) -> Result<(OwnedFd, MountAttrFlags, LogTail)> {
    let start = Instant::now();
    loop {
        let mut log = LogTail::start(name, driver(made.fs));
        let context = fsopen(made.kernel_type(), FsOpenFlags::FSOPEN_CLOEXEC)
            .with_context(|| format!("the kernel cannot open {}", made.kernel_type()))?;
        let attributes = match configure(&context, device, asked) {
            Ok(attributes) => attributes,
            Err((errno, option)) => return Err(explained(errno, &context, &mut log, option)),
        };
        match create(&context) {
            Ok(()) => return Ok((context, attributes, log)),
            Err(Errno::BUSY) if start.elapsed() < BUSY_LIMIT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(errno) => return Err(explained(errno, &context, &mut log, None)),
        }
    }
}

/// What the driver's lines in the kernel log begin with.
fn driver(fs: FsType) -> &'static str {
    match fs {
        FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => "EXT4-fs",
        FsType::Xfs => "XFS",
        FsType::Btrfs => "BTRFS",
        FsType::Jfs => "JFS",
        FsType::Reiserfs => "REISERFS",
        FsType::Tmpfs => "tmpfs",
    }
}

/// An error with the option that brought it.
type Refused<'a> = (Errno, Option<&'a str>);

/// Says everything to the context; returns what belongs to the mount instead.
fn configure<'a>(
    context: &OwnedFd,
    device: Option<&Path>,
    asked: &'a [String],
) -> Result<MountAttrFlags, Refused<'a>> {
    let source = device.unwrap_or(Path::new("mountmark"));
    fsconfig_set_string(context.as_fd(), "source", source).map_err(|e| (e, None))?;
    let mut attributes = MountAttrFlags::empty();
    for option in asked {
        let attribute = match option.as_str() {
            "noatime" => MountAttrFlags::MOUNT_ATTR_NOATIME,
            "strictatime" => MountAttrFlags::MOUNT_ATTR_STRICTATIME,
            "relatime" => MountAttrFlags::MOUNT_ATTR_RELATIME,
            "nodiratime" => MountAttrFlags::MOUNT_ATTR_NODIRATIME,
            "nosuid" => MountAttrFlags::MOUNT_ATTR_NOSUID,
            "nodev" => MountAttrFlags::MOUNT_ATTR_NODEV,
            "noexec" => MountAttrFlags::MOUNT_ATTR_NOEXEC,
            "nosymfollow" => MountAttrFlags::MOUNT_ATTR_NOSYMFOLLOW,
            other => {
                match other.split_once('=') {
                    Some((key, value)) => fsconfig_set_string(context.as_fd(), key, value),
                    None => fsconfig_set_flag(context.as_fd(), other),
                }
                .map_err(|e| (e, Some(other)))?;
                if other == "ro" {
                    attributes |= MountAttrFlags::MOUNT_ATTR_RDONLY;
                }
                continue;
            }
        };
        attributes |= attribute;
    }
    Ok(attributes)
}

/// Exclusive where the kernel can: otherwise a file system still mounted elsewhere would
/// be shared, with the options it has there.
fn create(context: &OwnedFd) -> rustix::io::Result<()> {
    match fsconfig_create_exclusive(context.as_fd()) {
        Err(Errno::OPNOTSUPP) => fsconfig_create(context.as_fd()),
        other => other,
    }
}

fn explained(errno: Errno, context: &OwnedFd, log: &mut LogTail, option: Option<&str>) -> Error {
    let mut words: Vec<String> = of_context(context.as_fd())
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    if words.is_empty() {
        let lines = log.about_failure();
        // Errors if there are any; else whatever was said about the device.
        let worst = lines
            .iter()
            .map(|(level, _)| *level)
            .min()
            .unwrap_or(7)
            .max(4);
        let said = lines.into_iter().filter(|(level, _)| *level <= worst);
        words = said.map(|(_, text)| text).collect();
    }
    let cause = std::io::Error::from(errno);
    let option = option
        .map(|o| format!("option '{o}': "))
        .unwrap_or_default();
    if words.is_empty() && errno == Errno::BUSY {
        return anyhow!("the device is still in use, perhaps mounted elsewhere ({cause})");
    }
    if words.is_empty() {
        return anyhow!("{option}{cause}");
    }
    anyhow!("{option}{} ({cause})", words.join("; "))
}

fn warnings(context: &OwnedFd, log: &mut LogTail) -> Vec<String> {
    let own = of_context(context.as_fd())
        .into_iter()
        .filter(|(level, _)| *level != 'i')
        .map(|(_, text)| text);
    let logged = log.about_device().into_iter();
    let logged = logged
        .filter(|(level, _)| *level <= 4)
        .map(|(_, text)| text);
    own.chain(logged)
        .map(|text| format!("the kernel says: {text}"))
        .collect()
}

fn check(made: &Made, asked: &[String], at: &Path) -> Result<(Mount, Vec<String>)> {
    let Some(mount) = mountinfo::mounted_at(at)? else {
        bail!("it is mounted, but mountinfo does not show it");
    };
    let remarks = options::verify(made.fs, asked, &mount.effective_options())?;
    Ok((mount, remarks))
}

/// ext2 and ext3 have been code of the ext4 driver for long; who reads "ext3 is slower"
/// should know what was measured.
fn driver_remark(made: &Made, mount: &Mount) -> Option<String> {
    let name = mount.device()?;
    let by_ext4 = Path::new("/proc/fs/ext4").join(name.file_name()?).exists();
    if !by_ext4 || made.fs == FsType::Ext4 {
        return None;
    }
    let mounted = match mount.fs_type.as_str() {
        shown if shown == made.fs.name() => String::new(),
        shown => format!(
            ", and mounted as {shown}, since it has features that {} never had",
            made.fs
        ),
    };
    Some(format!(
        "{} is served by the ext4 driver of this kernel{mounted}",
        made.fs
    ))
}
