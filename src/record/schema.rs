//! The stored form, format 1. Times are nanoseconds (`_ns`) or seconds (`_s`), sizes are
//! bytes. A field that is absent was not measured; zero was measured as zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MemoryRecord;
use super::PublishedRecord;
use super::load::{LoadKeyRecord, LoadPlanRecord, LoadRecord};

/// The format these types write.
pub const FORMAT: u32 = 1;

/// `run.json`: one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Format version.
    pub format: u32,
    /// Name of the run and of its directory.
    pub id: String,
    /// A name that the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Version of mountmark.
    pub mountmark: String,
    /// Start, UTC.
    pub started: String,
    /// End, UTC; absent while it runs and after it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// The command line.
    pub arguments: Vec<String>,
    /// What was to be measured.
    pub plan: PlanRecord,
    /// The machine.
    pub host: HostRecord,
    /// The loop image, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<DeviceRecord>,
    /// What the harness itself can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// What a reader must know about the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The files it was imported from; empty: mountmark measured it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedRecord>,
    /// The study that its figures were published in, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedRecord>,
}

/// A file that figures were imported from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedRecord {
    /// Its name, without the directory.
    pub file: String,
    /// Target of the cases that it gave.
    pub target: String,
    /// Engine of those cases.
    pub engine: String,
    /// Their round.
    pub round: u32,
    /// What its head says, name to text; empty texts are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub header: BTreeMap<String, String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every case was tried.
    Complete,
    /// Stopped by a signal; what had been measured is stored.
    Interrupted,
}

/// What was to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The cases, in the order of the table.
    pub cases: Vec<KeyRecord>,
    /// Passes over all cases.
    pub rounds: u32,
    /// Seed of the order and of generated data.
    pub seed: u64,
    /// Label of the target that the others are compared with, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The smallest difference worth telling, as a fraction.
    #[serde(default = "two_percent")]
    pub threshold: f64,
    /// Rounds were added until intervals were that narrow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_sure: Option<UntilSureRecord>,
    /// What was measured at a time: the index of one case, or of the two of a duet.
    /// Empty: each case alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<Vec<usize>>,
    /// For each round, the order of the units; of the cases, where there are none.
    pub order: Vec<Vec<usize>>,
    /// Profile of the sql-bench phases.
    pub profile: String,
    /// Factor on their loop counts.
    pub loops: f64,
    /// The suite's `--fast`.
    #[serde(default)]
    pub fast: bool,
    /// Loops of the key look-ups of `insert`, where not the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_key_loops: Option<u64>,
    /// Rows of the table with many keys of `insert`, where not the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub many_keys_loops: Option<u64>,
    /// Directory of the original tables of `ATIS`; absent: they were generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atis_data: Option<String>,
    /// Time limit of an operation, s.
    pub time_limit_s: f64,
    /// Servers were told to fit each memory limit, and not the smallest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tune_memory: bool,
    /// What the loads are, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadPlanRecord>,
}

fn two_percent() -> f64 {
    0.02
}

/// The rule by which rounds were added.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UntilSureRecord {
    /// Full width of every interval, as a fraction.
    pub width: f64,
    /// Rounds at most.
    pub most: u32,
    /// Whether all intervals became that narrow within them; absent while it runs and
    /// when it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrow: Option<bool>,
}

/// What makes a case itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Label of the target, as the published tables write it.
    pub target: String,
    /// Engine build: kind and version.
    pub engine: String,
    /// Settings that were asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Memory limit, bytes; absent: the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// CPU placement.
    pub cpus: String,
    /// Workload or phase.
    pub workload: String,
    /// Clients and databases of a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadKeyRecord>,
    /// 0, or 1 for the second of an A/A pair.
    #[serde(default)]
    pub replicate: u8,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Kernel release.
    pub kernel: String,
    /// Kernel build string.
    pub kernel_build: String,
    /// Machine architecture.
    pub architecture: String,
    /// Distribution.
    pub system: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs that could be used.
    pub cpus: usize,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
    /// Frequency governor, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Inside a virtual machine.
    pub virtual_machine: bool,
    /// Changes with every boot.
    pub boot_id: String,
    /// The kernel's clock.
    pub clocksource: String,
}

