//! What was typed, and nothing more.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::files::FilesArgs;
use crate::engine;
use crate::plan::Cpus;
use crate::target;
use crate::units::Bytes;
use crate::workload::sqlbench::Profile;

/// Measures databases on file systems: which file system, mount option, WAL sync method
/// and memory size should this database run on?
#[derive(Debug, Parser)]
#[command(
    version,
    args_override_self = true,
    after_help = "Exit codes: 0 all measured; 1 ran, but a case failed or one asked for by name was \
    skipped; 2 could not run; 130 interrupted, with everything measured so far saved."
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
    Plan(Box<RunArgs>),
    /// Show a stored run (the newest, if none is named)
    Report {
        /// Runs: a name under the results, or a directory
        #[arg(value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// Where results are stored
        #[arg(long, value_name = "DIR", default_value = "bench-results")]
        results: PathBuf,
        /// How the run is judged
        #[command(flatten)]
        judging: Judging,
    },
    /// List the stored runs
    List {
        /// Where results are stored
        #[arg(long, value_name = "DIR", default_value = "bench-results")]
        results: PathBuf,
    },
    /// Remove what a killed run left behind: images, directories, empty cgroups of ours
    Clean,
    /// Runs one case; started by mountmark itself
    #[command(hide = true)]
    Worker,
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

    /// What is compared: settled (default), flushed, returned, or an operation's name
    #[arg(long, value_name = "FIGURE")]
    pub figure: Option<String>,
}

/// Arguments of `run` and `plan`. Axes multiply into cases.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What is run: sql-bench (its phases), or single phases: create, insert; without a
    /// database: tree (small-files, source-tree), sync
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,

    /// Where the data live: a directory (/mnt/data), or a file system that is made:
    /// TYPE[:OPTION,…] with mount options and mkfs features (ext2, ext4:data=journal,noatime,
    /// ext4:^extents, xfs, btrfs:nodatacow, tmpfs); repeat for more
    #[arg(long = "on", value_name = "TARGET")]
    pub on: Vec<target::Spec>,

    /// Database engines: sqlite (default), null (pretends; shows the tool's own cost)
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    pub engine: Vec<engine::Spec>,

    /// A setting of the engine; the same NAME twice is an axis
    #[arg(long = "set", value_name = "[ENGINE:]NAME=VALUE")]
    pub set: Vec<String>,

    /// Loop counts of the sql-bench phases: short, small-test, original
    #[arg(long, default_value_t = Profile::default())]
    pub profile: Profile,

    /// Multiplies the loop counts
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub loops: f64,

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

    /// Trees of files and bare sync calls
    #[command(flatten)]
    pub files: FilesArgs,

    /// Seconds an operation may take before it is cut short
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    pub time_limit: f64,

    /// Passes over all cases
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// Add rounds until every interval is that narrow, whatever it says (5 rounds at least)
    #[arg(long, value_name = "WIDTH")]
    pub until_sure: Option<String>,

    /// With --until-sure: rounds at most
    #[arg(long, value_name = "N", default_value_t = 30, requires = "until_sure")]
    pub max_rounds: u32,

    /// Target that the others are compared with (ext2 if among them, else the first)
    #[arg(long, value_name = "LABEL")]
    pub baseline: Option<String>,

    /// The smallest difference worth telling
    #[arg(long, value_name = "PERCENT", default_value = "2%")]
    pub threshold: String,

    /// Seed of the order of cases within each round; random if not given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Client and server on one CPU (same), on two (split), or unpinned (free)
    #[arg(
        long,
        value_name = "PLACEMENT",
        value_delimiter = ',',
        default_value = "same"
    )]
    pub cpus: Vec<Cpus>,

    /// Where the loop image of made targets lies; on a tmpfs it is good for counts only
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub image_dir: PathBuf,

    /// Size of the loop image
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub image_size: Bytes,

    /// A name for the run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,

    /// Where results are stored
    #[arg(long, value_name = "DIR", default_value = "bench-results")]
    pub results: PathBuf,
}
