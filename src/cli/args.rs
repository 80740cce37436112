//! What was typed, and nothing more.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::files::FilesArgs;
use super::load_args::LoadArgs;
use super::memory::MemoryArgs;
use super::on::On;
use super::plan_file::Typed;
use crate::compare::Aspect;
use crate::engine;
use crate::error::Error;
use crate::plan::Cpus;
use crate::report::Format;
use crate::units::Bytes;
use crate::workload::sqlbench::Profile;

/// Measures databases on file systems: which file system, mount option, WAL sync method
/// and memory size should this database run on?
#[derive(Debug, Parser)]
#[command(
    version,
    args_override_self = true,
    after_help = "Exit codes: 0 all measured; 1 ran, but a case failed, one asked for by name was \
    skipped, or --fail-on was hit; 2 could not run; 130 interrupted, with everything measured so far saved."
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure; without arguments: SQLite on every file system this machine can make, in minutes
    Run(Box<RunArgs>),
    /// Show what the same 'run' would measure and need; runs nothing
    Plan(PlanArgs),
    /// Show a stored run (the newest, if none is named)
    Report {
        /// Runs: a name under the results, or a directory
        #[arg(value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// Where results are stored
        #[arg(long, value_name = "DIR", default_value = "bench-results")]
        results: PathBuf,
        /// How it is written
        #[command(flatten)]
        writing: Writing,
        /// How the run is judged
        #[command(flatten)]
        judging: Judging,
        /// Set today's ratios beside published ones: sql-bench-memory, pgsql-insert-load,
        /// source-tree, small-file-archive, or a table that was imported
        #[arg(long, value_name = "STUDY")]
        beside: Option<String>,
    },
    /// Compare two runs, case by case; each side may be several runs of one label
    Compare(CompareArgs),
    /// Make a run of what others printed: sql-bench (RUN files, outputs of phases), pgbench
    /// (its report and its logs), or a published table
    Import(ImportArgs),
    /// List the stored runs
    List {
        /// Where results are stored
        #[arg(long, value_name = "DIR", default_value = "bench-results")]
        results: PathBuf,
    },
    /// What can be measured here and what cannot, why, and what would disturb it now
    Doctor,
    /// Remove what a killed run left behind: images, directories, empty cgroups of ours
    Clean,
    /// Print the completions of a shell: bash, zsh, fish, elvish, powershell
    Completions {
        /// Which
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the man page; with --dir, write it and one for each command
    Man {
        /// Where mountmark.1, mountmark-run.1 and so on are written
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Runs one case; started by mountmark itself
    #[command(hide = true)]
    Worker,
}

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// List the plans that come with mountmark, for --plan
    #[arg(long)]
    pub list: bool,

    /// What the run would be
    #[command(flatten)]
    pub run: Box<RunArgs>,
}

impl RunArgs {
    /// True for somebody's first look: neither what nor where was named.
    pub fn is_first_look(&self) -> bool {
        self.workloads.is_empty() && self.on.is_empty() && self.resume.is_none()
    }

    /// An error about what is asked for, with the plan that asks for it.
    pub fn blame(&self, error: Error) -> Error {
        match &self.plan {
            Some(name) => error.context(format!("plan {name}")),
            None => error,
        }
    }

    /// The factor on the loop counts.
    pub fn loops(&self) -> f64 {
        let usual = if self.is_first_look() { 0.3 } else { 1.0 };
        self.loops.unwrap_or(usual)
    }
}

/// When cases are measured in duets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Duets {
    /// Where it can be done.
    Auto,
    /// Always; where it cannot be done, that is an error.
    On,
    /// Never: one case after the other.
    Off,
}

/// How a report is written.
#[derive(Debug, Default, clap::Args)]
pub struct Writing {
    /// text, markdown (md); html: one page with drawings, to send to a colleague; csv (a row a
    /// measurement), json; sql-bench: RUN files that the suite's compare-results reads
    #[arg(long, value_name = "FORMAT", default_value_t = Format::default())]
    pub format: Format,

