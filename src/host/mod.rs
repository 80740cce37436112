//! The machine: its facts for the record, control groups, CPUs, and the ledger of what
//! a run has made.

mod cgroup;
mod cpus;
mod facts;
pub mod interrupt;
pub mod ledger;
pub mod marker;
pub mod memory;
mod monitor;
mod present;

pub use cgroup::{Cgroup, Hierarchies, cpu_stat};
pub use cpus::{Away, allowed_cpus, have_two_cpus, keep_away, pin};
pub use facts::{Facts, now_utc, utc};
pub use ledger::{Ledger, leftovers};
pub use memory::{Controller, MemoryCounts, MemoryGroup, MemoryUse};
pub use monitor::{Reading, Window};
pub use present::{Disturber, disturbers};
