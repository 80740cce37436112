//! What a workload tells while it runs, and the finished figures of its parts. These
//! cross the pipe from the worker; the stored form is the record's own.

use serde::{Deserialize, Serialize};

use super::load::{Checked, LoadResult, Progress};
use crate::measure::{CpuTime, DeviceCounters};

/// Told outside every measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "told once a phase, and dropped at once"
)]
pub enum Event {
    /// A phase begins.
    PhaseStarted {
        /// Its name.
        phase: String,
    },
    /// An operation begins.
    OperationStarted {
        /// Its name.
        operation: String,
        /// The count it is to reach.
        planned: u64,
    },
    /// An operation has ended.
    OperationFinished(Box<OperationResult>),
    /// How a load goes on.
    LoadProgress(Progress),
    /// A load has returned.
    LoadFinished(Box<LoadResult>),
    /// What was found when the data of a load were checked.
    LoadChecked(Checked),
    /// A phase has returned, been flushed and settled.
    PhaseFinished(PhaseResult),
}

/// The finished figures of one operation in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationResult {
    /// The suite's name.
    pub name: String,
    /// The count as the suite prints it, reached.
    pub count: u64,
    /// The count it was to reach; more than `count` only when the time limit ended it.
    pub planned: u64,
    /// The row figure as the suite prints it, where it prints one.
    pub rows: Option<u64>,
    /// Statements really sent.
    pub statements: u64,
    /// Rows really received.
    pub rows_received: u64,
    /// Bytes of file content moved, where that is what the operation does.
    pub bytes: Option<u64>,
    /// The kernel's words where it refused the calls of the operation: then nothing else
    /// was measured.
    pub refused: Option<String>,
    /// Wall time of the window, ns.
    pub wall_ns: u64,
    /// CPU of the client process in the window.
    pub client: CpuTime,
    /// CPU of the server in and shortly around the window; `None` where the engine
    /// lives in the client or it could not be read.
    pub server: Option<CpuTime>,
    /// What the device did in and shortly around the window.
    pub device: Option<DeviceCounters>,
    /// Latency of the statements; `None` with fewer than two.
    pub latency: Option<Quantiles>,
    /// True when the time limit ended it.
    pub time_limited: bool,
    /// In a duet, the slices in which it played.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
}

/// What a case did between two pauses of a duet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Statements sent; of a load, transactions committed.
    pub statements: u32,
    /// Its own time, ns.
    pub wall_ns: u64,
}

/// What a duet did to a phase of one of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuetResult {
    /// Turns received.
    pub turns: u64,
    /// Time from the giving of those turns to our running, ns.
    pub passing_ns: u64,
    /// Time spent waiting for the other, ns; in none of the phase's times.
    pub paused_ns: u64,
    /// What our device did while the other played.
    pub resting_device: Option<DeviceCounters>,
    /// CPU that our server used while the other played.
    pub resting_server: Option<CpuTime>,
}

/// Latency of repeated statements, from the server call alone (text building apart).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Statements counted.
    pub count: u64,
    /// Mean, ns.
    pub mean_ns: u64,
    /// Median, ns.
    pub p50_ns: u64,
    /// 90th percentile, ns.
    pub p90_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// 99.9th percentile, ns.
    pub p999_ns: u64,
    /// Slowest, ns.
    pub max_ns: u64,
    /// The whole histogram: HdrHistogram V2, deflated, base64.
    pub hdr: String,
}

/// One of the three ends of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndTime {
    /// Since the phase's start, ns.
    pub wall_ns: u64,
    /// What the device did since the phase's start; `None` where it cannot be seen.
    pub device: Option<DeviceCounters>,
}

/// The three ends of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ends {
    /// The last statement was answered and the session closed.
    pub returned: EndTime,
    /// As returned, and syncfs of the target.
    pub flushed: EndTime,
    /// As flushed, and a WAL checkpoint of the server and syncfs again.
    pub settled: EndTime,
    /// Dirty and write-back bytes of the target's file system at *returned*.
    pub dirty_bytes: Option<u64>,
}

/// What the machine did in a window, all processes and the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineUse {
    /// CPU that neither the client nor the server used: other processes, and the kernel's
    /// own threads, where a file system does much of its work. In steps of the kernel's
    /// clock tick.
    pub others: CpuTime,
    /// CPU time that the hypervisor gave to others, of all CPUs, ns.
    pub steal_ns: u64,
    /// Time in which some task waited for a CPU, ns; `None` where the kernel does not
    /// count it.
    pub cpu_stalled_ns: Option<u64>,
    /// Time in which some task waited for I/O, ns.
    pub io_stalled_ns: Option<u64>,
}

/// The finished figures of one phase in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseResult {
    /// The suite's name.
    pub name: String,
    /// Its three ends.
    pub ends: Ends,
    /// CPU of the client process until *returned*.
    pub client: CpuTime,
    /// CPU of the server until *returned*.
    pub server: Option<CpuTime>,
    /// Memory of the server at *returned*, bytes.
    pub server_memory_bytes: Option<u64>,
    /// What a duet did to it; `None` where it played alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<DuetResult>,
    /// The rest of the machine until *returned*.
    pub machine: Option<MachineUse>,
    /// Settings read back from the engine at the phase's start.
    pub settings: std::collections::BTreeMap<String, String>,
}
