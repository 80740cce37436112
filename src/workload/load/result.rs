//! The finished figures of a load; they cross the pipe from the worker.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::databases::Cell;
use crate::engine::WalCheckpoint;
use crate::host::Window;
use crate::units::CpuTime;
use crate::workload::{Quantiles, Slice};

/// Told every few seconds, as pgbench does. Figures are of the time since the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Since the start of the measured period, s.
    pub elapsed_s: f64,
    /// Committed transactions a second.
    pub tps: f64,
    /// Mean latency, ms.
    pub latency_ms: f64,
    /// Standard deviation of the latency, ms.
    pub stddev_ms: f64,
    /// Transactions given up.
    pub failed: u64,
    /// Transactions not begun, because they would have been too late.
    pub skipped: u64,
    /// Transactions that needed more than one try.
    pub retried: u64,
}

/// The finished figures of one load in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// Clients and databases.
    pub cell: Cell,
    /// Threads that served the clients.
    pub threads: u64,
    /// From the release of the clients to the last answer, ns.
    pub wall_ns: u64,
    /// Transactions that were due.
    pub attempted: u64,
    /// Of these committed.
    pub committed: u64,
    /// Given up after the last try.
    pub failed: u64,
    /// Not begun, because they would have been later than the limit.
    pub skipped: u64,
    /// Committed, but later than the limit.
    pub late: u64,
    /// Transactions that needed more than one try, and tries beyond the first.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Errors that led to another try or a failure, by the engine's code.
    pub errors: BTreeMap<String, u64>,
    /// Statements sent.
    pub statements: u64,
    /// Times an answer was waited for.
    pub round_trips: u64,
    /// Connections made within the period.
    pub connects: u64,
    /// Committed in the warm-up, which counts for nothing else.
    pub warmup_committed: u64,
    /// Count and elapsed ns of the checkpoints that were reached.
    pub checkpoints: Vec<(u64, u64)>,
    /// Elapsed ns and transactions committed so far, about every second.
    pub progress: Vec<(u64, u64)>,
    /// Latency of committed transactions; from the scheduled start where there is one.
    pub latency: Quantiles,
    /// Scheduled start to real start.
    pub lag: Option<Quantiles>,
    /// Real start to last answer, where there is a schedule.
    pub service: Option<Quantiles>,
    /// Each statement's text and latency, where asked for.
    pub statement_latency: Vec<(String, Quantiles)>,
    /// Committed transactions by script.
    pub by_script: BTreeMap<String, u64>,
    /// Committed transactions of the databases that had fewest and most.
    pub by_database: (u64, u64),
    /// What the server did on its own behalf, by its own names of counters.
    pub activity: BTreeMap<String, f64>,
    /// WAL checkpoints of the server, seconds since the start of the period.
    pub wal_checkpoints: Option<Vec<WalCheckpoint>>,
    /// Waits for locks that the client had to make (SQLite): count and ns.
    pub busy_waits: Option<(u64, u64)>,
    /// CPU of the whole machine, all processes and the kernel.
    pub machine: Option<MachineCpu>,
    /// Peak memory of the client process, bytes.
    pub client_memory_bytes: Option<u64>,
    /// Memory of the server before the period, bytes.
    pub server_memory_before_bytes: Option<u64>,
    /// Transactions a second at which the client's threads would have had no time left;
    /// `None` where the engine lives in the client.
    pub ceiling_tps: Option<f64>,
    /// In a duet, its slices: transactions committed, and own time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// In a duet, own time in which clients waited for the last transactions of a slice to
    /// end, ns.
    #[serde(default)]
    pub draining_ns: Option<u64>,
    /// What a reader must know.
    pub remarks: Vec<String>,
}

/// CPU time of the whole machine over a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCpu {
    /// Busy in user mode and in the kernel.
    pub busy: CpuTime,
    /// Taken by the hypervisor for others, ns.
    pub steal_ns: u64,
}

impl From<Window> for MachineCpu {
    fn from(window: Window) -> Self {
        MachineCpu {
            busy: CpuTime {
                user_ns: window.user_ns,
                system_ns: window.system_ns,
            },
            steal_ns: window.steal_ns,
        }
    }
}
