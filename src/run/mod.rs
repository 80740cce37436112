//! Runs a plan: the cases of every round through their lifecycle, each measured in a
//! worker process, each stored as soon as it has ended.

mod ceiling;
mod environment;
mod event;
mod files;
mod lifecycle;
mod prepared;
mod runner;
mod stage;
mod worker;

pub use environment::Options;
pub use event::{Event, Observer};

pub use runner::{Summary, execute};
pub use stage::Stage;
pub use worker::child as worker_main;
