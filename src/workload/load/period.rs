//! One stretch of load, the warm-up or the measured one, as all clients share it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::measure::Checkpoints;

/// How much is to be done; what comes first ends it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub time: Option<Duration>,
    /// Transactions of each client.
    pub each: Option<u64>,
    /// Committed transactions of all clients together.
    pub total: Option<u64>,
}

/// One stretch of load.
pub(super) struct Period {
    pub amount: Amount,
    pub checkpoints: Checkpoints,
    /// Stands for the start before there is one.
    made: Instant,
    start: OnceLock<Instant>,
    claimed: AtomicU64,
}

impl Period {
    pub fn new(amount: Amount, checkpoints: &[u64]) -> Self {
        Period {
            amount,
            checkpoints: Checkpoints::new(checkpoints),
            made: Instant::now(),
            start: OnceLock::new(),
            claimed: AtomicU64::new(0),
        }
    }

    /// Sets the start, in own time, which all clients count from; before they are
    /// released.
    pub fn begin_at(&self, now: Instant) -> Instant {
        *self.start.get_or_init(|| now)
    }

    /// The start, in own time.
    pub fn begin(&self) -> Instant {
        self.begin_at(self.made)
    }

    pub fn deadline(&self) -> Option<Instant> {
        Some(self.begin() + self.amount.time?)
    }

    /// Claims one of the transactions of all clients together; false when none is left.
    #[inline]
    pub fn claim(&self) -> bool {
        match self.amount.total {
            None => true,
            Some(total) => self.claimed.fetch_add(1, Ordering::Relaxed) < total,
        }
    }
}
