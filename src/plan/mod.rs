//! What is to be done: cases, rounds, their order, and the defaults, which stand in one
//! place; and what a case's commits are worth. Pure: asks nothing of the machine.

mod case;
mod durability;
mod matrix;
mod order;

pub use case::{Case, CaseKey, Cpus, Fitted, no_engine};
pub use durability::{Counted, Durability, Facts as DurabilityFacts, durability};
pub use matrix::{Axes, Plan, UntilSure};
pub use order::orders;
