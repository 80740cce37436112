//! The engine that pretends. It exists to test the tool itself: it answers every
//! statement after a scripted delay, fails where its script says so, and shows how fast
//! the harness could go if the database cost nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{
    Address, Build, Engine, Kind, Launch, Meaning, Param, Server, Session, Settings, SqlError,
    StatementId, Table,
};
use crate::error::{Context, Result, bail, unknown};
use crate::measure::CpuTime;
use crate::sql::Dialect;

/// What a session pretends. Written as settings: `--set null:delay_us=50`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// Time of every statement, ns: spun when below 500 µs, slept from there on.
    pub delay_ns: u64,
    /// Fails the statement of this number (counted from 1 in a session).
    pub fail_statement: Option<u64>,
    /// Ends the worker's process without a word at this statement.
    pub die_statement: Option<u64>,
    /// Never answers this statement.
    pub hang_statement: Option<u64>,
    /// Fails at `initialise`, `launch` or `connect`.
    pub fail_at: Option<String>,
}

const SETTINGS: [&str; 5] = [
    "delay_us",
    "fail_statement",
    "die_statement",
    "hang_statement",
    "fail_at",
];

impl Script {
    /// From settings.
    ///
    /// # Errors
    /// A name that is unknown, or a value that is no number.
    pub fn from_settings(settings: &Settings) -> Result<Self> {
        let mut script = Script::default();
        for (name, value) in settings {
            let number = || -> Result<u64> {
                value
                    .parse()
                    .with_context(|| format!("null setting {name}={value} is not a whole number"))
            };
            match name.as_str() {
                "delay_us" => {
                    let micros: f64 = value
                        .parse()
                        .ok()
                        .filter(|v: &f64| v.is_finite() && *v >= 0.0)
                        .with_context(|| format!("null setting {name}={value} is not a delay"))?;
                    script.delay_ns = (micros * 1000.0) as u64;
                }
                "fail_statement" => script.fail_statement = Some(number()?),
                "die_statement" => script.die_statement = Some(number()?),
                "hang_statement" => script.hang_statement = Some(number()?),
                "fail_at" => script.fail_at = Some(value.clone()),
                _ => return Err(unknown("setting of engine null", name, &SETTINGS)),
            }
        }
        Ok(script)
    }

    fn check(&self, stage: &str) -> Result<()> {
        if self.fail_at.as_deref() == Some(stage) {
            bail!("the script fails at {stage}");
        }
        Ok(())
    }
}

/// The engine.
pub struct Null {
    build: Build,
}

impl Null {
    /// The only build.
    pub fn new() -> Self {
        Null {
            build: Build {
                kind: Kind::Null,
                version: env!("CARGO_PKG_VERSION").to_string(),
                binary: None,
            },
        }
    }
}

impl Default for Null {
    fn default() -> Self {
        Null::new()
    }
}

impl Engine for Null {
    fn build(&self) -> &Build {
        &self.build
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn defaults(&self) -> Settings {
        Settings::new()
    }

    fn has_server(&self) -> bool {
        false
    }

    fn initialise(&self, _data: &Path, settings: &Settings) -> Result<()> {
        Script::from_settings(settings)?.check("initialise")
    }

    fn launch(&self, launch: &Launch) -> Result<Box<dyn Server>> {
        let script = Script::from_settings(&launch.settings)?;
        script.check("launch")?;
        Ok(Box::new(Pretended { script }))
    }
}

struct Pretended {
    script: Script,
}

impl Server for Pretended {
    fn address(&self) -> Address {
        Address::Null {
            script: self.script.clone(),
        }
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn cpu(&self) -> Option<CpuTime> {
        None
    }

    fn died(&mut self) -> Option<String> {
        None
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn stop(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// A session that pretends.
pub struct NullSession {
    script: Script,
    statements: u64,
}

impl NullSession {
    /// Pretends to connect.
    ///
    /// # Errors
    /// When the script fails at `connect`.
    pub fn new(script: Script) -> Result<Self, SqlError> {
        script
            .check("connect")
            .map_err(|e| failed(&e.to_string()))?;
        Ok(NullSession {
            script,
            statements: 0,
        })
    }

    fn pretend(&mut self) -> Result<u64, SqlError> {
        self.statements += 1;
        let now = Some(self.statements);
        if self.script.die_statement == now {
            std::process::abort();
        }
        if self.script.hang_statement == now {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        if self.script.fail_statement == now {
            return Err(failed("the script fails this statement"));
        }
        if self.script.delay_ns > 0 {
            wait(Duration::from_nanos(self.script.delay_ns));
        }
        Ok(0)
    }
}

/// Delays from here on are slept.
const SLEPT: Duration = Duration::from_micros(500);

/// Short delays are spun, as a sleep overshoots by some 60 µs; long ones are slept, so
/// that they need no CPU and come out the same when others use it.
fn wait(delay: Duration) {
    if delay >= SLEPT {
        return std::thread::sleep(delay);
    }
    let start = Instant::now();
    while start.elapsed() < delay {
        std::hint::spin_loop();
    }
}

fn failed(message: &str) -> SqlError {
    SqlError {
        code: "NULL1".to_string(),
        message: message.to_string(),
        meaning: Meaning::Other,
    }
}

impl Session for NullSession {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn answers(&self) -> bool {
        false
    }

    fn execute(&mut self, _sql: &str) -> Result<u64, SqlError> {
        self.pretend()
    }

    fn fetch(&mut self, _sql: &str) -> Result<u64, SqlError> {
        self.pretend()
    }

    fn values(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, SqlError> {
        self.pretend().map(|_| Vec::new())
    }

    fn prepare(&mut self, _sql: &str) -> Result<StatementId, SqlError> {
        Ok(StatementId(0))
    }

    fn fetch_prepared(&mut self, _: StatementId, _: &[Param<'_>]) -> Result<u64, SqlError> {
        self.pretend()
    }

    fn table(&mut self, _sql: &str) -> Result<Table, SqlError> {
        self.pretend().map(|_| Table::default())
    }

    fn table_prepared(&mut self, _: StatementId, _: &[Param<'_>]) -> Result<Table, SqlError> {
        self.pretend().map(|_| Table::default())
    }

    fn finish(&mut self, _statement: StatementId) -> Result<(), SqlError> {
        Ok(())
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn settings(&mut self) -> Result<Settings, SqlError> {
        Ok(Settings::new())
    }

    fn checkpoint(&mut self) -> Result<(), SqlError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_read_from_settings() {
        let settings: Settings = [("delay_us", "1.5"), ("fail_statement", "2")]
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .into();
        let script = Script::from_settings(&settings).unwrap();
        assert_eq!(script.delay_ns, 1500);
        let mut session = NullSession::new(script).unwrap();
        assert!(session.execute("x").is_ok());
        assert!(session.execute("x").is_err());
        assert!(session.execute("x").is_ok());
    }

    #[test]
    fn unknown_settings_are_refused() {
        let settings: Settings = [("dleay".to_string(), "1".to_string())].into();
        assert!(Script::from_settings(&settings).is_err());
    }
}
