//! What is run: the measured loop and the workloads. A workload sees sessions and a
//! [`Bench`]; it knows neither cases nor records nor who is watching.

mod bench;
mod ceiling;
mod event;
mod gate;
mod operation;
mod rest;
mod slices;

pub mod load;
pub mod sqlbench;
pub mod sync;
pub mod tree;

pub use bench::{Bench, Probe, run_phase};
pub use ceiling::ceiling;
pub use event::{
    DuetResult, EndTime, Ends, Event, MachineUse, OperationResult, PhaseResult, Quantiles, Slice,
};
pub use gate::{BOARD_BYTES, Duet, Gate};
pub use operation::{Op, Rows};
