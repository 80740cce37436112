//! mountmark answers, with evidence: which file system, mount option, WAL sync
//! method and memory size should this database run on?
//!
//! The modules form layers (see `tests/layers.rs`): a module uses only those
//! below it, and siblings of one layer do not know each other.

pub mod cli;
pub mod compare;
pub mod engine;
pub mod error;
pub mod host;
pub mod import;
pub mod measure;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod sql;
pub mod target;
pub mod units;
pub mod workload;
