//! Errors of a statement, told apart by SQLSTATE or number, never by text.

use std::fmt;

/// What the engine answered instead of a result.
#[derive(Debug, Clone)]
pub struct SqlError {
    /// SQLSTATE (PostgreSQL), error number (MySQL, MariaDB) or extended result code
    /// (SQLite); empty when the connection itself failed.
    pub code: String,
    /// The engine's words.
    pub message: String,
    /// What it means for a caller, as far as a caller branches on it.
    pub meaning: Meaning,
}

/// The meanings callers branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A unique or primary key exists already.
    Duplicate,
    /// The object named does not exist (drop of a table that is not there).
    Missing,
    /// A serialization failure or deadlock: the transaction may be tried again.
    Retry,
    /// The connection is gone.
    Disconnected,
    /// Anything else.
    Other,
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.code.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{} (code {})", self.message, self.code)
        }
    }
}

impl std::error::Error for SqlError {}
