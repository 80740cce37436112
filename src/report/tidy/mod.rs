//! Measurements as rows of named values: what CSV and JSON are written from. Every value is
//! one that is stored, in the unit that the name of its column ends in; nothing is a median.

mod csv;
mod json;
mod rows;

pub use csv::csv;
pub use json::{VERSION, json};

use serde_json::Value;

/// The columns, in the order of a CSV file. A column is added at the end of its group, never
/// renamed, and never changes its unit.
pub const COLUMNS: [&str; 66] = [
    // What run, and what kind of row.
    "run",
    "label",
    "started",
    "kind",
    // The case and the round.
    "target",
    "filesystem",
    "engine",
    "settings",
    "memory_bytes",
    "cpus",
    "workload",
    "clients",
    "databases",
    "replicate",
    "round",
    "duet_partner",
    // What came of it.
    "outcome",
    "reason",
    "durability",
    "disturbed",
    "cold",
    // Which figures.
    "phase",
    "operation",
    "completeness",
    "count",
    "planned",
    "rows",
    "statements",
    "rows_received",
    "bytes",
    "wall_s",
    "flushed_wall_s",
    "settled_wall_s",
    "client_user_s",
    "client_system_s",
    "server_user_s",
    "server_system_s",
    "others_cpu_s",
    "steal_s",
    "server_memory_bytes",
    "client_memory_bytes",
    "dirty_bytes",
    // The device until the last statement was answered, until flushed, until settled.
    "read_bytes",
    "written_bytes",
    "flushes",
    "flushed_written_bytes",
    "flushed_flushes",
    "settled_written_bytes",
    "settled_flushes",
    // Latency of statements; of a load, of transactions.
    "latency_count",
    "latency_mean_s",
    "latency_p50_s",
    "latency_p90_s",
    "latency_p99_s",
    "latency_p999_s",
    "latency_max_s",
    // A load.
    "transactions_per_s",
    "attempted",
    "committed",
    "failed",
    "skipped",
    "late",
    "retried",
    "retries",
    "round_trips",
    "ceiling_transactions_per_s",
];

/// The values of one row by column; what was not measured is not there.
pub(super) struct Row(Vec<(&'static str, Value)>);

impl Row {
    /// With the values that `other` has.
    fn like(other: &Row) -> Self {
        Row(other.0.clone())
    }

    /// Sets a column; `None` leaves it out.
    fn set(&mut self, column: &'static str, value: Option<impl Into<Value>>) {
        debug_assert!(COLUMNS.contains(&column), "{column}");
        if let Some(value) = value {
            self.0.push((column, value.into()));
        }
    }

    fn get(&self, column: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(name, _)| *name == column);
        found.map(|(_, value)| value)
    }
}
