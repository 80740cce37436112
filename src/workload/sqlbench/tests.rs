//! Phases run for real on SQLite, and what they tell compared with the specification.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::{Options, PHASES, Profile, run};
use crate::engine::{Address, Param, Session, Settings, SqlError, StatementId, null};
use crate::error::Result;
use crate::measure::{CpuTime, DeviceCounters};
use crate::sql::{Dialect, Texts};
use crate::workload::{Bench, Event, OperationResult, Probe};

/// Sees nothing.
pub(super) struct Blind;

impl Probe for Blind {
    fn device(&mut self) -> Option<DeviceCounters> {
        None
    }
    fn server_cpu(&mut self) -> Option<CpuTime> {
        None
    }
    fn server_memory(&mut self) -> Option<u64> {
        None
    }

    fn dirty_bytes(&mut self) -> Option<u64> {
        None
    }
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A session that answers one query with a row too many.
pub(super) struct Liar {
    session: Box<dyn Session>,
    answers: u64,
    lies_at: u64,
}

impl Liar {
    pub fn new(session: Box<dyn Session>, lies_at: u64) -> Self {
        Liar {
            session,
            answers: 0,
            lies_at,
        }
    }

    fn lies(&mut self) -> bool {
        self.answers += 1;
        self.answers == self.lies_at
    }
}

type Answer<T> = Result<T, SqlError>;

impl Session for Liar {
    fn dialect(&self) -> Dialect {
        self.session.dialect()
    }
    fn execute(&mut self, sql: &str) -> Answer<u64> {
        self.session.execute(sql)
    }
    fn fetch(&mut self, sql: &str) -> Answer<u64> {
        let rows = self.session.fetch(sql)?;
        Ok(rows + u64::from(self.lies()))
    }
    fn values(&mut self, sql: &str) -> Answer<Vec<Vec<Option<String>>>> {
        let mut rows = self.session.values(sql)?;
        if self.lies() {
            rows.extend(rows.first().cloned());
        }
        Ok(rows)
    }
    fn prepare(&mut self, sql: &str) -> Answer<StatementId> {
        self.session.prepare(sql)
    }
    fn fetch_prepared(&mut self, id: StatementId, params: &[Param<'_>]) -> Answer<u64> {
        let rows = self.session.fetch_prepared(id, params)?;
        Ok(rows + u64::from(self.lies()))
    }
    fn finish(&mut self, statement: StatementId) -> Answer<()> {
        self.session.finish(statement)
    }
    fn begin(&mut self) -> Answer<()> {
        self.session.begin()
    }
    fn commit(&mut self) -> Answer<()> {
        self.session.commit()
    }
    fn rollback(&mut self) -> Answer<()> {
        self.session.rollback()
    }
    fn settings(&mut self) -> Answer<Settings> {
        self.session.settings()
    }
    fn checkpoint(&mut self) -> Answer<()> {
        self.session.checkpoint()
    }
}

/// Runs `phase` at `address`; its operations in order.
pub(super) fn operations(
    address: &Address,
    phase: &str,
    options: &Options,
) -> Result<Vec<OperationResult>> {
    let mut operations = Vec::new();
    let mut observer = |event| {
        if let Event::OperationFinished(result) = event {
            operations.push(*result);
        }
        Ok(())
    };
    let mut probe = Blind;
    let mut bench = Bench::new(address, &mut probe, &mut observer, options.time_limit());
    run(phase, &mut bench, options)?;
    Ok(operations)
}

/// An empty database in `dir`, quick rather than durable.
pub(super) fn sqlite(dir: &Path, journal: &str) -> Address {
    Address::Sqlite {
        dir: dir.to_path_buf(),
        file: "main.db".to_string(),
        settings: [("journal_mode", journal), ("synchronous", "off")]
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .into(),
    }
}

/// Options of `profile`.
pub(super) fn profile(profile: Profile) -> Options {
    Options {
        profile,
        ..Options::default()
    }
}

/// Runs `phase` on an empty database of SQLite.
pub(super) fn on_sqlite(phase: &str, options: &Options) -> Vec<OperationResult> {
    let dir = tempfile::tempdir().unwrap();
    operations(&sqlite(dir.path(), "wal"), phase, options)
        .unwrap_or_else(|error| panic!("{phase}: {}", crate::error::one_line(&error)))
}

/// Name, count and rows, as printed.
pub(super) fn printed(operations: &[OperationResult]) -> Vec<(&str, u64, Option<u64>)> {
    operations
        .iter()
        .map(|o| (o.name.as_str(), o.count, o.rows))
        .collect()
}

/// As [`printed`], one line each: `name (count:rows)`.
pub(super) fn lines(operations: &[OperationResult]) -> Vec<String> {
    printed(operations)
        .into_iter()
        .map(|(name, count, rows)| match rows {
            Some(rows) => format!("{name} ({count}:{rows})"),
            None => format!("{name} ({count})"),
        })
        .collect()
}

/// One line each from a literal table.
pub(super) fn table(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.trim().to_string())
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn every_phase_runs_in_a_rollback_journal_too() {
    for phase in PHASES {
        let dir = tempfile::tempdir().unwrap();
        let address = sqlite(dir.path(), "delete");
        let options = profile(Profile::SmallTest);
        let found = operations(&address, phase, &options);
        let error = found.err().map(|e| crate::error::one_line(&e));
        assert_eq!(error, None, "{phase}");
    }
}

#[test]
fn fast_changes_no_count() {
    for phase in PHASES {
        let options = profile(Profile::SmallTest);
        let fast = Options {
            fast: true,
            ..options.clone()
        };
        let (slow, fast) = (on_sqlite(phase, &options), on_sqlite(phase, &fast));
        assert_eq!(lines(&slow), lines(&fast), "{phase}");
    }
}

#[test]
fn the_engine_that_pretends_gets_the_same_counts() {
    for phase in PHASES {
        let address = Address::Null {
            script: null::Script::default(),
        };
        let options = profile(Profile::SmallTest);
        let pretended = operations(&address, phase, &options).unwrap();
        assert_eq!(
            lines(&pretended),
            lines(&on_sqlite(phase, &options)),
            "{phase}"
        );
    }
}

#[test]
fn a_failed_statement_fails_the_phase() {
    for phase in PHASES {
        let address = Address::Null {
            script: null::Script {
                fail_statement: Some(25),
                ..null::Script::default()
            },
        };
        let options = profile(Profile::SmallTest);
        let error = operations(&address, phase, &options).unwrap_err();
        assert!(crate::error::one_line(&error).contains("script"), "{phase}");
    }
}

#[test]
fn planned_is_what_is_reached_without_a_limit() {
    for phase in PHASES {
        for operation in on_sqlite(phase, &profile(Profile::SmallTest)) {
            let name = &operation.name;
            assert_eq!(operation.planned, operation.count, "{phase} {name}");
            assert!(!operation.time_limited, "{phase} {name}");
        }
    }
}

#[test]
fn the_time_limit_cuts_what_may_be_cut() {
    let options = Options {
        time_limit_s: 0.0,
        ..profile(Profile::SmallTest)
    };
    let mut limited = 0;
    for phase in PHASES {
        for operation in on_sqlite(phase, &options) {
            if operation.time_limited {
                limited += 1;
                assert!(operation.count < operation.planned, "{}", operation.name);
                assert!(operation.count > 0, "{}", operation.name);
            } else {
                assert_eq!(operation.count, operation.planned, "{}", operation.name);
            }
        }
    }
    assert!(limited > 20, "{limited} operations were cut");
    assert_eq!(options.time_limit(), Duration::ZERO);
}

/// The words in quotes of a phase's sources.
fn quoted(phase: &str) -> BTreeSet<String> {
    let name = phase.to_lowercase().replace('-', "_");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/workload/sqlbench");
    let mut files = vec![own.join(format!("{name}.rs"))];
    if let Ok(folder) = std::fs::read_dir(own.join(&name)) {
        files.extend(folder.map(|entry| entry.unwrap().path()));
    }
    let text: String = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect();
    text.split('"').map(str::to_string).collect()
}

#[test]
fn every_text_is_used() {
    for phase in PHASES {
        let quoted = quoted(phase);
        for dialect in Dialect::ALL {
            for (name, _) in Texts::of(phase, dialect).iter() {
                assert!(quoted.contains(name), "sql/{phase}: {name} is never used");
            }
        }
    }
}
