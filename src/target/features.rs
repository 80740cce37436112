//! Which words belong to mkfs, and how they are said to it.
//!
//! An option is mkfs's if it begins with `^`, is written `mkfs.NAME[=VALUE]`, or is in
//! the table of words that this type's mkfs knows and its mount does not. Said to mkfs:
//!
//! * a name of one letter with a value is that option letter: `mkfs.b=1024` is `-b 1024`,
//!   `mkfs.l=size=64m` is `-l size=64m`;
//! * ext: `NAME`, `^NAME` go to `-O`, `NAME=VALUE` to `-E`. `^extents` adds `^64bit`, as
//!   mkfs demands ("extents MUST be enabled for a 64-bit filesystem");
//! * xfs: `NAME`, `^NAME`, `NAME=VALUE` go to the option letter the name belongs to, as
//!   `NAME=1`, `NAME=0`, `NAME=VALUE`: `reflink=0` is `-m reflink=0`;
//! * btrfs: `NAME`, `^NAME` go to `-O`, except those of `-R` in older btrfs-progs;
//!   `mixed` and `csum=NAME` are long options.

use super::FsType;
use crate::error::{Result, usage};

const EXT: &str = "\
    has_journal extents extent dir_index filetype sparse_super sparse_super2 large_file \
    huge_file flex_bg uninit_bg dir_nlink extra_isize 64bit metadata_csum \
    metadata_csum_seed inline_data bigalloc fast_commit casefold encrypt ea_inode \
    large_dir project verity resize_inode ext_attr meta_bg mmp stable_inodes orphan_file \
    orphan_present";

/// Features that make the kernel refuse an image as ext3.
const BEYOND_EXT3: &str = "\
    extents extent huge_file flex_bg uninit_bg dir_nlink extra_isize 64bit metadata_csum \
    metadata_csum_seed inline_data bigalloc fast_commit casefold encrypt ea_inode \
    large_dir project verity mmp stable_inodes orphan_file";

const EXT_EXTENDED: &str = "\
    stride stripe_width stripe-width offset desc_size packed_meta_blocks num_backup_sb \
    orphan_file_size assume_storage_prezeroed lazy_itable_init lazy_journal_init \
    encoding hash_seed mmp_update_interval";

/// Everything is written by mkfs and nothing later, in the measured time; no discard,
/// which would punch holes into an image.
const EXT_COMPLETE: &str = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";

/// Names that mkfs.xfs knows and mount does not, by option letter. `sunit` and `swidth`
/// are mount options too and go to mkfs as `mkfs.sunit` only.
const XFS: &[(char, &str)] = &[
    (
        'm',
        "crc finobt reflink rmapbt bigtime inobtcount metadir autofsck",
    ),
    ('i', "sparse nrext64 exchange maxpct"),
    ('n', "ftype parent"),
    ('d', "agcount agsize su sw"),
    ('l', "lazy-count"),
];

const XFS_BOTH: &[(char, &str)] = &[('d', "sunit swidth")];

const BTRFS: &str = "\
    mixed-bg extref raid56 skinny-metadata no-holes raid1c34 zoned block-group-tree \
    raid-stripe-tree squota mixed csum";

const BTRFS_BOTH: &str = "\
    quota free-space-tree";

/// Whether a word is in a table of words.
fn has(table: &str, word: &str) -> bool {
    table.split_ascii_whitespace().any(|known| known == word)
}

fn key(option: &str) -> &str {
    option.split('=').next().unwrap_or_default()
}

/// The option as mkfs is to get it, if it is mkfs's.
pub(super) fn for_mkfs(fs: FsType, option: &str) -> Option<&str> {
    if let Some(forced) = option.strip_prefix("mkfs.") {
        return Some(forced);
    }
    let key = key(option);
    let known = match fs {
        FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => has(EXT, option) || has(EXT_EXTENDED, key),
        FsType::Xfs => XFS.iter().any(|(_, names)| has(names, key)),
        FsType::Btrfs => has(BTRFS, key),
        FsType::Jfs | FsType::Reiserfs | FsType::Tmpfs => false,
    };
    (known || option.starts_with('^')).then_some(option)
}

/// Whether an ext3 with this feature must be mounted as ext4.
pub(super) fn beyond_ext3(feature: &str) -> bool {
    has(BEYOND_EXT3, feature)
}

/// The features as arguments of this type's mkfs. For ext they begin with the
/// initialisation that we always ask for, because mke2fs heeds only its last `-E`.
pub(super) fn arguments(fs: FsType, features: &[String]) -> Result<Vec<String>> {
    let mut said = Arguments::default();
    if fs.is_ext() {
        said.listed("-E", EXT_COMPLETE);
    }
    for feature in features {
        match feature.split_once('=') {
            Some((letter, value)) if is_letter(letter) => {
                said.plain(&[format!("-{letter}"), value.to_string()]);
            }
            _ => match fs {
                FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => ext(feature, &mut said),
                FsType::Xfs => xfs(feature, &mut said)?,
                FsType::Btrfs => btrfs(feature, &mut said)?,
                FsType::Jfs | FsType::Reiserfs => {
                    return Err(usage(format!(
                        "mkfs.{fs} has no features to switch, so '{feature}' means nothing; its \
                         options go by their letter, as in mkfs.s=32"
                    )));
                }
                FsType::Tmpfs => {
                    return Err(usage(format!(
                        "tmpfs has no mkfs, so '{feature}' means nothing; leave it out"
                    )));
                }
            },
        }
    }
    let off = |name: &str| features.iter().any(|f| f == name);
    if fs.is_ext() && (off("^extents") || off("^extent")) && !off("64bit") && !off("^64bit") {
        said.listed("-O", "^64bit");
    }
    Ok(said.finish())
}

