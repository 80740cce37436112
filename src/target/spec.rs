//! What follows `--on`: a directory, or a file system to make.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::features;
use crate::error::{Error, Result, unknown, usage};

/// A target as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Spec {
    /// An existing directory, measured as it is mounted.
    Directory(PathBuf),
    /// A file system that mountmark makes.
    Made(Made),
}

/// A file system to make: `TYPE[:OPTION,...]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Made {
    /// The type.
    pub fs: FsType,
    /// mkfs features and mount options, in the order and spelling given.
    pub options: Vec<String>,
}

/// The file systems that mountmark can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FsType {
    /// ext2; since Linux 4.x usually served by the ext4 driver.
    Ext2,
    /// ext3; since Linux 4.3 served by the ext4 driver.
    Ext3,
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// JFS.
    Jfs,
    /// ReiserFS; no longer in the kernel since Linux 6.13.
    Reiserfs,
    /// tmpfs: in memory, without a device.
    Tmpfs,
}

impl FsType {
    /// All of them.
    pub const ALL: [FsType; 8] = [
        FsType::Ext2,
        FsType::Ext3,
        FsType::Ext4,
        FsType::Xfs,
        FsType::Btrfs,
        FsType::Jfs,
        FsType::Reiserfs,
        FsType::Tmpfs,
    ];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            FsType::Ext2 => "ext2",
            FsType::Ext3 => "ext3",
            FsType::Ext4 => "ext4",
            FsType::Xfs => "xfs",
            FsType::Btrfs => "btrfs",
            FsType::Jfs => "jfs",
            FsType::Reiserfs => "reiserfs",
            FsType::Tmpfs => "tmpfs",
        }
    }

    /// Whether it is one of the ext family, which share tools and (today) the driver.
    pub const fn is_ext(self) -> bool {
        matches!(self, FsType::Ext2 | FsType::Ext3 | FsType::Ext4)
    }

    /// Whether it lives on a block device.
    pub const fn needs_device(self) -> bool {
        !matches!(self, FsType::Tmpfs)
    }
}

impl fmt::Display for FsType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FsType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = FsType::ALL.into_iter().find(|fs| fs.name() == text);
        found.ok_or_else(|| {
            let directory = format!("or a directory, with a slash (./{text})");
            let mut valid: Vec<&str> = FsType::ALL.iter().map(|fs| fs.name()).collect();
            valid.push(&directory);
            unknown("target type", text, &valid)
        })
    }
}

impl Made {
    /// The type without options.
    pub fn plain(fs: FsType) -> Made {
        Made {
            fs,
            options: Vec::new(),
        }
    }

    /// The options that go to mkfs, as given but for a leading `mkfs.`: those that begin
    /// with `^`, are named `mkfs.NAME`, or are words that only this type's mkfs knows.
    pub fn mkfs_features(&self) -> Vec<String> {
        self.options
            .iter()
            .filter_map(|option| features::for_mkfs(self.fs, option))
            .map(str::to_string)
            .collect()
    }

    /// The options that go to mount, as given.
    pub fn mount_options(&self) -> Vec<String> {
        self.options
            .iter()
            .filter(|option| features::for_mkfs(self.fs, option).is_none())
            .cloned()
            .collect()
    }

    /// The type it is mounted as. The kernel refuses ext3 with features that ext3 never
    /// had (`couldn't mount as ext3 due to feature incompatibilities`), so the published
    /// `ext3_data=ordered,extents` is made as ext3 plus that feature and mounted as ext4.
    pub fn kernel_type(&self) -> &'static str {
        let beyond = |feature: &String| features::beyond_ext3(feature);
        match self.fs {
            FsType::Ext2 | FsType::Ext3 if self.mkfs_features().iter().any(beyond) => "ext4",
            fs => fs.name(),
        }
    }

    /// As in the published tables: `ext2_defaults`, `ext3_data=ordered,extents`.
    pub fn label(&self) -> String {
        if self.options.is_empty() {
            return format!("{}_defaults", self.fs);
        }
        format!("{}_{}", self.fs, self.options.join(","))
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.fs.name())?;
        if !self.options.is_empty() {
            write!(f, ":{}", self.options.join(","))?;
        }
        Ok(())
    }
}

impl FromStr for Made {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((name, list)) = text.split_once(':') else {
            return Ok(Made::plain(text.parse()?));
        };
        let fs: FsType = name.parse()?;
        if list == "defaults" {
            return Ok(Made::plain(fs));
        }
        let options: Vec<String> = list.split(',').map(str::to_string).collect();
        for option in &options {
            check_option(text, option)?;
        }
        let made = Made { fs, options };
        features::arguments(fs, &made.mkfs_features())?;
        Ok(made)
    }
}

