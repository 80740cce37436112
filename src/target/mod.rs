//! Where the data lives: a directory, or a file system that mountmark makes on an image
//! or a device, and what can be seen of it from outside (counters, dirty data, options
//! in force).
//!
//! Everything made here is a guard: it is undone on drop, and noted in the
//! [`Ledger`](crate::host::ledger::Ledger) before it is made.

mod attach;
mod backing;
mod claim;
mod device;
mod dirty;
mod dirty_limit;
mod features;
mod image;
mod kernel_words;
mod loop_device;
mod mkfs;
mod mount;
pub mod mountinfo;
pub mod namespace;
mod options;
mod partition_table;
mod probe;
pub mod snapshot;
mod space;
mod spec;
mod tree;
mod workdir;

pub use backing::{Layer, chain};
pub use claim::{Claimed, claim};
pub use device::{BlockStat, Device, block_counters};
pub use dirty::{DirtyGauge, dirty_bytes, syncfs, wait_clean};
pub use dirty_limit::{DirtyLimit, writeback_by_group};
pub use image::{Image, ImageFacts, LOOP_REMARK};
pub use mkfs::MkfsReport;
pub use mount::MountGuard;
pub use namespace::Privilege;
pub use probe::{Missing, probe};
pub use space::check_space;
pub use spec::{FsType, Made, Spec};
pub use workdir::WorkDir;
