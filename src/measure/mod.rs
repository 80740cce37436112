//! What is measured, as plain values: no I/O and no clock of its own.

mod checkpoint;
mod latency;
pub mod stats;

pub use crate::units::{CpuTime, DeviceCounters};
pub use checkpoint::Checkpoints;
pub use latency::Latency;
