//! A load as stored: its plan, and its figures in one round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::schema::{CpuRecord, LatencyRecord};
use crate::workload::load;

/// What makes one load case another, beside what all cases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LoadKeyRecord {
    /// Clients at work at the same time.
    pub clients: u32,
    /// Databases they are spread over.
    pub databases: u32,
}

/// What the loads of a run were to be, beside clients and databases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPlanRecord {
    /// Scripts with their weights; a file's text is not stored.
    pub scripts: Vec<(String, u32)>,
    /// `simple`, `extended` or `prepared`.
    pub mode: String,
    /// Rows before the load, over all databases (`insert`, sysbench's).
    pub preload: u64,
    /// Scale of pgbench's schema, over all databases.
    pub scale: u32,
    /// Threads asked for, where one serves many clients; 0: one a CPU.
    #[serde(default)]
    pub threads: u32,
    /// Transactions of each client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Transactions over all clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuples: Option<u64>,
    /// Seconds before the measured period.
    pub warmup_s: f64,
    /// Transactions a second that were to be begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Latency limit, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<f64>,
    /// A new connection for each transaction.
    #[serde(default)]
    pub reconnect: bool,
    /// How often a transaction was tried.
    pub max_tries: u32,
    /// How sysbench's scripts chose their keys, where there are any; absent in runs before
    /// there was a choice: uniform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<load::script::Keys>,
    /// Values of script variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<(String, String)>,
}

/// The figures of one load in one round. What was imported may have no statements and round
/// trips, which are zero then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Threads that served the clients.
    pub threads: u64,
    /// From the common release to the last answer, ns.
    pub wall_ns: u64,
    /// Transactions that were due: `committed + failed + skipped`.
    pub attempted: u64,
    /// Committed.
    pub committed: u64,
    /// Given up after the last try.
    pub failed: u64,
    /// Not begun, because they would have been later than the limit.
    pub skipped: u64,
    /// Committed later than the limit.
    pub late: u64,
    /// Transactions that needed more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Errors that led to another try or a failure, by the engine's code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Statements sent.
    pub statements: u64,
    /// Times an answer was waited for.
    pub round_trips: u64,
    /// Connections made.
    #[serde(default)]
    pub connects: u64,
    /// Committed in the warm-up.
    pub warmup_committed: u64,
    /// The checkpoints that were reached, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointRecord>,
    /// Throughput over time: elapsed ns and transactions committed so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<(u64, u64)>,
    /// Latency of committed transactions; from the scheduled start where there is one. Of none
    /// (`count` is zero) where nothing of it was imported; then it is not stored either.
    #[serde(default, skip_serializing_if = "LatencyRecord::is_absent")]
    pub latency: LatencyRecord,
    /// What was imported of the latency, where there were no single ones to count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_summary: Option<LatencySummaryRecord>,
    /// Scheduled start to real start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<LatencyRecord>,
    /// Real start to last answer, where there is a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<LatencyRecord>,
    /// Each statement and its latency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statement_latency: Vec<(String, LatencyRecord)>,
    /// Committed transactions by script.
    pub by_script: BTreeMap<String, u64>,
    /// Committed transactions of the databases that had fewest and most.
    pub by_database: (u64, u64),
    /// What the server did on its own behalf, by its own names of counters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub activity: BTreeMap<String, f64>,
    /// WAL checkpoints of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wal_checkpoints: Option<Vec<WalCheckpointRecord>>,
    /// Waits for locks that the client had to make: count and ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_waits: Option<(u64, u64)>,
    /// CPU of the whole machine, busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<CpuRecord>,
    /// Time taken by the hypervisor, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// Peak memory of the client, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_memory_bytes: Option<u64>,
    /// Memory of the server after the warm-up, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_memory_before_bytes: Option<u64>,
    /// Transactions a second at which the client would have had no time left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_tps: Option<f64>,
    /// In a duet, its slices: transactions committed, and own time in ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<(u32, u64)>,
    /// In a duet, own time from the ends of slices until the last transaction had ended,
    /// ns: clients had less to do in it than they ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draining_ns: Option<u64>,
    /// The invariants that held, with their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<String>,
}

/// Latency of which single values are not known; from an imported report or log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencySummaryRecord {
    /// Mean, ns.
    pub mean_ns: u64,
    /// Standard deviation, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev_ns: Option<u64>,
    /// Fastest and slowest, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_ns: Option<(u64, u64)>,
}

impl LatencyRecord {
    /// Nothing was counted.
    pub fn is_absent(&self) -> bool {
        self.count == 0
    }
}

/// One checkpoint of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// Transactions committed, over all clients.
    pub transactions: u64,
    /// When the last of them was, ns since the start.
    pub elapsed_ns: u64,
}

/// One WAL checkpoint of the server; seconds since the start of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalCheckpointRecord {
    /// When it began; negative before the start.
    pub started_s: f64,
    /// When it was complete; absent while it was going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_s: Option<f64>,
    /// Why, in the server's words.
    pub reason: String,
}

