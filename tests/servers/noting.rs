//! A PostgreSQL server that notes every statement it gets, for each application by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mountmark::engine::{Address, Kind};

use crate::support::Place;

/// A server that notes every statement, and how to reach it.
pub struct Noting {
    place: Place,
    dir: PathBuf,
    user: String,
    database: String,
    server: Option<Box<dyn mountmark::engine::Server>>,
}

impl Noting {
    pub fn start() -> Option<Noting> {
        let place = Place::new(Kind::Postgres)?;
        let launch = place.launch_with(&[
            ("log_statement", "all"),
            ("log_destination", "jsonlog"),
            ("logging_collector", "on"),
            ("log_filename", "noted.log"),
        ]);
        let server = place.engine.launch(&launch).unwrap();
        let Address::Postgres {
            dir,
            user,
            database,
        } = server.address()
        else {
            panic!("PostgreSQL's address is another engine's");
        };
        Some(Noting {
            place,
            dir,
            user,
            database,
            server: Some(server),
        })
    }

    /// The pgbench beside the server.
    pub fn pgbench(&self) -> Option<PathBuf> {
        let server = self.place.engine.build().binary.clone()?;
        let pgbench = server.with_file_name("pgbench");
        pgbench.exists().then_some(pgbench)
    }

    pub fn run_pgbench(&self, pgbench: &Path, name: &str, arguments: &[String]) -> Output {
        Command::new(pgbench)
            .env("PGAPPNAME", name)
            .arg("-h")
            .arg(&self.dir)
            .args(["-U", &self.user])
            .args(arguments)
            .arg(&self.database)
            .output()
            .unwrap()
    }

    pub fn connect(&self, name: &str) -> postgres::Client {
        postgres::Config::new()
            .host_path(&self.dir)
            .user(&self.user)
            .dbname(&self.database)
            .application_name(name)
            .connect(postgres::NoTls)
            .unwrap()
    }

    /// Stops the server; the statements of each application's last session, in order.
    pub fn stop(mut self) -> BTreeMap<String, Vec<String>> {
        self.server.take().unwrap().stop().unwrap();
        let log = self.place.dir.path().join("data/log/noted.json");
        let log = fs::read_to_string(log).unwrap();
        let mut noted: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
        for line in log.lines() {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| entry[key].as_str().unwrap_or_default();
            let message = text("message");
            let statement = message.strip_prefix("statement: ").or_else(|| {
                let (name, statement) = message.strip_prefix("execute ")?.split_once(": ")?;
                (!name.contains(' ')).then_some(statement)
            });
            let Some(statement) = statement else {
                continue;
            };
            let session = text("session_id");
            let of = noted
                .entry(text("application_name").to_string())
                .or_default();
            if of.0 != session {
                *of = (session.to_string(), Vec::new());
            }
            of.1.push(statement.to_string());
        }
        noted.into_iter().map(|(name, of)| (name, of.1)).collect()
    }
}
