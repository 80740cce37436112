//! One connection, as a workload sees it: thin and blocking, literal SQL text.

use super::{Activity, Meaning, Settings, SqlError, WalCheckpoint};
use crate::sql::Dialect;

/// A value bound to a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// A 64-bit integer.
    Int(i64),
    /// A number in double precision.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// NULL.
    Null,
}

/// A prepared statement of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementId(pub usize);

/// One connection to a server (or to SQLite's files).
///
/// Every call sends one statement and waits for its whole answer: one send, one
/// receive where the protocol allows it. Rows are decoded to fields and counted, not
/// kept, except by [`values`](Session::values).
pub trait Session {
    /// The SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// False for an engine that only pretends: its answers are not to be checked.
    fn answers(&self) -> bool {
        true
    }

    /// Sends `sql` as it stands and takes success or failure; rows of a SELECT are
    /// received and discarded. Returns the number of rows received.
    ///
    /// # Errors
    /// The engine's answer; the session stays usable unless it says `Disconnected`.
    fn execute(&mut self, sql: &str) -> Result<u64, SqlError>;

    /// Prepares `sql` where the protocol has that step for literal text, runs it, pulls
    /// every row and decodes its fields. Returns the number of rows.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn fetch(&mut self, sql: &str) -> Result<u64, SqlError>;

    /// Runs `sql` and keeps the rows as text (`None` is NULL). For checks.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn values(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, SqlError>;

    /// Prepares `sql`, whose parameters are written `?` (rewritten where the engine
    /// writes them otherwise).
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn prepare(&mut self, sql: &str) -> Result<StatementId, SqlError>;

    /// Runs a prepared statement and pulls every row. Returns the number of rows.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn fetch_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<u64, SqlError>;

    /// Frees a prepared statement.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn finish(&mut self, statement: StatementId) -> Result<(), SqlError>;

    /// Opens a transaction: statements no longer commit by themselves.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn begin(&mut self) -> Result<(), SqlError>;

    /// Commits the open transaction.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn commit(&mut self) -> Result<(), SqlError>;

    /// Rolls the open transaction back.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn rollback(&mut self) -> Result<(), SqlError>;

    /// The effective settings that matter for durability, size and logging, read back
    /// from the engine.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn settings(&mut self) -> Result<Settings, SqlError>;

    /// Writes everything the engine still holds back (a WAL checkpoint), so that
    /// nothing is owed but what the kernel holds.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn checkpoint(&mut self) -> Result<(), SqlError>;

    /// Runs `sql` and keeps its rows as text with the names of their columns.
    ///
    /// # Errors
    /// As [`execute`](Session::execute); an engine whose load is driven otherwise may not
    /// have it.
    fn table(&mut self, sql: &str) -> Result<Table, SqlError> {
        let _unused = sql;
        Err(without_tables())
    }

    /// As [`table`](Session::table) for a prepared statement.
    ///
    /// # Errors
    /// As [`table`](Session::table).
    fn table_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<Table, SqlError> {
        let _unused = (statement, params);
        Err(without_tables())
    }

    /// Runs `sql`, which loads the client's file `name`, and sends `content` as that file.
    /// Returns the number of rows loaded.
    ///
    /// # Errors
    /// As [`execute`](Session::execute); an engine that loads no file of its client's says
    /// so.
    fn load_rows(&mut self, sql: &str, name: &str, content: &str) -> Result<u64, SqlError> {
        let _unused = (sql, name, content);
        Err(SqlError {
            code: String::new(),
            message: "this engine loads no file of its client's".to_string(),
            meaning: Meaning::Other,
        })
    }

    /// Told to a connection of a load: `alone` when no other connection of it is busy at the
    /// same time. A connection may wait otherwise then.
    fn enter_load(&mut self, alone: bool) {
        let _unused = alone;
    }

    /// Running counters of what the engine does on its own behalf; empty where it has
    /// none.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn activity(&mut self) -> Result<Activity, SqlError> {
        Ok(Activity::default())
    }

    /// Waits, a second at most, until the server has no other session: what those
    /// counted is in its views then.
    ///
    /// # Errors
    /// As [`execute`](Session::execute).
    fn await_quiet(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    /// The WAL checkpoints that the server's log tells of; `None` where it does not.
    fn wal_checkpoints(&mut self) -> Option<Vec<WalCheckpoint>> {
        None
    }

    /// How often this connection found the database locked by another, and for how long
    /// it waited inside its calls; `None` where waiting is the server's own affair.
    fn busy_waits(&self) -> Option<BusyWaits> {
        None
    }
}

/// A result with the names of its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// As the engine names them.
    pub columns: Vec<String>,
    /// Fields as text; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

fn without_tables() -> SqlError {
    SqlError {
        code: String::new(),
        message: "this engine does not keep the rows of a statement".to_string(),
        meaning: Meaning::Other,
    }
}

/// Waits for a lock that the client itself has to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyWaits {
    /// How often the lock was found taken.
    pub count: u64,
    /// Time spent waiting for it, ns.
    pub wait_ns: u64,
}