impl LoadRecord {
    /// Committed transactions a second until *returned*.
    pub fn tps(&self) -> f64 {
        self.committed as f64 / (self.wall_ns.max(1) as f64 / 1e9)
    }
}

impl CheckpointRecord {
    /// All transactions so far / all time so far.
    pub fn tps(&self) -> f64 {
        self.transactions as f64 / (self.elapsed_ns.max(1) as f64 / 1e9)
    }

    /// Transactions a second since the checkpoint before (`None`: since the start).
    pub fn rate_since(&self, before: Option<&CheckpointRecord>) -> f64 {
        let (transactions, ns) = before.map_or((0, 0), |b| (b.transactions, b.elapsed_ns));
        let ns = self.elapsed_ns.saturating_sub(ns).max(1);
        (self.transactions - transactions) as f64 / (ns as f64 / 1e9)
    }
}

impl From<load::Cell> for LoadKeyRecord {
    fn from(cell: load::Cell) -> Self {
        LoadKeyRecord {
            clients: cell.clients,
            databases: cell.databases,
        }
    }
}

impl From<&load::Options> for LoadPlanRecord {
    fn from(options: &load::Options) -> Self {
        LoadPlanRecord {
            scripts: options
                .scripts
                .iter()
                .map(|s| (s.name.clone(), s.weight))
                .collect(),
            mode: options.mode.to_string(),
            preload: options.preload,
            scale: options.scale,
            threads: options.threads,
            transactions: options.transactions,
            seconds: options.seconds,
            tuples: options.tuples,
            warmup_s: options.warmup_s,
            rate: options.rate,
            limit_ms: options.limit_ms,
            reconnect: options.reconnect,
            max_tries: options.max_tries,
            keys: options.has_sysbench().then_some(options.keys),
            define: options.define.clone(),
        }
    }
}

impl From<load::LoadResult> for LoadRecord {
    fn from(result: load::LoadResult) -> Self {
        LoadRecord {
            threads: result.threads,
            wall_ns: result.wall_ns,
            attempted: result.attempted,
            committed: result.committed,
            failed: result.failed,
            skipped: result.skipped,
            late: result.late,
            retried: result.retried,
            retries: result.retries,
            errors: result.errors,
            statements: result.statements,
            round_trips: result.round_trips,
            connects: result.connects,
            warmup_committed: result.warmup_committed,
            checkpoints: result
                .checkpoints
                .into_iter()
                .map(|(transactions, elapsed_ns)| CheckpointRecord {
                    transactions,
                    elapsed_ns,
                })
                .collect(),
            progress: result.progress,
            latency: result.latency.into(),
            latency_summary: None,
            lag: result.lag.map(Into::into),
            service: result.service.map(Into::into),
            statement_latency: result
                .statement_latency
                .into_iter()
                .map(|(text, latency)| (text, latency.into()))
                .collect(),
            by_script: result.by_script,
            by_database: result.by_database,
            activity: result.activity,
            wal_checkpoints: result.wal_checkpoints.map(|all| {
                all.into_iter()
                    .map(|c| WalCheckpointRecord {
                        started_s: c.started_s,
                        ended_s: c.ended_s,
                        reason: c.reason,
                    })
                    .collect()
            }),
            busy_waits: result.busy_waits,
            machine: result.machine.map(|m| m.busy.into()),
            steal_ns: result.machine.map(|m| m.steal_ns),
            client_memory_bytes: result.client_memory_bytes,
            server_memory_before_bytes: result.server_memory_before_bytes,
            ceiling_tps: result.ceiling_tps,
            slices: result
                .slices
                .iter()
                .map(|s| (s.statements, s.wall_ns))
                .collect(),
            draining_ns: result.draining_ns,
            invariants: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Cumulative counts and times never fall, and the whole lies between its parts.
        #[test]
        fn rates_between_checkpoints_make_up_the_cumulative_one(
            steps in proptest::collection::vec((1u64..1000, 1u64..1_000_000_000), 1..6),
        ) {
            let mut all: Vec<CheckpointRecord> = Vec::new();
            for (count, ns) in steps {
                let last = all.last().map_or((0, 0), |c| (c.transactions, c.elapsed_ns));
                all.push(CheckpointRecord {
                    transactions: last.0 + count,
                    elapsed_ns: last.1 + ns,
                });
            }
            let rates: Vec<f64> = all
                .iter()
                .enumerate()
                .map(|(n, c)| c.rate_since(n.checked_sub(1).map(|n| &all[n])))
                .collect();
            let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let most = rates.iter().copied().fold(0.0, f64::max);
            let whole = all.last().unwrap().tps();
            prop_assert!(whole >= least * 0.999_999 && whole <= most * 1.000_001);
            prop_assert_eq!(rates[0], all[0].tps());
        }
    }
}
