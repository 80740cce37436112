//! Every statement of `/sql` is prepared by the engine that it is for, while its phase runs
//! and the tables are there: one that is missing or misspelt fails.

use std::collections::BTreeSet;
use std::path::Path;

use mountmark::engine::{Address, Kind, Session, Settings, connect};
use mountmark::error::one_line;
use mountmark::sql::{Dialect, Template, Texts};
use mountmark::workload::sqlbench::{self, Options, PHASES, Profile};
use mountmark::workload::{Bench, Event};

use crate::phases::Blind;
use crate::support::{Place, unsynced};

/// What is put into the places of a template, by name; 1 into all others.
const VALUES: [(&str, &[&str]); 10] = [
    ("values", &["1,1,1,1,1,1,1,1", "COLUMNS", "1,1,1,1,1"]),
    ("table", &["onek", "onek", "airport_service"]),
    ("fields", &["i1,i2", "FIELDS"]),
    ("changes", &["ADD extra integer"]),
    ("list", &["1,2"]),
    ("groups", &["grp=1 OR grp=2"]),
    ("pairs", &["(region='A' AND grp=1)"]),
    ("condition", &["id=1 OR id=2"]),
    ("x", &["id"]),
    ("n", &["1"]),
];

/// Parts of statements, which are not prepared by themselves.
const PARTS: [(&str, &str); 5] = [
    ("alter-table", "add"),
    ("alter-table", "drop"),
    ("insert", "insert_rows"),
    ("insert", "row"),
    ("insert", "key_row"),
];

/// What a server cannot do, and so never gets.
fn cannot(dialect: Dialect, phase: &str, name: &str) -> bool {
    match (phase, name) {
        ("ATIS", "group_15") => !dialect.is_mysql(),
        ("ATIS", "group_19") => dialect == Dialect::Postgres,
        ("insert", "truncate") => dialect == Dialect::Sqlite,
        _ => false,
    }
}

/// The texts to try for one statement.
fn filled(text: &str) -> Vec<String> {
    let template = Template::new(text);
    let fill = |choice: usize| {
        let values: Vec<String> = template
            .places()
            .iter()
            .map(|place| {
                let of_place = VALUES.iter().find(|(name, _)| name == place);
                let values = of_place.map_or(["1"].as_slice(), |(_, values)| values);
                let value = values[choice.min(values.len() - 1)];
                value
                    .replace("COLUMNS", &vec!["1"; 100].join(","))
                    .replace("FIELDS", &fields(100))
            })
            .collect();
        let args: Vec<_> = values.iter().map(|v| v.as_str().into()).collect();
        let mut sql = String::new();
        template.fill(&mut sql, &args);
        sql
    };
    (0..3).map(fill).collect()
}

fn fields(count: usize) -> String {
    let names: Vec<String> = (1..=count).map(|n| format!("i{n}")).collect();
    names.join(",")
}

/// The statements of a phase that have not been prepared yet, with the last refusal.
struct Left {
    phase: &'static str,
    texts: Vec<(String, String)>,
    refusals: Vec<String>,
}

impl Left {
    fn of(phase: &'static str, dialect: Dialect) -> Self {
        let texts = Texts::of(phase, dialect);
        let wanted = texts
            .iter()
            .filter(|(name, _)| !PARTS.contains(&(phase, name)) && !cannot(dialect, phase, name));
        Left {
            phase,
            texts: wanted
                .map(|(n, t)| (n.to_string(), t.to_string()))
                .collect(),
            refusals: Vec::new(),
        }
    }

    fn try_all(&mut self, session: &mut dyn Session) {
        self.refusals.clear();
        let refusals = &mut self.refusals;
        self.texts.retain(|(name, text)| {
            for sql in filled(text) {
                match session.prepare(&sql) {
                    Ok(statement) => {
                        session.finish(statement).unwrap();
                        return false;
                    }
                    Err(error) => refusals.push(format!("{name}: {error}: {sql:.200}")),
                }
            }
            true
        });
    }
}

/// Runs a phase and tries its statements whenever an operation begins or has ended.
fn try_phase(address: &Address, left: &mut Left, options: &Options) {
    let mut session = connect(address).unwrap();
    let phase = left.phase;
    let mut observer = |event| {
        if matches!(
            event,
            Event::OperationStarted { .. } | Event::OperationFinished(_)
        ) {
            left.try_all(session.as_mut());
        }
        Ok(())
    };
    let mut probe = Blind;
    let mut bench = Bench::new(address, &mut probe, &mut observer, options.time_limit());
    sqlbench::run(phase, &mut bench, options)
        .unwrap_or_else(|error| panic!("{phase}: {}", one_line(&error)));
}

fn every_text(address: &Address, dialect: Dialect) {
    let small = Options {
        profile: Profile::SmallTest,
        ..Options::default()
    };
    let newer = Options {
        profile: Profile::Mariadb,
        loops: 0.01,
        time_limit_s: 0.0,
        ..Options::default()
    };
    let mut missing = BTreeSet::new();
    for phase in PHASES.iter().copied() {
        let mut left = Left::of(phase, dialect);
        try_phase(address, &mut left, &small);
        if !left.texts.is_empty() && phase == "select" {
            try_phase(address, &mut left, &newer);
        }
        for (name, _) in &left.texts {
            let own = format!("{name}: ");
            let why = left.refusals.iter().find(|r| r.starts_with(&own));
            missing.insert(format!("sql/{phase} {}", why.unwrap_or(&own)));
        }
    }
    let missing: Vec<String> = missing.into_iter().collect();
    assert!(missing.is_empty(), "{dialect:?}:\n{}", missing.join("\n"));
}

pub fn prepares_every_text(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let launch = place.launch_with(unsynced(kind));
    let server = place.engine.launch(&launch).unwrap();
    every_text(&server.address(), place.engine.dialect());
    server.stop().unwrap();
}

#[test]
fn sqlite_prepares_every_text() {
    let files = tempfile::tempdir().unwrap();
    let dir: &Path = files.path();
    let address = Address::Sqlite {
        dir: dir.to_path_buf(),
        file: "main.db".to_string(),
        settings: Settings::from([
            ("journal_mode".to_string(), "wal".to_string()),
            ("synchronous".to_string(), "off".to_string()),
        ]),
    };
    every_text(&address, Dialect::Sqlite);
}
