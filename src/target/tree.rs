//! Visiting the files of a directory tree: links are not followed, and what is mounted
//! below is left out.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Context, Result};

/// Calls `visit` with each regular file below `dir`, opened for reading. Files that
/// vanish meanwhile are passed over.
pub(super) fn files(dir: &Path, visit: &mut dyn FnMut(&Path, &File) -> Result<()>) -> Result<()> {
    let meta = dir
        .symlink_metadata()
        .with_context(|| format!("cannot look at {}", dir.display()))?;
    below(dir, meta.dev(), visit)
}

fn below(dir: &Path, dev: u64, visit: &mut dyn FnMut(&Path, &File) -> Result<()>) -> Result<()> {
    let told = || format!("cannot read {}", dir.display());
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        other => other.with_context(told)?,
    };
    for entry in entries {
        let path = entry.with_context(told)?.path();
        let Ok(meta) = path.symlink_metadata() else {
            continue;
        };
        if meta.dev() != dev {
            continue;
        }
        if meta.is_dir() {
            below(&path, dev, visit)?;
        } else if meta.is_file() {
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path);
            match file {
                Ok(file) => visit(&path, &file)?,
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => {
                    return Err(e).with_context(|| format!("cannot open {}", path.display()));
                }
            }
        }
    }
    Ok(())
}
