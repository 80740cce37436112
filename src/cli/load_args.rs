//! What was typed about the workload `load`. Short flags are pgbench's where they mean the
//! same.

use std::path::PathBuf;

use super::key_args::KeyArgs;
use crate::workload::load::Mode;

/// Arguments of the load.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Load (the workload 'load'; short flags as in pgbench)")]
pub struct LoadArgs {
    /// Clients at work at the same time; several values are an axis (1)
    #[arg(short = 'c', long = "client", value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..))]
    pub client: Vec<u32>,

    /// Databases that clients and data are spread over, evenly; several values are an axis (1)
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..))]
    pub databases: Vec<u32>,

    /// Built-in script: insert (one tuple a transaction; the default), tpcb-like,
    /// simple-update, select-only, sysbench's oltp_…; repeated, they are mixed by weight
    #[arg(short = 'b', long = "builtin", value_name = "NAME[@WEIGHT]")]
    pub builtin: Vec<String>,

    /// A script file in pgbench's language
    #[arg(short = 'f', long = "file", value_name = "FILE[@WEIGHT]")]
    pub file: Vec<String>,

    #[command(flatten)]
    pub keys: KeyArgs,

    /// Sets a variable of the scripts
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,

    /// How statements are sent: simple, extended (PostgreSQL), prepared (the default)
    #[arg(short = 'M', long = "protocol", value_name = "MODE")]
    pub protocol: Option<Mode>,

    /// Rows that insert (and sysbench's scripts) start with, over all databases (70000)
    #[arg(long, value_name = "ROWS")]
    pub preload: Option<u64>,

    /// Scale of pgbench's tables, over all databases: 100,000 accounts each (1)
    #[arg(short = 's', long = "scale", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub scale: Option<u32>,

    /// Threads that serve the clients of PostgreSQL (one a CPU); other engines have a
    /// thread a client
    #[arg(short = 'j', long = "jobs", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,

    /// Transactions of each client
    #[arg(short = 't', long = "transactions", value_name = "N")]
    pub transactions: Option<u64>,

    /// Seconds of the measured period
    #[arg(short = 'T', long = "time", value_name = "SECONDS")]
    pub time: Option<f64>,

    /// Transactions of all clients together (with insert, tuples)
    #[arg(long, value_name = "N")]
    pub tuples: Option<u64>,

    /// Seconds of the same load before the measured period (5)
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Begin so many transactions a second, at random times; latency counts from then
    #[arg(short = 'R', long = "rate", value_name = "TPS")]
    pub rate: Option<f64>,

    /// Count transactions slower than this; with -R, skip those that would begin later
    #[arg(short = 'L', long = "latency-limit", value_name = "MS")]
    pub latency_limit: Option<f64>,

    /// A new connection for each transaction
    #[arg(short = 'C', long = "connect")]
    pub connect: bool,

    /// Tries of a transaction that ends in a serialization failure or deadlock (10)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tries: Option<u32>,

    /// Cumulative figures at so many transactions (insert, if no amount is given:
    /// 1000,5000,10000, and the last one ends it)
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub checkpoints: Vec<u64>,

    /// Show how it goes every so many seconds
    #[arg(short = 'P', long = "progress", value_name = "SECONDS")]
    pub progress: Option<f64>,

    /// Latency of each statement too
    #[arg(short = 'r', long = "report-per-command")]
    pub report_per_command: bool,

    /// Let scripts run shell commands (\setshell, \shell); not in a plan file
    #[arg(long)]
    pub allow_shell: bool,
}

impl LoadArgs {
    /// A flag that was given, if any was.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            (!self.client.is_empty(), "--client"),
            (!self.databases.is_empty(), "--databases"),
            (!self.builtin.is_empty(), "--builtin"),
            (!self.file.is_empty(), "--file"),
            (!self.define.is_empty(), "--define"),
            (self.protocol.is_some(), "--protocol"),
            (self.preload.is_some(), "--preload"),
            (self.scale.is_some(), "--scale"),
            (self.jobs.is_some(), "--jobs"),
            (self.transactions.is_some(), "--transactions"),
            (self.time.is_some(), "--time"),
            (self.tuples.is_some(), "--tuples"),
            (self.warmup.is_some(), "--warmup"),
            (self.rate.is_some(), "--rate"),
            (self.latency_limit.is_some(), "--latency-limit"),
            (self.connect, "--connect"),
            (self.max_tries.is_some(), "--max-tries"),
            (!self.checkpoints.is_empty(), "--checkpoints"),
            (self.progress.is_some(), "--progress"),
            (self.report_per_command, "--report-per-command"),
            (self.allow_shell, "--allow-shell"),
        ];
        given
            .iter()
            .find(|(given, _)| *given)
            .map(|(_, name)| *name)
            .or_else(|| self.keys.first_given())
    }

    /// Files of scripts, without their weights.
    pub fn file_of(given: &str) -> PathBuf {
        match given.rsplit_once('@') {
            Some((file, weight)) if weight.parse::<u32>().is_ok() => PathBuf::from(file),
            _ => PathBuf::from(given),
        }
    }
}
