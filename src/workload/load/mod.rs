//! The load: many clients, each running transaction scripts.

pub mod script;
