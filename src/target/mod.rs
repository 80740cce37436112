//! Where the data lives: a directory, or a file system that mountmark makes on an image
//! or a device, and what can be seen of it from outside (counters, dirty data, options
//! in force).
//!
//! Everything made here is a guard: it is undone on drop, and noted in the
//! [`Ledger`](crate::host::ledger::Ledger) before it is made.
mod features;
pub mod mountinfo;
pub mod namespace;
mod probe;
mod spec;
pub use namespace::Privilege;
pub use probe::{Missing, probe};
pub use spec::{FsType, Made, Spec};