/// What the harness itself can do with an engine that answers at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Statements sent.
    pub statements: u64,
    /// Wall time of one, ns.
    pub ns_per_statement: f64,
    /// Of each number of clients of the plan's load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<LoadCeiling>,
}

/// The plan's load on an engine that answers at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadCeiling {
    /// Clients at work at the same time.
    pub clients: u32,
    /// Transactions a second.
    pub tps: f64,
}

/// A block device of a made target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRecord {
    /// The device node.
    pub device: String,
    /// The image file behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Size, bytes.
    pub size_bytes: u64,
    /// True when the loop device reads and writes its image with direct I/O.
    pub direct_io: bool,
    /// Logical block size, bytes.
    pub logical_block_bytes: u64,
    /// `write back` or `write through`, as the kernel sees it.
    pub write_cache: String,
    /// File system, source and mount options of what holds the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// True when the image is in memory: good for counts, never for ranking.
    pub in_memory: bool,
}

/// A line of `cases.jsonl`: one case in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// Format version.
    pub format: u32,
    /// Which case.
    pub case: KeyRecord,
    /// Which round, counted from 0.
    pub round: u32,
    /// Start, UTC.
    pub started: String,
    /// Whether there are figures, and why not.
    pub outcome: Outcome,
    /// Where the data lived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetRecord>,
    /// What ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineRecord>,
    /// Wall time of each stage of the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// The phases with their operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseRecord>,
    /// The figures of a load; its three ends are those of the phase of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
    /// What the memory limit did; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRecord>,
    /// What the case's commits are worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<DurabilityRecord>,
    /// Why this round was disturbed by others, if it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// Remarks on this case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// With whom it took turns; absent when it was measured alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<DuetRecord>,
}

/// The duet a case was measured in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuetRecord {
    /// The other case.
    pub partner: KeyRecord,
    /// 0 for the baseline, 1 for the other.
    pub side: usize,
    /// The side that had the first turn of the first operation.
    pub first: usize,
    /// Length of a slice, ns.
    pub slice_ns: u64,
}

/// What a duet did to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuetPhaseRecord {
    /// Turns received.
    pub turns: u64,
    /// Time from the giving of those turns to our running, ns: what turns cost.
    pub passing_ns: u64,
    /// Time spent waiting for the other, ns; in none of the phase's times.
    pub paused_ns: u64,
    /// What our device did while the other played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resting_device: Option<DeviceCountsRecord>,
    /// CPU that our server used while the other played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resting_server: Option<CpuRecord>,
}

/// Whether a case has figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Outcome {
    /// Complete.
    Measured,
    /// Ended by a fault; figures taken before it are kept but never compared.
    Failed {
        /// The stage it failed in.
        stage: String,
        /// The causes, outermost first.
        causes: Vec<String>,
        /// The last lines of the server's or worker's log.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        log: Vec<String>,
    },
    /// Not tried: it cannot be measured here.
    Skipped {
        /// Why.
        reason: String,
        /// The way out.
        remedy: String,
    },
    /// Ended by a signal.
    Interrupted {
        /// The stage it was in.
        stage: String,
    },
}

/// Where the data lived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// File system type, from mountinfo.
    pub filesystem: String,
    /// The mkfs command line, for a made target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mkfs: Option<String>,
    /// Mount options asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options_asked: Vec<String>,
    /// Mount options in effect.
    pub options_effective: Vec<String>,
    /// What is mounted.
    pub source: String,
    /// True when the file system was mounted afresh before the server started.
    pub cold: bool,
    /// The block device, where one can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceRecord>,
}

/// What ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// Kind.
    pub kind: String,
    /// Version, as the engine tells it.
    pub version: String,
    /// Its binary; absent when built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// True where a server process exists apart from the client.
    pub has_server: bool,
    /// Settings read back from the engine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// One stage of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Its name.
    pub stage: String,
    /// Wall time, ns.
    pub wall_ns: u64,
}