    /// Write to a file instead; sql-bench: a directory for RUN files and the outputs of the
    /// phases, one for each engine and target
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// sql-bench: print the counts, timers and slips of the original instead of true ones
    #[arg(long)]
    pub compat: bool,
}

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// RUN files (RUN-SERVER-MACHINE) and outputs of phases (insert-SERVER-MACHINE); those
    /// of one directory and tag are one run, the same again are its next round. pgbench's final
    /// report, its --log files and those with --aggregate-interval, of all threads
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Label of the target they were measured on (sql-bench: the MACHINE of the file's name)
    #[arg(long = "on", value_name = "LABEL")]
    pub on: Option<String>,

    /// A name for the run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,

    /// Where results are stored
    #[arg(long, value_name = "DIR", default_value = "bench-results")]
    pub results: PathBuf,
}

/// How stored figures are judged.
#[derive(Debug, Default, clap::Args)]
pub struct Judging {
    /// Target that the others are compared with (the run's own, else ext2, else the first)
    #[arg(long, value_name = "LABEL")]
    pub baseline: Option<String>,

    /// The smallest difference worth telling (the run's own)
    #[arg(long, value_name = "PERCENT")]
    pub threshold: Option<String>,

    /// What is compared: settled, flushed, returned, tps (transactions
    /// a second of a load) or an operation's name (of loads tps, else settled)
    #[arg(long, value_name = "FIGURE")]
    pub figure: Option<String>,
}

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// What is compared with: a run's directory, its name under the results, or a label,
    /// which stands for all runs of that label
    #[arg(value_name = "BASE")]
    pub base: String,

    /// What is compared: the same
    #[arg(value_name = "NEW")]
    pub new: String,

    /// What may differ, because it is compared: kernel, system, cpu, memory, device, engine,
    /// settings, options, target, profile, mountmark; anything else that differs makes a case
    /// not comparable
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub axis: Vec<Aspect>,

    /// Exit with 1 when a case is judged slower by that much: slower:5%
    #[arg(long, value_name = "slower:PERCENT")]
    pub fail_on: Option<String>,

    /// The smallest difference worth telling (the runs' own)
    #[arg(long, value_name = "PERCENT")]
    pub threshold: Option<String>,

    /// What is compared: settled (default), flushed, returned, or an operation's name
    #[arg(long, value_name = "FIGURE")]
    pub figure: Option<String>,

    /// Where results are stored
    #[arg(long, value_name = "DIR", default_value = "bench-results")]
    pub results: PathBuf,
}

