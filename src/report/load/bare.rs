//! The bare sync call beside the server's figure: what the call that a server commits with
//! costs on the same target, where both were measured in one run.

use super::Column;
use crate::measure::stats::median;
use crate::record::{CaseRecord, Outcome, Results};
use crate::report::grid::Grid;
use crate::workload::sync::WORKLOAD;

/// The measured bare calls of a run, by target.
pub(in crate::report) struct Bare<'r>(Vec<&'r CaseRecord>);

impl<'r> Bare<'r> {
    /// Of a run; `None` where it has none.
    pub fn of(results: &'r Results) -> Option<Self> {
        let bare = |c: &&CaseRecord| c.case.workload == WORKLOAD && c.outcome == Outcome::Measured;
        let bare: Vec<&CaseRecord> = results.cases.iter().filter(bare).collect();
        (!bare.is_empty()).then_some(Bare(bare))
    }

    /// The call that the server of a load commits with, and its mean on the same target,
    /// µs.
    pub fn beside(&self, column: &Column<'_>) -> Option<(&'static str, f64)> {
        let mut cases = column.cases.iter();
        let shape = cases.find_map(|case| Some(shape(case.engine.as_ref()?)))??;
        Some((shape, call_us(&self.0, &column.key.target, shape)?))
    }
}

/// Adds a row with the mean time of the bare call for each load; none where the run has no
/// bare calls.
pub(super) fn row(grid: &mut Grid, columns: &[Column<'_>], results: &Results) {
    let Some(bare) = Bare::of(results) else {
        return;
    };
    let cells = columns.iter().map(|column| match bare.beside(column) {
        Some((shape, us)) => {
            format!("{us:.0} ({})", shape.trim_start_matches("overwrite 8K "))
        }
        None => "–".to_string(),
    });
    let name = "bare sync call, µs".to_string();
    grid.row(std::iter::once(name).chain(cells).collect());
}

/// The bare call that an engine commits with, by its settings in effect: PostgreSQL and
/// InnoDB overwrite a preallocated log, SQLite appends to its WAL. `None` where it makes none.
fn shape(engine: &crate::record::EngineRecord) -> Option<&'static str> {
    let of = |name: &str| engine.settings.get(name).map(String::as_str);
    match engine.kind.as_str() {
        "postgres" => match of("wal_sync_method")? {
            "fdatasync" => Some("overwrite 8K fdatasync"),
            "fsync" => Some("overwrite 8K fsync"),
            "open_datasync" => Some("overwrite 8K O_DSYNC"),
            "open_sync" => Some("overwrite 8K O_SYNC"),
            _ => None,
        },
        "mysql" | "mariadb" => match of("innodb_flush_method")? {
            "fsync" | "O_DIRECT" | "O_DIRECT_NO_FSYNC" | "littlesync" => Some("log innodb redo 1K"),
            "O_DSYNC" => Some("overwrite 8K O_SYNC"),
            _ => None,
        },
        "sqlite" => match of("journal_mode")? {
            "wal" => Some("log sqlite WAL 2 frames"),
            "delete" => Some("log sqlite rollback journal"),
            _ => None,
        },
        _ => None,
    }
}

/// Median over the rounds of the mean call of a shape on a target, µs.
fn call_us(bare: &[&CaseRecord], target: &str, shape: &str) -> Option<f64> {
    let operations = bare
        .iter()
        .filter(|c| c.case.target == target)
        .flat_map(|c| &c.phases)
        .flat_map(|p| &p.operations)
        .filter(|o| o.name == shape);
    let means = operations.filter_map(|o| Some(o.latency.as_ref()?.mean_ns as f64 / 1e3));
    median(&means.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EngineRecord;

    #[test]
    fn each_engine_has_its_call() {
        let engine = |kind: &str, name: &str, value: &str| EngineRecord {
            kind: kind.into(),
            settings: [(name.to_string(), value.to_string())].into(),
            ..EngineRecord::default()
        };
        for (kind, name, value, expected) in [
            (
                "postgres",
                "wal_sync_method",
                "fdatasync",
                Some("overwrite 8K fdatasync"),
            ),
            (
                "postgres",
                "wal_sync_method",
                "open_sync",
                Some("overwrite 8K O_SYNC"),
            ),
            (
                "mariadb",
                "innodb_flush_method",
                "O_DIRECT",
                Some("log innodb redo 1K"),
            ),
            ("mariadb", "innodb_flush_method", "nosync", None),
            (
                "sqlite",
                "journal_mode",
                "wal",
                Some("log sqlite WAL 2 frames"),
            ),
            ("null", "delay_us", "1", None),
        ] {
            assert_eq!(
                shape(&engine(kind, name, value)),
                expected,
                "{kind} {value}"
            );
        }
    }
}
