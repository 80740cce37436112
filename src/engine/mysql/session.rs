//! A thin client on MySQL's protocol: text protocol for literal text, binary for
//! prepared statements. One send and, as a rule, one receive a statement; rows are
//! walked in the receive buffer and never copied.

use std::path::Path;
use std::time::Duration;

use super::protocol::{
    COM_QUERY, COM_QUIT, COM_STMT_CLOSE, COM_STMT_EXECUTE, COM_STMT_PREPARE, EOF, ERR, Greeting,
    HEADER_BYTES, LOCAL_INFILE, LONGEST, OK, binary_texts, column_name, column_type, next_text,
    put_execute, seal, take_length, walk_binary, walk_text,
};
use super::{activity, checkpoint, settings};
use crate::engine::wire::{Wire, lost, out_of_step};
use crate::engine::{Activity, Meaning, Param, Session, Settings, SqlError, StatementId, Table};
use crate::sql::Dialect;

/// One connection.
pub struct MySession {
    wire: Wire,
    pub(super) out: Vec<u8>,
    dialect: Dialect,
    prepared: Vec<Prepared>,
    /// The server leaves out columns that it has told before.
    caches_columns: bool,
    /// Variables that are stored beside the usual ones.
    also_stored: Vec<String>,
}

struct Prepared {
    /// The server's.
    id: u32,
    columns: Columns,
}

/// Of a prepared statement's result, as last told.
#[derive(Default)]
struct Columns {
    types: Vec<u8>,
    /// Their definitions one after the other, and where each ends.
    definitions: Vec<u8>,
    ends: Vec<usize>,
}

impl Columns {
    fn clear(&mut self) {
        self.types.clear();
        self.definitions.clear();
        self.ends.clear();
    }

    fn push(&mut self, definition: &[u8]) -> Result<(), SqlError> {
        let kind = column_type(definition);
        let kind = kind.ok_or_else(|| out_of_step("a wrong column definition"))?;
        self.types.push(kind);
        self.definitions.extend_from_slice(definition);
        self.ends.push(self.definitions.len());
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let parts = starts.zip(&self.ends);
        parts
            .map(|(start, end)| column_name(&self.definitions[start..*end]))
            .collect()
    }
}

/// How a result begins.
struct Head {
    /// 0 where there are no rows.
    columns: usize,
    /// Whether their definitions follow.
    defined: bool,
}

impl MySession {
    /// Connects through `socket`, without a password. With a `limit`, every answer must
    /// come within it.
    ///
    /// # Errors
    /// The server's words.
    pub fn open(
        socket: &Path,
        user: &str,
        database: &str,
        dialect: Dialect,
        limit: Option<Duration>,
    ) -> Result<Self, SqlError> {
        let mut wire = Wire::connect(socket).map_err(lost)?;
        wire.limit(limit).map_err(lost)?;
        let mut session = MySession {
            wire,
            out: Vec::with_capacity(4096),
            dialect,
            prepared: Vec::new(),
            caches_columns: false,
            also_stored: Vec::new(),
        };
        session.shake_hands(user, database)?;
        Ok(session)
    }

    /// Adds variables to those that [`Session::settings`] reads back.
    pub fn store_also(&mut self, names: Vec<String>) {
        self.also_stored = names;
    }

    fn shake_hands(&mut self, user: &str, database: &str) -> Result<(), SqlError> {
        let body = self.packet()?;
        if body.first() == Some(&ERR) {
            return Err(server_error(body));
        }
        let greeting = Greeting::read(body)
            .filter(Greeting::is_modern)
            .ok_or_else(|| out_of_step("its greeting is not that of MySQL 5.7 or later"))?;
        self.out.clear();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        greeting.answer(user, database, &mut self.out);
        self.caches_columns = greeting.caches_columns();
        seal(&mut self.out, 0, 1);
        self.wire.send(&self.out).map_err(lost)?;
        let mut sequence = 3;
        loop {
            let body = self.packet()?;
            match body.first() {
                Some(&OK) => return Ok(()),
                Some(&ERR) => return Err(server_error(body)),
                // It would rather have another method: no proof again.
                Some(&EOF) => {
                    self.wire.send(&[0, 0, 0, sequence]).map_err(lost)?;
                    sequence += 2;
                }
                // "Fast authentication went well"; the OK follows.
                Some(1) if body.get(1) == Some(&3) => {}
                _ => return Err(out_of_step("it asks for a password")),
            }
        }
    }

