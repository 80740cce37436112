//! What is measured, as plain values: no I/O and no clock of its own.

mod latency;
mod quantities;
pub mod stats;

pub use latency::Latency;
pub use quantities::{CpuTime, DeviceCounters};
