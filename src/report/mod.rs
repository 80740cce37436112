//! Shows results: tables and pages from a stored run, progress while one is being made. Writes to
//! what it is given and measures nothing.

mod beside;
mod compared;
mod files;
mod format;
mod grid;
mod html;
mod imported;
mod index;
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

pub use beside::beside;
pub use compared::{Named, compared};
pub use format::Format;
pub use html::html;
pub use markdown::{beside_markdown, markdown};
pub use progress::{Lines, StatusLine};
pub use text::{TextOptions, list, text};
