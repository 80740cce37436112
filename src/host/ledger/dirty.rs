//! The limit on the dirty data of a device, as it was before a run changed it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Item, Record, files, locked_by_another};
use crate::error::{Context, Result, bail};

/// What the kernel said of a backing device before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirtyBefore {
    /// Share of all dirty data it may have, per cent.
    pub max_ratio: String,
    /// Whether it is held to its share at all times.
    pub strict_limit: String,
}

impl DirtyBefore {
    /// Of the device with this directory in sysfs.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn read(dir: &Path) -> io::Result<Self> {
        let of = |name| Ok::<_, io::Error>(fs::read_to_string(dir.join(name))?.trim().to_string());
        Ok(DirtyBefore {
            max_ratio: of("max_ratio")?,
            strict_limit: of("strict_limit")?,
        })
    }

    /// Puts it back.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn restore(&self, dir: &Path) -> io::Result<()> {
        fs::write(dir.join("max_ratio"), &self.max_ratio)?;
        fs::write(dir.join("strict_limit"), &self.strict_limit)
    }
}

/// Puts back what a killed run changed, unless another run of ours, from the state files
/// beside that of the killed one, has a limit of its own on the device now.
pub(super) fn lift(dir: &Path, before: &DirtyBefore, killed: &Path) -> Result<Option<String>> {
    let number = |c: char| c.is_ascii_digit() || c == ':';
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    if dir.parent() != Some(Path::new("/sys/class/bdi"))
        || !name.trim_start_matches("btrfs-").chars().all(number)
    {
        bail!("{} is no backing device: left alone", dir.display());
    }
    // The device may be gone, and the limit with it.
    let Ok(now) = DirtyBefore::read(dir) else {
        return Ok(None);
    };
    if now == *before {
        return Ok(None);
    }
    if let Some(run) = limited_by_another(dir, killed)? {
        bail!("run {run} limits the dirty data of device {name} now; clean again after its end");
    }
    before
        .restore(dir)
        .with_context(|| format!("cannot lift the limit on dirty data of device {name}"))?;
    Ok(Some(format!("limit on dirty data of device {name}")))
}

/// A run that lives and has a limit on the device.
fn limited_by_another(dir: &Path, killed: &Path) -> Result<Option<String>> {
    let state = killed.parent().unwrap_or(Path::new("/"));
    for path in files(state)?.into_iter().filter(|path| path != killed) {
        let Ok(mut file) = File::open(&path) else {
            continue;
        };
        if !locked_by_another(&file)? {
            continue;
        }
        let limits = |item: &Item| matches!(item, Item::DirtyLimit { dir: d, .. } if d == dir);
        if let Ok(Some(record)) = Record::read(&mut file, &path)
            && record.items.iter().any(limits)
        {
            return Ok(Some(record.run_id));
        }
    }
    Ok(None)
}
