//! The mounts that this thread sees.
//!
//! Read from `/proc/thread-self`: `/proc/self` shows the namespace of the first thread,
//! which is another one in a thread that has called `unshare` itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::error::{Context, Result, bail};

/// One line of mountinfo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The mount's number.
    pub id: u64,
    /// Device number of the superblock, `major:minor`. For btrfs this is neither that of
    /// its files nor that of the block device.
    pub dev: (u32, u32),
    /// What part of the file system is mounted (a subvolume, a bind mount).
    pub root: PathBuf,
    /// Where.
    pub at: PathBuf,
    /// Options of this mount (`rw`, `noatime`).
    pub vfs_options: Vec<String>,
    /// The type as the kernel names it.
    pub fs_type: String,
    /// What is mounted, `/dev/loop0`.
    pub source: OsString,
    /// Options of the superblock. Defaults are mostly not shown.
    pub super_options: Vec<String>,
}

impl Mount {
    /// All options that the kernel shows, those of the mount first, each once.
    pub fn options(&self) -> Vec<String> {
        let mut all = self.vfs_options.clone();
        for option in &self.super_options {
            if !all.contains(option) {
                all.push(option.clone());
            }
        }
        all
    }

    /// The block device it is on, if its source is one.
    pub fn device(&self) -> Option<PathBuf> {
        use std::os::unix::fs::FileTypeExt;
        let path = Path::new(&self.source).canonicalize().ok()?;
        let is_block = path.metadata().ok()?.file_type().is_block_device();
        is_block.then_some(path)
    }

    /// Whether it has no device beneath it but memory.
    pub fn in_memory(&self) -> bool {
        matches!(self.fs_type.as_str(), "tmpfs" | "ramfs" | "devtmpfs")
    }
}

/// All mounts, in the order of the kernel.
pub fn read() -> Result<Vec<Mount>> {
    const PATH: &str = "/proc/thread-self/mountinfo";
    parse(&std::fs::read(PATH).with_context(|| format!("cannot read {PATH}"))?)
}

/// The mount that `path`, which must exist, lives on.
pub fn holder_of(path: &Path) -> Result<Mount> {
    let real = path
        .canonicalize()
        .with_context(|| format!("cannot look at {}", path.display()))?;
    let mounts = read()?;
    let id = rustix::fs::statx(CWD, &real, AtFlags::empty(), StatxFlags::MNT_ID)
        .ok()
        .filter(|stat| StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::MNT_ID))
        .map(|stat| stat.stx_mnt_id);
    mounts
        .iter()
        .find(|mount| Some(mount.id) == id)
        .or_else(|| holder_in(&mounts, &real))
        .cloned()
        .with_context(|| format!("cannot tell what {} is mounted on", path.display()))
}

/// The mount with the longest matching mount point, the latest of equals: a later mount
/// hides an earlier one.
fn holder_in<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.at))
        .max_by_key(|mount| mount.at.components().count())
}

/// The topmost mount at exactly this mount point.
pub(super) fn mounted_at(at: &Path) -> Result<Option<Mount>> {
    Ok(read()?.into_iter().rev().find(|mount| mount.at == at))
}

/// Reads the text of a mountinfo file.
pub fn parse(text: &[u8]) -> Result<Vec<Mount>> {
    text.split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| match parse_line(line) {
            Some(mount) => Ok(mount),
            None => bail!(
                "cannot read the mountinfo line '{}'",
                String::from_utf8_lossy(line)
            ),
        })
        .collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|b| *b == b' ');
    let text = |field: &[u8]| String::from_utf8(unescape(field)).ok();
    let id = text(fields.next()?)?.parse().ok()?;
    fields.next()?;
    let dev = text(fields.next()?)?;
    let (major, minor) = dev.split_once(':')?;
    let root = path(fields.next()?);
    let at = path(fields.next()?);
    let vfs_options = options(fields.next()?);
    // Any number of optional fields (shared:1, master:2), then a lone dash.
    fields.by_ref().find(|field| *field == b"-")?;
    let fs_type = text(fields.next()?)?;
    let source = OsString::from_vec(unescape(fields.next()?));
    Some(Mount {
        id,
        dev: (major.parse().ok()?, minor.parse().ok()?),
        root,
        at,
        vfs_options,
        fs_type,
        source,
        super_options: options(fields.next().unwrap_or_default()),
    })
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&unescape(field)))
}

fn options(field: &[u8]) -> Vec<String> {
    field
        .split(|b| *b == b',')
        .filter(|option| !option.is_empty())
        .map(|option| String::from_utf8_lossy(&unescape(option)).into_owned())
        .collect()
}

/// Undoes the kernel's `\040` for blank, tab, newline, backslash and `#`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| byte == b'\\');
        let code = digits
            .and_then(|d| std::str::from_utf8(d).ok())
            .and_then(|d| u8::from_str_radix(d, 8).ok());
        match code {
            Some(code) => {
                plain.push(code);
                rest = &after[3..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURE: &str = include_str!("../../fixtures/mountinfo/debian.txt");

    #[test]
    fn lines_are_read_with_escapes_and_optional_fields() {
        let mounts = parse(FIXTURE.as_bytes()).unwrap();
        assert_eq!(mounts.len(), 9);
        let root = &mounts[0];
        assert_eq!((root.id, root.dev), (27, (254, 0)));
        assert_eq!(root.options(), ["rw", "relatime", "discard"]);
        let odd = &mounts[6];
        assert_eq!(odd.at, Path::new("/mnt/with blank\\and#hash"));
        assert_eq!(odd.fs_type, "fuse.sshfs");
        assert_eq!(odd.source, "user@host:/a b");
        let sub = mounts.iter().find(|m| m.fs_type == "btrfs").unwrap();
        assert_eq!(sub.root, Path::new("/@data"));
        assert!(mounts.iter().any(Mount::in_memory));
    }

    #[test]
    fn the_latest_of_the_longest_mount_points_holds_a_path() {
        let mounts = parse(FIXTURE.as_bytes()).unwrap();
        let held = |path: &str| holder_in(&mounts, Path::new(path)).unwrap().id;
        assert_eq!(held("/etc/passwd"), 27);
        assert_eq!(held("/mnt/data/x"), 40);
        assert_eq!(held("/mnt/database"), 27);
        assert_eq!(held("/dev/shm/x"), 30);
    }

    #[test]
    fn a_wrong_line_is_told() {
        let error = parse(b"27 1 254:0 / /\n").unwrap_err().to_string();
        assert!(error.contains("27 1 254:0"), "{error}");
    }

    #[test]
    fn every_path_here_has_a_holder() {
        let holder = holder_of(Path::new("/proc/self")).unwrap();
        assert_eq!(holder.fs_type, "proc");
        assert!(holder_of(Path::new("/no/such/path")).is_err());
    }
}