/// Arguments of `run` and `plan`. Axes multiply into cases.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What is run: sql-bench (the eight phases of the published results), or single phases:
    /// alter-table, ATIS, big-tables, connect, create, insert, select, wisconsin, transactions;
    /// load (many connections); or without a database: tree (small-files, source-tree), sync
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,

    /// A plan: a TOML file whose keys are these options (and workload), or the name of a plan
    /// that comes with mountmark ('mountmark plan --list'); what is typed goes before it
    #[arg(long, value_name = "FILE.toml")]
    pub plan: Option<String>,

    /// The plan's short form: its section [short] goes before the rest of it
    #[arg(long, requires = "plan")]
    pub short: bool,

    /// A file system that cannot be made here (not in the kernel, no mkfs) is no failure: its
    /// cases are stored as skipped, with the reason
    #[arg(long)]
    pub skip_missing: bool,

    /// Where the data live: a directory (/mnt/data), or a file system that is made:
    /// TYPE[:OPTION,…] with mount options and mkfs features (ext2, ext4:data=journal,noatime,
    /// ext4:^extents, xfs, btrfs:nodatacow, tmpfs), or 'mounted': each mounted, writable file
    /// system on a block device; repeat for more
    #[arg(long = "on", value_name = "TARGET")]
    pub on: Vec<On>,

    /// Made targets live on this block device, which is overwritten before every case, and not
    /// on a loop image; devices in use or partitioned are refused
    #[arg(long, value_name = "DEV")]
    pub device: Vec<PathBuf>,

    /// The present content of this --device may go; needed where it holds something not ours
    #[arg(long, value_name = "DEV")]
    pub destroy: Vec<PathBuf>,

    /// Database engines: sqlite (default), postgres, mysql, mariadb, each with =PATH of its
    /// binaries where wanted; null (pretends; shows the tool's own cost)
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    pub engine: Vec<engine::Spec>,

    /// A setting of the engine (mariadb:default_storage_engine=MyISAM); the same NAME twice
    /// is an axis
    #[arg(long = "set", value_name = "[ENGINE:]NAME=VALUE")]
    pub set: Vec<String>,

    /// How the log reaches the disk, an axis: PostgreSQL's wal_sync_method, InnoDB's
    /// innodb_flush_method; a value applies to the engines that have it
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    pub wal_sync: Vec<String>,

    /// Memory limits
    #[command(flatten)]
    pub memory: MemoryArgs,

    /// Loop counts of the sql-bench phases: short (a first look), small-test and original (the
    /// suite's own), mariadb (the longer ones of its newer tree)
    #[arg(long, default_value_t = Profile::default())]
    pub profile: Profile,

    /// Multiplies the loop counts (1; without workload and target, 0.3)
    #[arg(long, value_name = "FACTOR")]
    pub loops: Option<f64>,

    /// Bulk operations in transactions, INSERTs of many rows, vacuum between operations,
    /// each where the engine has it: the suite's --fast
    #[arg(long)]
    pub fast: bool,

    /// Phase insert: loops of the key look-ups (the profile's, if not given)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub read_key_loops: Option<u64>,

    /// Phase insert: rows of the table with many keys (the profile's, if not given)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub many_keys_loops: Option<u64>,

    /// Phase ATIS: a directory with the original tables, one TABLE.txt each (generated ones
    /// with the same row counts, if not given)
    #[arg(long, value_name = "DIR")]
    pub atis_data: Option<PathBuf>,
    /// Trees of files and bare sync calls
    #[command(flatten)]
    pub files: FilesArgs,

    /// Seconds an operation may take before it is cut short
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    pub time_limit: f64,

    /// Passes over all cases (1; without workload and target, 3)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,

    /// Add rounds until every interval is that narrow, whatever it says (5 rounds at least)
    #[arg(long, value_name = "WIDTH")]
    pub until_sure: Option<String>,

    /// With --until-sure: rounds at most (30)
    #[arg(long, value_name = "N")]
    pub max_rounds: Option<u32>,

    /// Measure each case side by side with its baseline, taking turns in slices of a few
    /// milliseconds: many times less noise. Default: with two or more rounds, where there
    /// is room for two
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Duets::Auto)]
    pub duet: Duets,

    /// Length of a slice of a duet; of a load, ten of its transactions if that is longer
    #[arg(long, value_name = "TIME", default_value = "5ms")]
    pub slice: String,

    /// Target that the others are compared with (ext2 if among them, else the first)
    #[arg(long, value_name = "LABEL")]
    pub baseline: Option<String>,

    /// The smallest difference worth telling
    #[arg(long, value_name = "PERCENT", default_value = "2%")]
    pub threshold: String,

    /// Seed of the order of cases within each round; random if not given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Client and server on one CPU (same; usual), on two (split), or unpinned (free; usual
    /// for load)
    #[arg(long, value_name = "PLACEMENT", value_delimiter = ',')]
    pub cpus: Vec<Cpus>,

    /// Where the loop image of made targets lies; on a tmpfs it is good for counts only
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub image_dir: PathBuf,

    /// Size of the loop image
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub image_size: Bytes,

    /// Measure what RUN still lacks, with its own arguments, and add it to that run; other
    /// arguments are taken if they make the same plan
    #[arg(long, value_name = "RUN")]
    pub resume: Option<PathBuf>,

    /// Keep image, directory and server data of the first case that fails, and say where
    #[arg(long)]
    pub keep_on_failure: bool,
    /// The load
    #[command(flatten)]
    pub load: LoadArgs,

    /// A name for the run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,

    /// Where results are stored
    #[arg(long, value_name = "DIR", default_value = "bench-results")]
    pub results: PathBuf,

    /// How these came about.
    #[arg(skip)]
    pub typed: Typed,
}
