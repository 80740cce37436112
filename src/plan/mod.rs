//! What is to be done: cases, rounds, their order, and the defaults, which stand in one
//! place. Pure: asks nothing of the machine.

mod case;
mod matrix;
mod order;

pub use case::{Case, CaseKey, Cpus, no_engine};
pub use matrix::{Axes, Plan, UntilSure};
pub use order::orders;
