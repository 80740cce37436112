//! Mount options in force, and whether they are those that were asked for. The kernel
//! drops some silently (btrfs `nodatacow` beside `compress`), shows others in another
//! spelling, and defaults often not at all.

use std::path::Path;

use super::mountinfo::Mount;
use super::spec::FsType;
use crate::error::{Result, bail};
use crate::units::Bytes;

impl Mount {
    /// The options in force. For ext the driver lists all of them, defaults included;
    /// for the others these are what mountinfo shows.
    pub fn effective_options(&self) -> Vec<String> {
        let mut all = self.options();
        let device = self.device();
        let name = device.as_deref().and_then(Path::file_name);
        if let (true, Some(name)) = (self.fs_type.starts_with("ext"), name) {
            let path = Path::new("/proc/fs/ext4").join(name).join("options");
            let text = std::fs::read_to_string(path).unwrap_or_default();
            for option in text.lines() {
                if !all.iter().any(|known| known == option) {
                    all.push(option.to_string());
                }
            }
        }
        all
    }
}

/// Fails if an option asked for is not in force; returns remarks on those that the
/// kernel takes and does nothing with, as it says itself.
pub(super) fn verify(fs: FsType, asked: &[String], effective: &[String]) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    for option in asked {
        match judge(fs, option, effective) {
            Kept::Yes => {}
            Kept::Removed => remarks.push(format!(
                "the {fs} of this kernel takes the option '{option}' and ignores it"
            )),
            Kept::No(Some(instead)) => bail!(
                "the kernel took '{option}' but '{instead}' is in force; ask for what can be \
                 had together"
            ),
            Kept::No(None) => bail!(
                "the kernel took '{option}' and dropped it; in force are: {}",
                effective.join(",")
            ),
        }
    }
    Ok(remarks)
}

#[derive(Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    Removed,
    /// What is in force instead, where that can be told.
    No(Option<String>),
}

fn judge(fs: FsType, asked: &str, effective: &[String]) -> Kept {
    let shown = |token: &str| effective.iter().any(|e| e == token);
    let key = key_of(asked);
    let kept = match asked {
        "strictatime" => !shown("relatime") && !shown("noatime"),
        "async" => !shown("sync"),
        "nolazytime" => !shown("lazytime"),
        "silent" | "loud" => true,
        _ => {
            spellings(fs, asked)
                .iter()
                .any(|token| effective.iter().any(|e| same(token, e)))
                || (not_shown(fs, asked) && rival(asked, effective).is_none())
        }
    };
    if kept {
        Kept::Yes
    } else if removed(fs, key) {
        Kept::Removed
    } else {
        Kept::No(rival(asked, effective))
    }
}

fn key_of(option: &str) -> &str {
    option.split('=').next().unwrap_or_default()
}

/// What stands against an option: its key with another value, or its opposite.
fn rival(asked: &str, effective: &[String]) -> Option<String> {
    let key = key_of(asked);
    let negated = format!("no{key}");
    let opposite = key.strip_prefix("no").unwrap_or(&negated);
    effective
        .iter()
        .find(|e| {
            let shown = key_of(e);
            (shown == key && e.as_str() != asked) || shown == opposite
        })
        .cloned()
}

/// The forms in which an option asked for may be shown.
fn spellings(fs: FsType, asked: &str) -> Vec<String> {
    let mut all = vec![asked.to_string()];
    let other: &[&str] = match (fs, asked) {
        (FsType::Ext2 | FsType::Ext3 | FsType::Ext4, _) => match asked {
            "barrier=0" => &["nobarrier"],
            "barrier=1" => &["barrier"],
            "noload" => &["norecovery"],
            "dioread_lock" => &["nodioread_nolock"],
            "bsdgroups" => &["grpid"],
            "sysvgroups" => &["nogrpid"],
            "commit=0" => &["commit=5"],
            "init_itable" => &["init_itable=10"],
            "dax" => &["dax=always"],
            _ => &[],
        },
        (FsType::Xfs, _) => match asked {
            "quota" | "uquota" | "uqnoenforce" => &["usrquota", "uqnoenforce"],
            "gquota" => &["grpquota"],
            "pquota" => &["prjquota"],
            "bsdgroups" => &["grpid"],
            "dax" => &["dax=always"],
            _ => &[],
        },
        (FsType::Btrfs, _) => match asked {
            "compress" => &["compress=zlib:3", "compress=zlib"],
            "compress-force" => &["compress-force=zlib:3", "compress-force=zlib"],
            "discard" => &["discard=sync", "discard"],
            "discard=sync" => &["discard"],
            "space_cache" => &["space_cache=v2"],
            "nologreplay" | "usebackuproot" => &["rescue=nologreplay", "rescue=usebackuproot"],
            _ => &[],
        },
        (FsType::Jfs | FsType::Reiserfs | FsType::Tmpfs, _) => &[],
    };
    all.extend(other.iter().map(ToString::to_string));
    all
}

