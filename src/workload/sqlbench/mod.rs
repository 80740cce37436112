//! The phases of MySQL's sql-bench, one file each. Names, counts, statements and row
//! counts are the suite's.

mod alter_table;
mod atis;
mod big_tables;
mod client;
mod connect;
mod create;
mod insert;
mod options;
mod random;
mod select;
#[cfg(test)]
mod tests;
mod transactions;
mod wisconsin;

pub use options::{Options, Profile};

use super::{Bench, run_phase};
use crate::error::{Result, unknown};

/// The phases there are, in the suite's order.
pub const PHASES: &[&str] = &[
    "alter-table",
    "ATIS",
    "big-tables",
    "connect",
    "create",
    "insert",
    "select",
    "transactions",
    "wisconsin",
];

/// The phases that the workload `sql-bench` stands for: those of the published results.
pub const SUITE: &[&str] = &[
    "alter-table",
    "ATIS",
    "big-tables",
    "connect",
    "create",
    "insert",
    "select",
    "wisconsin",
];

/// Runs one phase with its three ends.
///
/// # Errors
/// An unknown phase; a failed statement; a wrong number of rows.
pub fn run(phase: &str, bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let body = match phase {
        "alter-table" => alter_table::run,
        "ATIS" => atis::run,
        "big-tables" => big_tables::run,
        "connect" => connect::run,
        "create" => create::run,
        "insert" => insert::run,
        "select" => select::run,
        "transactions" => transactions::run,
        "wisconsin" => wisconsin::run,
        _ => return Err(unknown("phase", phase, PHASES)),
    };
    run_phase(bench, phase, |bench| body(bench, options))
}

/// Removes a table that an earlier run may have left; its absence is fine.
fn drop_leftover(session: &mut dyn crate::engine::Session, table: &str) -> Result<()> {
    use crate::engine::Meaning;
    match session.execute(&format!("DROP TABLE {table}")) {
        Err(error) if error.meaning != Meaning::Missing => Err(crate::error::Error::new(error)
            .context(format!("cannot drop a left-over table {table}"))),
        _ => Ok(()),
    }
}