fn check_option(text: &str, option: &str) -> Result<()> {
    if option.is_empty() {
        return Err(usage(format!(
            "target '{text}' has an empty option; write TYPE or TYPE:OPTION,OPTION"
        )));
    }
    if option.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(usage(format!(
            "target '{text}' has a blank in option '{option}'; separate options by commas only"
        )));
    }
    let key = option.split('=').next().unwrap_or_default();
    if key.trim_start_matches('^').is_empty() || key == "mkfs." {
        return Err(usage(format!(
            "target '{text}' has an option without a name: '{option}'"
        )));
    }
    Ok(())
}

impl Spec {
    /// The name in tables: the path of a directory, [`Made::label`] of the others.
    pub fn label(&self) -> String {
        match self {
            Spec::Directory(path) => path.display().to_string(),
            Spec::Made(made) => made.label(),
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Directory(path) => write!(f, "{}", path.display()),
            Spec::Made(made) => made.fmt(f),
        }
    }
}

impl FromStr for Spec {
    type Err = Error;

    /// A directory begins with `/` or `.`, or has a slash before any colon.
    fn from_str(text: &str) -> Result<Self> {
        let head = text.split(':').next().unwrap_or_default();
        if text.starts_with(['/', '.']) || head.contains('/') {
            if text.contains('\0') {
                return Err(usage(format!("'{}' is no path", text.escape_debug())));
            }
            return Ok(Spec::Directory(text.into()));
        }
        text.parse().map(Spec::Made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn made(text: &str) -> Made {
        match text.parse() {
            Ok(Spec::Made(made)) => made,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn labels_are_those_of_the_published_tables() {
        for (text, label) in [
            ("ext2", "ext2_defaults"),
            ("ext4:defaults", "ext4_defaults"),
            ("ext3:data=ordered,extents", "ext3_data=ordered,extents"),
            ("ext4:data=journal", "ext4_data=journal"),
            ("ext4:^extents", "ext4_^extents"),
            ("/mnt/data", "/mnt/data"),
        ] {
            assert_eq!(text.parse::<Spec>().unwrap().label(), label);
        }
    }

    #[test]
    fn a_slash_makes_a_directory() {
        for text in ["/", "/mnt/ext4:x", ".", "./ext4", "data/ext4", "../a:b"] {
            assert_eq!(
                text.parse::<Spec>().unwrap(),
                Spec::Directory(text.into()),
                "{text}"
            );
        }
        assert_eq!(made("xfs:logdev=/dev/x").mount_options(), ["logdev=/dev/x"]);
    }

    #[test]
    fn wrong_targets_are_told() {
        let error = "reiser4".parse::<Spec>().unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown target type 'reiser4'; one of: ext2, ext3, ext4, xfs, btrfs, jfs, reiserfs, \
             tmpfs, or a directory, with a slash (./reiser4)"
        );
        for bad in [
            "",
            ":",
            "ext4:",
            "ext4:a,,b",
            "ext4:a b",
            "ext4:^",
            "ext4:=1",
            "EXT4",
            "xfs:mkfs.foo",
            "tmpfs:^x",
            "ext4:mkfs.",
        ] {
            assert!(bad.parse::<Spec>().is_err(), "{bad}");
        }
    }

    #[test]
    fn options_go_to_mkfs_or_to_mount() {
        let ext4 = made("ext4:^extents,data=journal,mkfs.quota,quota,fast_commit,noatime");
        assert_eq!(ext4.mkfs_features(), ["^extents", "quota", "fast_commit"]);
        assert_eq!(ext4.mount_options(), ["data=journal", "quota", "noatime"]);
        let xfs = made("xfs:mkfs.reflink=0,logbsize=256k,crc=0");
        assert_eq!(xfs.mkfs_features(), ["reflink=0", "crc=0"]);
        assert_eq!(xfs.mount_options(), ["logbsize=256k"]);
        assert_eq!(made("ext3:data=ordered,extents").kernel_type(), "ext4");
        assert_eq!(made("ext3:data=ordered,^dir_index").kernel_type(), "ext3");
    }

    proptest! {
        #[test]
        fn made_targets_read_back(
            fs in prop::sample::select(&FsType::ALL[..5]),
            options in prop::collection::vec("[a-z_]{2,9}(=[a-z0-9:/.=-]{1,6})?", 0..4),
        ) {
            let spec = Spec::Made(Made { fs, options });
            prop_assert_eq!(spec.to_string().parse::<Spec>().unwrap(), spec);
        }

        #[test]
        fn directories_read_back(path in "(/|\\./|\\.\\./|[a-z]+/)[a-zA-Z0-9:,=/ ._-]{0,20}") {
            let spec: Spec = path.parse().unwrap();
            prop_assert_eq!(&spec, &Spec::Directory(path.clone().into()));
            prop_assert_eq!(spec.to_string(), path);
        }
    }
}