/// Options that are not shown when in force: defaults, and those with an effect on the
/// mount call only. They count as kept as long as nothing shown stands against them.
fn not_shown(fs: FsType, asked: &str) -> bool {
    let key = key_of(asked);
    match fs {
        FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => matches!(
            key,
            "journal_ioprio"
                | "journal_path"
                | "journal_dev"
                | "sb"
                | "mb_optimize_scan"
                | "no_prefetch_block_bitmaps"
                | "no_mbcache"
                | "nombcache"
        ),
        FsType::Xfs => matches!(
            key,
            "nodiscard" | "nolargeio" | "nogrpid" | "sysvgroups" | "inode64" | "logdev" | "rtdev"
        ),
        FsType::Btrfs => {
            matches!(
                key,
                "barrier"
                    | "datacow"
                    | "datasum"
                    | "treelog"
                    | "noflushoncommit"
                    | "noautodefrag"
                    | "nodiscard"
                    | "acl"
                    | "nossd"
                    | "nossd_spread"
                    | "noenospc_debug"
                    | "clear_cache"
                    | "device"
                    | "thread_pool"
                    | "rescue"
            ) || matches!(
                asked,
                "commit=30"
                    | "max_inline=2048"
                    | "metadata_ratio=0"
                    | "fatal_errors=bug"
                    | "compress=no"
                    | "compress=none"
                    | "compress-force=no"
                    | "compress-force=none"
            )
        }
        FsType::Jfs => matches!(asked, "integrity" | "nodiscard" | "errors=remount-ro"),
        FsType::Reiserfs => matches!(
            asked,
            "data=ordered" | "barrier=none" | "user_xattr" | "tails=on"
        ),
        FsType::Tmpfs => {
            matches!(key, "inode32" | "inode64")
                || matches!(
                    asked,
                    "huge=never" | "uid=0" | "gid=0" | "mpol=default" | "mode=1777"
                )
        }
    }
}

/// Options that the kernel still takes for old fstabs; it says "Ignoring removed".
fn removed(fs: FsType, key: &str) -> bool {
    match fs {
        FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => matches!(
            key,
            "bh" | "nobh"
                | "orlov"
                | "oldalloc"
                | "i_version"
                | "noi_version"
                | "check"
                | "nocheck"
                | "reservation"
                | "noreservation"
                | "journal"
                | "mblk_io_submit"
                | "nomblk_io_submit"
                | "abort"
        ),
        FsType::Xfs => matches!(key, "attr2" | "noattr2" | "ikeep" | "noikeep"),
        FsType::Btrfs => matches!(key, "alloc_start" | "subvolrootid" | "recovery"),
        FsType::Jfs | FsType::Reiserfs | FsType::Tmpfs => false,
    }
}

/// Equal, or one value in two spellings: `64m` and `65536k`, `zstd` and `zstd:3`, `0700`
/// and `700`, `50%` and what that is here.
fn same(asked: &str, shown: &str) -> bool {
    if asked == shown {
        return true;
    }
    let (Some((key, want)), Some((shown_key, have))) =
        (asked.split_once('='), shown.split_once('='))
    else {
        return false;
    };
    // tmpfs shows a number of blocks as a size.
    if (key, shown_key) == ("nr_blocks", "size") {
        return true;
    }
    if key != shown_key {
        return false;
    }
    let size = |text: &str| text.parse::<Bytes>().ok();
    match key {
        "compress" | "compress-force" => have.split(':').next() == Some(want),
        "mode" => want.trim_start_matches('0') == have.trim_start_matches('0'),
        "size" if want.ends_with('%') => true,
        _ => size(want).is_some() && size(want) == size(have),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(fs: FsType, asked: &str, shown: &str) -> Kept {
        let shown: Vec<String> = shown.split(',').map(str::to_string).collect();
        judge(fs, asked, &shown)
    }

    #[test]
    fn other_spellings_are_the_same_option() {
        for (fs, asked, shown) in [
            (FsType::Ext4, "barrier=0", "rw,nobarrier"),
            (FsType::Ext4, "dioread_lock", "rw,nodioread_nolock"),
            (FsType::Ext4, "noload", "ro,norecovery"),
            (FsType::Ext4, "strictatime", "rw"),
            (FsType::Xfs, "allocsize=64m", "rw,allocsize=65536k"),
            (FsType::Xfs, "nodiscard", "rw,inode64"),
            (FsType::Btrfs, "compress=zstd", "rw,compress=zstd:3"),
            (FsType::Btrfs, "barrier", "rw,ssd"),
            (FsType::Btrfs, "discard=sync", "rw,discard"),
            (FsType::Btrfs, "max_inline=1k", "rw,max_inline=1024"),
            (FsType::Btrfs, "compress=none", "rw,ssd"),
            (FsType::Tmpfs, "size=1G", "rw,size=1048576k"),
            (FsType::Tmpfs, "mode=0700", "rw,mode=700"),
        ] {
            assert_eq!(judged(fs, asked, shown), Kept::Yes, "{asked} in {shown}");
        }
    }

    #[test]
    fn dropped_and_changed_options_are_found() {
        for (fs, asked, shown, instead) in [
            (FsType::Btrfs, "nodatacow", "rw,compress=zstd:3", None),
            (
                FsType::Btrfs,
                "compress=zstd:3",
                "rw,compress=zstd:9",
                Some("compress=zstd:9"),
            ),
            (FsType::Btrfs, "barrier", "rw,nobarrier", Some("nobarrier")),
            (FsType::Btrfs, "commit=30", "rw,commit=5", Some("commit=5")),
            (FsType::Xfs, "dax", "rw,dax=never", Some("dax=never")),
            (
                FsType::Ext4,
                "data=journal",
                "rw,data=ordered",
                Some("data=ordered"),
            ),
            (
                FsType::Ext4,
                "delalloc",
                "rw,nodelalloc",
                Some("nodelalloc"),
            ),
            (FsType::Ext4, "noatime", "rw,relatime", None),
        ] {
            let kept = judged(fs, asked, shown);
            assert_eq!(
                kept,
                Kept::No(instead.map(str::to_string)),
                "{asked} in {shown}"
            );
        }
        assert_eq!(judged(FsType::Ext4, "nobh", "rw,relatime"), Kept::Removed);
    }
}
