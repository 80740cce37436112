//! Shows results: tables from a stored run, progress while one is being made. Writes to
//! what it is given and measures nothing.

mod compared;
mod grid;
mod names;
mod progress;
mod remarks;
mod text;
mod verdicts;

pub use compared::{Named, compared};
pub use progress::{Lines, StatusLine};
pub use text::{TextOptions, list, text};
