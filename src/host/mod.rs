//! The machine: its facts for the record, control groups, CPUs, and the ledger of what
//! a run has made.

mod cgroup;
mod cpus;
mod facts;
pub mod interrupt;
pub mod ledger;
pub mod marker;

pub use cgroup::{Cgroup, Hierarchies, cpu_stat};
pub use cpus::{allowed_cpus, busy_cpu, pin};
pub use facts::{Facts, now_utc, utc};
pub use ledger::{Ledger, leftovers};
