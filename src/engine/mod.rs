//! Database engines behind three traits: an [`Engine`] is one build found on this
//! machine, a [`Server`] one running private instance of it on one target, a
//! [`Session`] one connection. Nothing here knows workloads, cases or records.

mod activity;
mod address;
mod build;
mod error;
mod instance;
mod log;
mod memory;
mod place;
mod process;
mod session;
mod spec;
mod wal_sync;
mod watch;
mod wire;

pub mod mysql;
pub mod null;
pub mod postgres;
pub mod sqlite;

pub use activity::{Activity, WalCheckpoint};
pub use address::{Address, connect};
pub use build::{Build, find};
pub use error::{Meaning, SqlError};
pub use session::{BusyWaits, Param, Session, StatementId, Table};
pub use spec::{Kind, Spec};
pub use watch::ServerWatch;

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::measure::CpuTime;
use crate::sql::Dialect;

/// Settings by name, in the order given; a name stands once.
pub type Settings = std::collections::BTreeMap<String, String>;

/// Where and how a server is to run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The data directory: on the target, made by [`Engine::initialise`] or a snapshot of it.
    pub data: PathBuf,
    /// A short directory outside the target, mode 0700, for the socket and the log.
    pub run_dir: PathBuf,
    /// Server settings that the user or the plan asked for.
    pub settings: Settings,
    /// CPUs the server may use; empty: all.
    pub cpus: Vec<usize>,
    /// `cgroup.procs` files the server joins before it executes.
    pub cgroups: Vec<PathBuf>,
}

/// One engine build on this machine.
pub trait Engine {
    /// Kind, version and where it was found.
    fn build(&self) -> &Build;

    /// The SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// Name of the settings and values that a run uses where the user says nothing:
    /// durable, as the engine's manual defines it.
    fn defaults(&self) -> Settings;

    /// True where a server process exists apart from the client; false where the
    /// engine lives in the worker (SQLite) or pretends.
    fn has_server(&self) -> bool;

    /// Makes an initialised, cleanly stopped data directory at `data` (which exists
    /// and is empty), ready for `settings`.
    ///
    /// # Errors
    /// The engine's own words, with the last lines of its output.
    fn initialise(&self, data: &Path, settings: &Settings) -> Result<()>;

    /// Starts a private instance and waits until it answers. Must be called from the
    /// main thread: the instance dies with the thread that started it.
    ///
    /// # Errors
    /// Why it did not start or did not become ready, with the last lines of its log.
    fn launch(&self, launch: &Launch) -> Result<Box<dyn Server>>;
}

/// One running private instance; stopped on drop.
pub trait Server {
    /// What a worker needs to connect.
    fn address(&self) -> Address;

    /// Process ids of the instance, the first is its main process; empty where the
    /// engine has no process of its own.
    fn pids(&self) -> Vec<u32>;

    /// CPU time used by the instance so far, ended children included; `None` where the
    /// engine lives in the worker.
    fn cpu(&self) -> Option<CpuTime>;

    /// What another process needs to read the instance's CPU time and memory; `None`
    /// where the engine has no process of its own.
    fn watch(&self) -> Option<ServerWatch> {
        None
    }

    /// Why the instance has ended although nobody stopped it, if it has. A process that
    /// is killed closes its connections some milliseconds before its end can be seen.
    fn died(&mut self) -> Option<String>;

    /// The last lines of its log, for error messages.
    fn log_tail(&self) -> Vec<String>;

    /// Stops it cleanly and waits.
    ///
    /// # Errors
    /// When it did not end in time or not cleanly.
    fn stop(self: Box<Self>) -> Result<()>;
}