fn is_letter(name: &str) -> bool {
    name.len() == 1 && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Arguments where the values of one flag are joined by commas.
#[derive(Default)]
struct Arguments {
    plain: Vec<String>,
    lists: Vec<(String, String)>,
}

impl Arguments {
    fn plain(&mut self, words: &[String]) {
        self.plain.extend_from_slice(words);
    }

    fn listed(&mut self, flag: &str, value: &str) {
        match self.lists.iter_mut().find(|(known, _)| known == flag) {
            Some((_, list)) => {
                list.push(',');
                list.push_str(value);
            }
            None => self.lists.push((flag.to_string(), value.to_string())),
        }
    }

    fn finish(self) -> Vec<String> {
        let mut all = self.plain;
        for (flag, list) in self.lists {
            all.extend([flag, list]);
        }
        all
    }
}

fn ext(feature: &str, said: &mut Arguments) {
    let flag = if feature.contains('=') || has(EXT_EXTENDED, feature) {
        "-E"
    } else {
        "-O"
    };
    said.listed(flag, feature);
}

fn xfs(feature: &str, said: &mut Arguments) -> Result<()> {
    let name = key(feature.trim_start_matches('^'));
    let tables = || XFS.iter().chain(XFS_BOTH);
    let Some((letter, _)) = tables().find(|(_, names)| has(names, name)) else {
        let known: Vec<&str> = tables().flat_map(|(_, names)| names.split(' ')).collect();
        return Err(usage(format!(
            "unknown mkfs.xfs feature '{name}'; one of: {}; anything else by its option \
             letter, as in mkfs.l=size=64m",
            known.join(", ")
        )));
    };
    let value = match (feature.strip_prefix('^'), feature.contains('=')) {
        (Some(off), false) => format!("{off}=0"),
        (None, false) => format!("{feature}=1"),
        (None, true) => feature.to_string(),
        (Some(_), true) => {
            return Err(usage(format!(
                "'{feature}' both switches off and sets a value; write {name}=VALUE or ^{name}"
            )));
        }
    };
    said.listed(&format!("-{letter}"), &value);
    Ok(())
}

fn btrfs(feature: &str, said: &mut Arguments) -> Result<()> {
    match feature.split_once('=') {
        Some(("csum" | "checksum", name)) => {
            said.plain(&["--csum".to_string(), name.to_string()]);
        }
        None if feature == "mixed" => said.plain(&["--mixed".to_string()]),
        None if has(BTRFS_BOTH, feature.trim_start_matches('^')) => {
            said.listed("-R", feature);
        }
        None => said.listed("-O", feature),
        Some((name, _)) => {
            return Err(usage(format!(
                "mkfs.btrfs takes no value for '{name}'; csum=NAME and option letters do, \
                 as in mkfs.n=16k"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fs: FsType, features: &[&str]) -> String {
        let features: Vec<String> = features.iter().map(ToString::to_string).collect();
        arguments(fs, &features).unwrap().join(" ")
    }

    #[test]
    fn features_become_arguments() {
        assert_eq!(
            said(FsType::Ext4, &["^extents"]),
            format!("-E {EXT_COMPLETE} -O ^extents,^64bit")
        );
        assert_eq!(
            said(
                FsType::Ext4,
                &["bigalloc", "C=65536", "stride=16", "64bit", "^extent"]
            ),
            format!("-C 65536 -E {EXT_COMPLETE},stride=16 -O bigalloc,64bit,^extent")
        );
        assert_eq!(
            said(
                FsType::Xfs,
                &["reflink=0", "^crc", "finobt", "agcount=4", "l=size=64m"]
            ),
            "-l size=64m -m reflink=0,crc=0,finobt=1 -d agcount=4"
        );
        assert_eq!(
            said(
                FsType::Btrfs,
                &[
                    "^no-holes",
                    "n=16k",
                    "csum=xxhash",
                    "mixed",
                    "^free-space-tree"
                ]
            ),
            "-n 16k --csum xxhash --mixed -O ^no-holes -R ^free-space-tree"
        );
    }

    #[test]
    fn unknown_features_are_refused_where_the_tool_would_not_tell() {
        for (fs, feature) in [
            (FsType::Xfs, "bogus=1"),
            (FsType::Xfs, "^crc=1"),
            (FsType::Btrfs, "bogus=1"),
            (FsType::Tmpfs, "anything"),
        ] {
            assert!(arguments(fs, &[feature.to_string()]).is_err(), "{feature}");
        }
    }
}
