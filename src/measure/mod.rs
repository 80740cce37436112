//! What is measured, as plain values: no I/O and no clock of its own.

mod latency;
pub mod stats;

pub use crate::units::{CpuTime, DeviceCounters};
pub use latency::Latency;
