//! A directory of ours in somebody else's place.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::{Context, Result, bail};
use crate::host::ledger::{Item, ItemId, Ledger};
use crate::host::marker::{self, PREFIX};

/// A directory with our marker, mode 0700, removed on drop. Only a directory whose
/// marker names this run is removed, never across a mount point or through a link.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    run_id: String,
    ledger: Ledger,
    item: Option<ItemId>,
}

impl WorkDir {
    /// Makes `parent/mountmark-<run id>`, with `-2`, `-3` appended where that exists.
    pub fn create(parent: &Path, run_id: &str, ledger: &Ledger) -> Result<WorkDir> {
        let parent = parent
            .canonicalize()
            .with_context(|| format!("cannot use the directory {}", parent.display()))?;
        if !parent.is_dir() {
            bail!("{} is not a directory", parent.display());
        }
        for number in 1..100 {
            let name = match number {
                1 => format!("{PREFIX}{run_id}"),
                n => format!("{PREFIX}{run_id}-{n}"),
            };
            let path = parent.join(name);
            if path.symlink_metadata().is_ok() {
                continue;
            }
            let item = ledger.note(Item::Directory { path: path.clone() })?;
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) => {
                    ledger.done(item)?;
                    if error.kind() == ErrorKind::AlreadyExists {
                        continue;
                    }
                    return Err(error).with_context(|| {
                        format!(
                            "cannot make a directory in {}; choose a writable one",
                            parent.display()
                        )
                    });
                }
            }
            if let Err(error) = marker::put(&path, run_id) {
                let _ = std::fs::remove_dir(&path);
                ledger.done(item)?;
                return Err(error);
            }
            return Ok(WorkDir {
                path,
                run_id: run_id.to_string(),
                ledger: ledger.clone(),
                item: Some(item),
            });
        }
        bail!(
            "{} is full of directories of run {run_id}; run mountmark clean",
            parent.display()
        )
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it now and tells what goes wrong.
    pub fn remove(mut self) -> Result<()> {
        self.take_away()
    }

    /// Leaves it where it is, noted in the ledger for `mountmark clean`.
    pub fn keep(mut self) -> PathBuf {
        self.item = None;
        self.path.clone()
    }

    fn take_away(&mut self) -> Result<()> {
        let Some(item) = self.item.take() else {
            return Ok(());
        };
        marker::remove_tree(&self.path, &self.run_id)?;
        self.ledger.done(item)
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        let _ = self.take_away();
    }
}
