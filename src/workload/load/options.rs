//! What a load is: script, protocol, data, amount, pace. The number of clients and of
//! databases belongs to the case.

use serde::{Deserialize, Serialize};

use super::catalogue::Catalogue;
use super::databases::Cell;
use super::mode::Mode;
use super::preload::Preload;
use super::script::{Builtin, Keys, Schema};
use crate::error::{Result, ensure, usage};

/// One script of the mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Name of a built-in one, or the file it came from.
    pub name: String,
    /// Its text, where it is not built in.
    #[serde(default)]
    pub text: Option<String>,
    /// How often it is chosen, beside the weights of the others.
    pub weight: u32,
}

/// A load, beside its numbers of clients and databases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The mix of scripts, at least one.
    pub scripts: Vec<Script>,
    /// How statements are sent.
    pub mode: Mode,
    /// Rows of the table that `insert` adds to (and sysbench's table size), over all
    /// databases.
    pub preload: u64,
    /// Scale of pgbench's schema: branches over all databases, 100,000 accounts each.
    pub scale: u32,
    /// Threads that serve the clients, where one serves many; 0: one a CPU.
    pub threads: u32,
    /// Transactions of each client.
    pub transactions: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Transactions over all clients.
    pub tuples: Option<u64>,
    /// Seconds before the measured window, which run the same and count for nothing.
    pub warmup_s: f64,
    /// Transactions a second that are to be begun, over all clients.
    pub rate: Option<f64>,
    /// A transaction later than this (ms) is counted; with a rate, one that has not
    /// begun by then is skipped.
    pub limit_ms: Option<f64>,
    /// A new connection for each transaction.
    pub reconnect: bool,
    /// How often a transaction is tried that ends in a serialization failure or deadlock.
    pub max_tries: u32,
    /// Cumulative figures are taken when so many transactions have been committed;
    /// ascending.
    pub checkpoints: Vec<u64>,
    /// Seconds between two progress events.
    pub progress_s: Option<f64>,
    /// Latency of each statement too.
    pub per_statement: bool,
    /// How sysbench's scripts choose their keys.
    pub keys: Keys,
    /// Values of script variables, `NAME=VALUE`.
    pub define: Vec<(String, String)>,
    /// Whether scripts may run shell commands.
    pub allow_shell: bool,
    /// Seed of keys and schedule.
    pub seed: u64,
}

/// Where nothing is said.
pub const DEFAULT_CHECKPOINTS: [u64; 3] = [1_000, 5_000, 10_000];
/// Rows that `insert` starts with, as in the published study.
pub const DEFAULT_PRELOAD: u64 = 70_000;
/// Seconds of a load whose amount is not given in transactions.
pub const DEFAULT_SECONDS: f64 = 60.0;

impl Default for Options {
    fn default() -> Self {
        Options {
            scripts: vec![Script {
                name: "insert".to_string(),
                text: None,
                weight: 1,
            }],
            mode: Mode::default(),
            preload: DEFAULT_PRELOAD,
            scale: 1,
            threads: 0,
            transactions: None,
            seconds: None,
            tuples: None,
            warmup_s: 5.0,
            rate: None,
            limit_ms: None,
            reconnect: false,
            max_tries: 10,
            checkpoints: Vec::new(),
            progress_s: None,
            per_statement: false,
            keys: Keys::default(),
            define: Vec::new(),
            allow_shell: false,
            seed: 1,
        }
    }
}

impl Options {
    /// True when the mix is `insert` alone.
    pub fn inserts_only(&self) -> bool {
        self.scripts
            .iter()
            .all(|s| s.name == "insert" && s.text.is_none())
    }

    /// The tables that the scripts need, each once, with their amounts over all databases.
    pub fn schemas(&self) -> Vec<(Schema, u64)> {
        let mut schemas = Vec::new();
        for script in &self.scripts {
            let schema = match &script.text {
                None => Builtin::named(&script.name).map_or(Schema::Pgbench, |b| b.schema),
                Some(_) => Schema::Pgbench,
            };
            let amount = match schema {
                Schema::Pgbench => u64::from(self.scale),
                Schema::Tuples | Schema::Sysbench => self.preload,
            };
            if !schemas.contains(&(schema, amount)) {
                schemas.push((schema, amount));
            }
        }
        schemas
    }

    /// Whether one of sysbench's scripts is in the mix.
    pub fn has_sysbench(&self) -> bool {
        let schemas = self.schemas();
        schemas
            .iter()
            .any(|(schema, _)| *schema == Schema::Sysbench)
    }