    /// The body of the next packet.
    #[inline]
    pub(super) fn packet(&mut self) -> Result<&[u8], SqlError> {
        self.wire.await_bytes(HEADER_BYTES).map_err(lost)?;
        let head = self.wire.arrived();
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        if length == LONGEST {
            return Err(out_of_step("a row of 16 MiB or more"));
        }
        self.wire.await_bytes(HEADER_BYTES + length).map_err(lost)?;
        Ok(&self.wire.take(HEADER_BYTES + length)[HEADER_BYTES..])
    }

    /// Sends a command whose body `put` writes.
    pub(super) fn send(
        &mut self,
        command: u8,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), SqlError> {
        self.out.clear();
        self.out.extend_from_slice(&[0, 0, 0, 0, command]);
        put(&mut self.out);
        if self.out.len() - HEADER_BYTES >= LONGEST {
            return Err(SqlError {
                code: String::new(),
                message: "a statement of 16 MiB or more cannot be sent".to_string(),
                meaning: Meaning::Other,
            });
        }
        seal(&mut self.out, 0, 0);
        self.flush()
    }

    /// Sends what was put together.
    #[inline]
    pub(super) fn flush(&mut self) -> Result<(), SqlError> {
        self.wire.send(&self.out).map_err(lost)
    }

    /// Receives the head of an answer.
    fn head(&mut self) -> Result<Head, SqlError> {
        let cached = self.caches_columns;
        let mut body = self.packet()?;
        let columns = match body.first() {
            Some(&OK) => 0,
            Some(&ERR) => return Err(server_error(body)),
            Some(&LOCAL_INFILE) | None => return Err(out_of_step("it asks for a file of ours")),
            Some(_) => {
                take_length(&mut body).ok_or_else(|| out_of_step("a wrong number of columns"))?
            }
        };
        let defined = !cached || body.first() == Some(&1);
        Ok(Head { columns, defined })
    }

    /// Receives the rows that follow the column definitions; their number.
    #[inline]
    fn rows(&mut self, mut row: impl FnMut(&[u8])) -> Result<u64, SqlError> {
        let mut count = 0;
        loop {
            let body = self.packet()?;
            match body.first() {
                Some(&ERR) => return Err(server_error(body)),
                // A text row that begins so has a first field of 16 MiB, which would not
                // be read here; a binary row begins with 0.
                Some(&EOF) => return Ok(count),
                _ => row(body),
            }
            count += 1;
        }
    }

    /// Runs a prepared statement; `row` gets each row with the types of its columns and
    /// says `None` to one that is not of them.
    fn run_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        mut row: impl FnMut(&[u8], &[u8]) -> Option<()>,
    ) -> Result<u64, SqlError> {
        let id = self.prepared[statement.0].id;
        self.send(COM_STMT_EXECUTE, |out| put_execute(id, params, out))?;
        let head = self.head()?;
        if head.columns == 0 {
            return Ok(0);
        }
        let mut columns = std::mem::take(&mut self.prepared[statement.0].columns);
        if head.defined {
            columns.clear();
            for _ in 0..head.columns {
                columns.push(self.packet()?)?;
            }
        }
        let mut whole = columns.types.len() == head.columns;
        let count = self.rows(|body| whole &= row(body, &columns.types).is_some());
        // Kept although rows may end in an error: the server does not tell them again.
        self.prepared[statement.0].columns = columns;
        match whole {
            true => count,
            false => Err(out_of_step("a row that is not of its columns' types")),
        }
    }

    fn query(&mut self, sql: &str, row: impl FnMut(&[u8])) -> Result<u64, SqlError> {
        self.send(COM_QUERY, |out| out.extend_from_slice(sql.as_bytes()))?;
        let head = self.head()?;
        if head.columns == 0 {
            return Ok(0);
        }
        for _ in 0..head.columns {
            self.packet()?;
        }
        self.rows(row)
    }
}

/// The fields of a text row.
fn text_row(mut body: &[u8]) -> Vec<Option<String>> {
    let mut row = Vec::new();
    while let Some(field) = next_text(&mut body) {
        row.push(field.map(|f| String::from_utf8_lossy(f).into_owned()));
    }
    row
}

