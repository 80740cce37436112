//! The stages of a case, in their order.

use std::fmt;

/// Where a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// mkfs and mount, or the directory.
    Prepare,
    /// The initialised data directory is put in place.
    Restore,
    /// Flushed and mounted afresh.
    Settle,
    /// The server is started.
    Launch,
    /// The worker measures.
    Work,
    /// The server is stopped.
    Stop,
    /// The target is taken down.
    Cleanup,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Stage; 7] = [
        Stage::Prepare,
        Stage::Restore,
        Stage::Settle,
        Stage::Launch,
        Stage::Work,
        Stage::Stop,
        Stage::Cleanup,
    ];

    /// The name in records and messages.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Prepare => "prepare",
            Stage::Restore => "restore",
            Stage::Settle => "settle",
            Stage::Launch => "launch",
            Stage::Work => "work",
            Stage::Stop => "stop",
            Stage::Cleanup => "cleanup",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