    /// sysbench's number of tables, set by `-D tables=N`.
    ///
    /// # Errors
    /// When it is no number above zero.
    pub fn tables(&self) -> Result<u32> {
        match self.define.iter().find(|(name, _)| name == "tables") {
            None => Ok(1),
            Some((_, value)) => value
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| usage(format!("--define tables={value}: a number above zero"))),
        }
    }

    /// What a snapshot for this load holds.
    pub fn preload(&self, cell: Cell) -> Preload {
        Preload {
            databases: cell.databases,
            schemas: self.schemas(),
            tables: self.tables().unwrap_or(1),
        }
    }

    /// Fills in what was not said: the amount and the checkpoints of the published study
    /// for `insert`, a minute for the others.
    pub fn with_amount(mut self) -> Self {
        let amount_given =
            self.transactions.is_some() || self.seconds.is_some() || self.tuples.is_some();
        if self.checkpoints.is_empty() && self.inserts_only() && !amount_given {
            self.checkpoints = DEFAULT_CHECKPOINTS.to_vec();
        }
        if !amount_given {
            match self.checkpoints.last() {
                Some(last) => self.tuples = Some(*last),
                None => self.seconds = Some(DEFAULT_SECONDS),
            }
        }
        self
    }

    /// Refuses values that make no sense together.
    ///
    /// # Errors
    /// What is wrong, and the way out.
    pub fn check(&self) -> Result<()> {
        let positive = |name: &str, value: Option<f64>| {
            ensure!(
                value.is_none_or(|v| v.is_finite() && v > 0.0),
                usage(format!("{name} must be above zero"))
            );
            Ok(())
        };
        positive("--time", self.seconds)?;
        positive("--rate", self.rate)?;
        positive("--latency-limit", self.limit_ms)?;
        positive("--progress", self.progress_s)?;
        ensure!(
            self.warmup_s.is_finite() && self.warmup_s >= 0.0,
            usage("--warmup must be zero or above")
        );
        ensure!(
            self.checkpoints.windows(2).all(|w| w[0] < w[1])
                && self.checkpoints.first() != Some(&0),
            usage("--checkpoints must ascend and begin above zero: 1000,5000,10000")
        );
        ensure!(self.scale > 0, usage("--scale must be 1 or above"));
        ensure!(self.max_tries > 0, usage("--max-tries must be 1 or above"));
        for amount in [self.transactions, self.tuples] {
            ensure!(
                amount != Some(0),
                usage("a load of no transactions measures nothing; name 1 or more")
            );
        }
        if let (Some(last), Some(tuples)) = (self.checkpoints.last(), self.tuples) {
            ensure!(
                *last <= tuples,
                usage(format!(
                    "checkpoint {last} comes after the end of {tuples} transactions; raise --tuples"
                ))
            );
        }
        Ok(())
    }

    /// Compiles the scripts, to refuse what is wrong with them before anything is made.
    ///
    /// # Errors
    /// What is wrong with a script, and where.
    pub fn check_scripts(&self, cell: Cell) -> Result<()> {
        Catalogue::new(self, cell, crate::sql::Dialect::Postgres).map(drop)
    }

    /// Whether a script sends statements before earlier ones are answered.
    ///
    /// # Errors
    /// As [`check_scripts`](Self::check_scripts).
    pub fn uses_pipeline(&self, cell: Cell) -> Result<bool> {
        Ok(Catalogue::new(self, cell, crate::sql::Dialect::Postgres)?.uses_pipeline())
    }

    /// Why such loads cannot play a duet, if they cannot: there, all clients must often
    /// come to rest at once.
    ///
    /// # Errors
    /// As [`check_scripts`](Self::check_scripts).
    pub fn no_duet(&self, cell: Cell) -> Result<Option<&'static str>> {
        if self.rate.is_some() {
            return Ok(Some(
                "with --rate the throughput is given, and latencies would hold the waiting for \
                 the ends of slices",
            ));
        }
        let waits = self.waits(cell)?;
        Ok(waits.then_some(
            "a script sleeps or starts a program, and nobody could play until it goes on",
        ))
    }

    /// Whether a script waits for something else than answers.
    ///
    /// # Errors
    /// As [`check_scripts`](Self::check_scripts).
    pub fn waits(&self, cell: Cell) -> Result<bool> {
        Ok(Catalogue::new(self, cell, crate::sql::Dialect::Postgres)?.waits())
    }

    /// Refuses what does not fit one cell.
    ///
    /// # Errors
    /// What is wrong, and the way out.
    pub fn check_cell(&self, cell: Cell) -> Result<()> {
        let branches = self.schemas().iter().any(|(s, _)| *s == Schema::Pgbench);
        ensure!(
            !branches || self.scale >= cell.databases,
            usage(format!(
                "--scale {} leaves some of {} databases without a branch; raise it",
                self.scale, cell.databases
            ))
        );
        if let (Some(each), Some(last)) = (self.transactions, self.checkpoints.last()) {
            let all = each * u64::from(cell.clients);
            ensure!(
                *last <= all,
                usage(format!(
                    "checkpoint {last} comes after the end of {all} transactions; raise --transactions"
                ))
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_the_published_study() {
        let options = Options::default().with_amount();
        assert_eq!(options.checkpoints, DEFAULT_CHECKPOINTS);
        assert_eq!(options.tuples, Some(10_000));
        let timed = Options {
            seconds: Some(5.0),
            ..Options::default()
        };
        assert_eq!(timed.with_amount().tuples, None);
        let mut mixed = Options::default();
        mixed.scripts[0].name = "tpcb-like".to_string();
        assert_eq!(mixed.with_amount().seconds, Some(60.0));
    }

    #[test]
    fn nonsense_is_refused() {
        let wrong = [
            Options {
                rate: Some(0.0),
                ..Options::default()
            },
            Options {
                checkpoints: vec![5, 5],
                ..Options::default()
            },
            Options {
                checkpoints: vec![10],
                tuples: Some(9),
                ..Options::default()
            },
            Options {
                transactions: Some(0),
                ..Options::default()
            },
        ];
        for options in wrong {
            assert!(options.check().is_err(), "{options:?}");
        }
        let short = Options {
            transactions: Some(10),
            checkpoints: vec![30],
            ..Options::default()
        };
        let cell = |clients| Cell {
            clients,
            databases: 1,
        };
        assert!(short.check_cell(cell(2)).is_err());
        assert!(short.check_cell(cell(3)).is_ok());
    }
}