/// From an ERR packet: number, SQLSTATE and words.
#[cold]
pub(super) fn server_error(body: &[u8]) -> SqlError {
    let number = match body.get(1..3) {
        Some(&[low, high]) => u16::from_le_bytes([low, high]),
        _ => 0,
    };
    let text = body.get(3..).unwrap_or_default();
    let text = match text {
        [b'#', rest @ ..] => rest.get(5..).unwrap_or_default(),
        plain => plain,
    };
    SqlError {
        code: number.to_string(),
        message: String::from_utf8_lossy(text).into_owned(),
        meaning: meaning(number),
    }
}

fn meaning(number: u16) -> Meaning {
    match number {
        // ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME
        1062 | 1586 => Meaning::Duplicate,
        // ER_BAD_TABLE_ERROR, ER_NO_SUCH_TABLE
        1051 | 1146 => Meaning::Missing,
        // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK
        1205 | 1213 => Meaning::Retry,
        // ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB
        1053 | 1927 => Meaning::Disconnected,
        _ => Meaning::Other,
    }
}

impl Session for MySession {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        self.query(sql, walk_text)
    }

    fn fetch(&mut self, sql: &str) -> Result<u64, SqlError> {
        self.query(sql, walk_text)
    }

    fn values(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, SqlError> {
        let mut rows = Vec::new();
        self.query(sql, |body| rows.push(text_row(body)))?;
        Ok(rows)
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId, SqlError> {
        self.send(COM_STMT_PREPARE, |out| {
            out.extend_from_slice(sql.as_bytes());
        })?;
        let body = self.packet()?;
        let &[OK, i0, i1, i2, i3, c0, c1, p0, p1, ..] = body else {
            return Err(match body.first() {
                Some(&ERR) => server_error(body),
                _ => out_of_step("no answer to a prepared statement"),
            });
        };
        let id = u32::from_le_bytes([i0, i1, i2, i3]);
        let columns = usize::from(u16::from_le_bytes([c0, c1]));
        let params = usize::from(u16::from_le_bytes([p0, p1]));
        for _ in 0..params {
            self.packet()?;
        }
        let mut prepared = Prepared {
            id,
            columns: Columns::default(),
        };
        for _ in 0..columns {
            prepared.columns.push(self.packet()?)?;
        }
        self.prepared.push(prepared);
        Ok(StatementId(self.prepared.len() - 1))
    }

    fn fetch_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<u64, SqlError> {
        self.run_prepared(statement, params, walk_binary)
    }

    /// The protocol has no answer to this one.
    fn finish(&mut self, statement: StatementId) -> Result<(), SqlError> {
        let id = self.prepared[statement.0].id;
        self.send(COM_STMT_CLOSE, |out| {
            out.extend_from_slice(&id.to_le_bytes());
        })?;
        if statement.0 + 1 == self.prepared.len() {
            self.prepared.pop();
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        self.execute("BEGIN").map(drop)
    }

    fn commit(&mut self) -> Result<(), SqlError> {
        self.execute("COMMIT").map(drop)
    }

    fn rollback(&mut self) -> Result<(), SqlError> {
        self.execute("ROLLBACK").map(drop)
    }

    fn settings(&mut self) -> Result<Settings, SqlError> {
        let also = self.also_stored.clone();
        settings::read(self, &also)
    }

    fn checkpoint(&mut self) -> Result<(), SqlError> {
        checkpoint::write_back(self)
    }

    fn table(&mut self, sql: &str) -> Result<Table, SqlError> {
        self.send(COM_QUERY, |out| out.extend_from_slice(sql.as_bytes()))?;
        let mut table = Table::default();
        let head = self.head()?;
        for _ in 0..head.columns {
            table.columns.push(column_name(self.packet()?));
        }
        if head.columns > 0 {
            self.rows(|body| table.rows.push(text_row(body)))?;
        }
        Ok(table)
    }

    fn table_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<Table, SqlError> {
        let mut rows = Vec::new();
        self.run_prepared(statement, params, |body, types| {
            binary_texts(body, types).map(|row| rows.push(row))
        })?;
        let columns = self.prepared[statement.0].columns.names();
        Ok(Table { columns, rows })
    }

    fn load_rows(&mut self, sql: &str, name: &str, content: &str) -> Result<u64, SqlError> {
        self.load_local(sql, name, content)
    }

    fn enter_load(&mut self, alone: bool) {
        self.wire.choose_wait(alone);
    }

    fn activity(&mut self) -> Result<Activity, SqlError> {
        activity::read(self)
    }
}

impl Drop for MySession {
    fn drop(&mut self) {
        // The server may have gone already; nothing is owed then.
        let _ = self.send(COM_QUIT, |_| ());
    }
}