/// What commits are worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityRecord {
    /// Flushes reach this device.
    HonouredTo(String),
    /// Commits can be lost.
    NotDurable(String),
    /// It cannot be seen.
    Unknown(String),
}

/// Whether a part was measured to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// All of it.
    Complete,
    /// The time limit ended it.
    TimeLimited,
    /// A fault or a signal ended it.
    Interrupted,
}

/// One phase in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Its name.
    pub name: String,
    /// Whether it came to its end.
    pub completeness: Completeness,
    /// The three ends; absent when it did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<EndsRecord>,
    /// CPU of the client until *returned*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<CpuRecord>,
    /// CPU of the server until *returned*; absent where the engine lives in the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<CpuRecord>,
    /// Memory of the server at *returned*, bytes: its cgroup's charge, or what is resident
    /// of its processes, shared pages counted once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_memory_bytes: Option<u64>,
    /// What a duet did to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<DuetPhaseRecord>,
    /// The rest of the machine until *returned*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineRecord>,
    /// What was seen of the server by looking at it again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledRecord>,
    /// The operations, in the order they ran.
    pub operations: Vec<OperationRecord>,
}

/// What the machine did beside client and server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// CPU that neither used: other processes, and the kernel's own threads, where a file
    /// system does much of its work. In steps of the kernel's clock tick.
    pub others: CpuRecord,
    /// CPU time that the hypervisor gave to others, of all CPUs, ns.
    pub steal_ns: u64,
    /// Time in which some task waited for a CPU, ns; absent where the kernel does not
    /// count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_stalled_ns: Option<u64>,
    /// Time in which some task waited for I/O, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_stalled_ns: Option<u64>,
}

/// What was seen of the server by looking at it up to ten times a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledRecord {
    /// Looks.
    pub samples: u64,
    /// CPU time of the looking, ns.
    pub cpu_ns: u64,
    /// Memory of the server, bytes: the median over the second half of the phase; absent
    /// when it was too short for a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_memory_stable_bytes: Option<u64>,
}

/// The three ends of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndsRecord {
    /// The last statement was answered.
    pub returned: EndRecord,
    /// And the target was flushed (syncfs); absent in what was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushed: Option<EndRecord>,
    /// And the server had made a WAL checkpoint, and the target was flushed again; absent
    /// in what was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<EndRecord>,
    /// Dirty and write-back bytes of the file system at *returned*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
}

/// One end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndRecord {
    /// Since the phase's start, ns.
    pub wall_ns: u64,
    /// What the device did since the phase's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceCountsRecord>,
}

/// What a block device did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCountsRecord {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Cache flushes.
    pub flushes: u64,
}

/// CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuRecord {
    /// In user mode, ns.
    pub user_ns: u64,
    /// In the kernel, ns.
    pub system_ns: u64,
}

/// One named operation in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// The suite's name.
    pub name: String,
    /// Whether it came to its end.
    pub completeness: Completeness,
    /// The count as the suite prints it: done.
    pub count: u64,
    /// The count planned.
    pub planned: u64,
    /// The row figure as the suite prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Statements sent; absent in what was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<u64>,
    /// Rows received; absent in what was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_received: Option<u64>,
    /// Bytes of file content moved, where that is what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The kernel's words where it refused the calls; then there are no other figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The marks that an imported line carried: `+`, its count and times are the suite's
    /// extrapolation (done and elapsed are unknown); `?`, a wrong result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// Wall time, ns.
    pub wall_ns: u64,
    /// CPU of the client.
    pub client: CpuRecord,
    /// CPU of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<CpuRecord>,
    /// What the device did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceCountsRecord>,
    /// Latency of the statements, with two or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyRecord>,
    /// In a duet, its slices: statements, and own time in ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<(u32, u64)>,
}

/// Latency of repeated statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyRecord {
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
    /// The histogram: HdrHistogram V2, deflated, base64.
    pub hdr: String,
}
