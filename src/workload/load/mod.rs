//! The load: many clients, each running transaction scripts on connections of its own,
//! spread over one or many databases.
//!
//! A script is compiled to a program and run by a state machine that does no I/O
//! ([`script`]); a client (`client`) knows when its next transaction is due and what it
//! counts as; a driver moves the bytes of one client (`blocking`) or of many (`epoll`).

mod alarm;
mod blocking;
mod catalogue;
mod ceiling;
mod check;
mod client;
mod crew;
mod databases;
mod driver;
mod epoll;
mod mode;
mod options;
mod pace;
mod period;
mod player;
mod preload;
mod remarks;
mod result;
mod run;
mod schema;
mod tally;
mod turnstile;
mod wait;
mod watch;

pub mod script;

pub use check::Checked;
pub use databases::Cell;
pub use mode::Mode;
pub use options::{DEFAULT_CHECKPOINTS, DEFAULT_PRELOAD, DEFAULT_SECONDS, Options, Script};
pub use preload::{Preload, fast};
pub use result::{LoadResult, MachineCpu, Progress};
pub use run::{NAME, run};

/// Whether a WAL checkpoint was made.
type Checkpointed = Result<(), crate::engine::SqlError>;
