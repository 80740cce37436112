//! Shows results: tables from a stored run, progress while one is being made. Writes to
//! what it is given and measures nothing.

mod compared;
mod files;
mod format;
mod grid;
mod imported;
mod load;
mod markdown;
mod memory;
mod names;
mod progress;
mod remarks;
pub mod sqlbench;
mod sync;
mod text;
pub mod tidy;
mod tree;
mod verdicts;
mod watched;

pub use compared::{Named, compared};
pub use format::Format;
pub use markdown::markdown;
pub use progress::{Lines, StatusLine};
pub use text::{TextOptions, list, text};
