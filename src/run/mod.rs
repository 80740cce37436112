//! Runs a plan: the cases of every round through their lifecycle, each measured in a
//! worker process, each stored as soon as it has ended.

mod ceiling;
mod crew;
mod environment;
mod event;
mod files;
mod keep;
mod lifecycle;
mod memory;
mod prepared;
mod probe;
mod resume;
mod runner;
mod sampler;
mod stage;
mod watch;
mod worker;
mod worth;

pub use environment::Options;
pub use event::{Event, Observer};
pub use resume::stored;

pub use runner::{Summary, execute};
pub use stage::Stage;
pub use worker::child as worker_main;
