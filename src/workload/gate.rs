//! The gate between two statements.

use std::time::{Duration, Instant};

/// The measured loop passes it between two statements, outside the latency of either.
/// A case that plays alone finds it open.
#[derive(Debug, Default)]
pub enum Gate {
    /// Nothing to wait for.
    #[default]
    Open,
}

impl Gate {
    /// Passes; returns how long this case had to pause, which its windows leave out.
    #[inline]
    pub fn pass(&mut self, _now: Instant) -> Duration {
        match self {
            Gate::Open => Duration::ZERO,
        }
    }
}
