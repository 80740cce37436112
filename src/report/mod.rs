//! Shows results: tables from a stored run, progress while one is being made. Writes to
//! what it is given and measures nothing.

mod files;
mod grid;
mod progress;
mod sync;
mod text;
mod tree;
mod verdicts;

pub use progress::{Lines, StatusLine};
pub use text::{TextOptions, list, text};
