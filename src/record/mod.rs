//! Runs as stored: own types with a format version, and the store that keeps them. What
//! is stored is never rewritten, and old formats stay readable.

mod convert;
mod load;
mod memory;
mod published;
mod schema;
mod store;

pub use load::*;
pub use memory::MemoryRecord;
pub use published::PublishedRecord;
pub use schema::*;
pub use store::{Results, Store, load, newest, runs};
