//! The machine the tool runs on: what it is, what it does meanwhile, and what of ours
//! is left on it.

pub mod ledger;
pub mod marker;
