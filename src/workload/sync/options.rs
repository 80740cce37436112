//! How many calls, and the room they take.

use std::path::Path;

use crate::engine::Settings;
use crate::error::{Context, Result, bail};
use crate::units::Bytes;

/// The name of the workload.
pub const WORKLOAD: &str = "sync";

/// How much of each shape is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Calls of each shape.
    pub calls: u64,
}

impl Options {
    /// The calls of each shape where the user says nothing.
    pub const CALLS: u64 = 100;

    /// As settings of a case.
    pub fn settings(self) -> Settings {
        Settings::from([("calls".to_string(), self.calls.to_string())])
    }

    /// Back from [`settings`](Options::settings).
    ///
    /// # Errors
    /// A value that is no number.
    pub fn from_settings(settings: &Settings) -> Result<Self> {
        let calls = settings
            .get("calls")
            .map_or(Ok(Options::CALLS), |v| v.parse());
        Ok(Options {
            calls: calls.context("calls is not a whole number")?,
        })
    }

    /// Fails unless the file system of `dir` has room for the largest of the files.
    ///
    /// # Errors
    /// What is needed and what there is.
    pub fn check_room(self, dir: &Path) -> Result<()> {
        const ASIDE: u64 = 4 << 20;
        let appended = (self.calls + 1) * (64 << 10) + super::calls::FILE;
        let needed = appended.max(2 * super::logs::SEGMENT) + ASIDE;
        let stat = rustix::fs::statvfs(dir)
            .with_context(|| format!("cannot look at the free space of {}", dir.display()))?;
        let free = stat.f_bavail * stat.f_frsize;
        if needed > free {
            bail!(
                "the target has no room for the files of the calls: {} are needed and {} are \
                 free; choose fewer --sync-calls, or a larger --image-size",
                Bytes(needed).human(),
                Bytes(free).human()
            );
        }
        Ok(())
    }
}
