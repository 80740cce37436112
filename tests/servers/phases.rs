//! sql-bench's phases on real servers: each prints what the suite printed there, with
//! `--fast` and without.

use std::path::Path;

use mountmark::engine::{Address, Kind, Settings};
use mountmark::error::{Result, one_line};
use mountmark::measure::{CpuTime, DeviceCounters};
use mountmark::workload::sqlbench::{self, Options, PHASES, Profile};
use mountmark::workload::{Bench, Event, OperationResult, Probe};

use crate::support::{Place, unsynced};

/// Sees nothing.
pub struct Blind;

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

fn try_run(address: &Address, phase: &str, options: &Options) -> Result<Vec<OperationResult>> {
    let mut operations = Vec::new();
    let mut observer = |event| {
        if let Event::OperationFinished(result) = event {
            operations.push(*result);
        }
        Ok(())
    };
    let mut probe = Blind;
    let mut bench = Bench::new(address, &mut probe, &mut observer, options.time_limit());
    sqlbench::run(phase, &mut bench, options)?;
    Ok(operations)
}

/// `name (count:rows)` of each operation but the book-keeping.
fn run(address: &Address, phase: &str, options: &Options) -> Vec<String> {
    let operations = try_run(address, phase, options)
        .unwrap_or_else(|error| panic!("{phase}: {}", one_line(&error)));
    operations
        .iter()
        .filter(|o| o.name != "book-keeping")
        .map(|o| match o.rows {
            Some(rows) => format!("{} ({}:{rows})", o.name, o.count),
            None => format!("{} ({})", o.name, o.count),
        })
        .collect()
}

/// What SQLite prints, which the phases' own tests compare with the specification, and
/// what the server cannot do or does besides.
fn expected(kind: Kind, phase: &str, options: &Options, dir: &Path) -> Vec<String> {
    let address = Address::Sqlite {
        dir: dir.to_path_buf(),
        file: "main.db".to_string(),
        settings: Settings::from([("synchronous".to_string(), "off".to_string())]),
    };
    let mut lines = run(&address, phase, options);
    match (kind, phase) {
        (Kind::Postgres, "alter-table") => lines.truncate(4),
        (Kind::Postgres, "insert") => lines.truncate(55),
        (Kind::Postgres, "ATIS") => lines[6] = "select_group (260)".to_string(),
        (_, "ATIS") => lines[6] = "select_group (280)".to_string(),
        _ => {}
    }
    lines
}

pub fn runs_every_phase(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place
        .engine
        .launch(&place.launch_with(unsynced(kind)))
        .unwrap();
    let files = tempfile::tempdir().unwrap();
    let options = Options {
        profile: Profile::SmallTest,
        ..Options::default()
    };
    let fast = Options {
        fast: true,
        ..options.clone()
    };
    for phase in PHASES {
        let expected = expected(kind, phase, &options, files.path());
        for options in [&options, &fast] {
            let found = run(&server.address(), phase, options);
            assert_eq!(found, expected, "{kind} {phase} fast={}", options.fast);
        }
    }
    let newer = Options {
        profile: Profile::Mariadb,
        loops: 0.01,
        time_limit_s: 0.0,
        ..Options::default()
    };
    let found = run(&server.address(), "select", &newer);
    assert_eq!(
        found[8..10],
        [
            "count_group (7000:700000)",
            "count_group_with_order (7000:700000)"
        ]
    );
    server.stop().unwrap();
}

#[test]
fn transactions_refuses_a_storage_engine_without() {
    let Some(place) = Place::new(Kind::Mariadb) else {
        return;
    };
    let settings = [("default_storage_engine", "MyISAM")];
    let server = place.engine.launch(&place.launch_with(&settings)).unwrap();
    let options = Options {
        profile: Profile::SmallTest,
        ..Options::default()
    };
    let error = try_run(&server.address(), "transactions", &options).unwrap_err();
    assert_eq!(
        one_line(&error),
        "phase transactions: MyISAM has no transactions; set default_storage_engine to one that has, such as InnoDB"
    );
    assert!(try_run(&server.address(), "create", &options).is_ok());
    server.stop().unwrap();
}

/// One statement a table, and every row of it.
fn fast_loads_tables_from_files(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place
        .engine
        .launch(&place.launch_with(unsynced(kind)))
        .unwrap();
    let options = Options {
        profile: Profile::SmallTest,
        fast: true,
        ..Options::default()
    };
    for (phase, tables, rows) in [("ATIS", 28, 9768), ("wisconsin", 4, 31_000)] {
        let operations = try_run(&server.address(), phase, &options)
            .unwrap_or_else(|error| panic!("{phase}: {}", one_line(&error)));
        let insert = operations.iter().find(|o| o.name == "insert").unwrap();
        assert_eq!((insert.statements, insert.count), (tables, rows), "{phase}");
    }
    server.stop().unwrap();
}

#[test]
fn mariadb_loads_tables_from_files() {
    fast_loads_tables_from_files(Kind::Mariadb);
}

#[test]
fn mysql_loads_tables_from_files() {
    fast_loads_tables_from_files(Kind::Mysql);
}
