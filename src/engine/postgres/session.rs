//! A thin client on PostgreSQL's protocol: the simple protocol for literal text, the
//! extended one for prepared statements. One send and, as a rule, one receive a
//! statement; rows are walked in the receive buffer and never copied.

use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::backend::{self, Header};
use postgres_protocol::message::frontend;

use super::link::put_param;
use super::{SOCKET, activity, settings, texts};
use crate::engine::wire::{Wire, lost, out_of_step};
use crate::engine::{
    Activity, Meaning, Param, Session, Settings, SqlError, StatementId, WalCheckpoint,
};
use crate::sql::Dialect;

/// Tag and length.
pub(super) const HEADER_BYTES: usize = 5;

/// One connection.
pub struct PgSession {
    wire: Wire,
    out: BytesMut,
    /// Names of prepared statements by id.
    prepared: Vec<String>,
    /// The directory of socket and log.
    dir: PathBuf,
}

impl PgSession {
    /// Connects through the socket in `dir`, without a password. With a `limit`, every
    /// answer must come within it.
    ///
    /// # Errors
    /// The server's words.
    pub fn open(
        dir: &Path,
        user: &str,
        database: &str,
        limit: Option<Duration>,
    ) -> Result<Self, SqlError> {
        let mut wire = Wire::connect(&dir.join(SOCKET)).map_err(lost)?;
        wire.limit(limit).map_err(lost)?;
        let mut session = PgSession {
            wire,
            out: BytesMut::with_capacity(4096),
            prepared: Vec::new(),
            dir: dir.to_path_buf(),
        };
        let parameters = [
            ("user", user),
            ("database", database),
            ("application_name", "mountmark"),
        ];
        frontend::startup_message(parameters, &mut session.out).map_err(unsendable)?;
        session.roundtrip(|_| ())?;
        Ok(session)
    }

    fn simple(&mut self, sql: &str, row: impl FnMut(&[u8])) -> Result<u64, SqlError> {
        self.out.clear();
        frontend::query(sql, &mut self.out).map_err(unsendable)?;
        self.roundtrip(row)
    }

    /// Sends what stands in `out` and receives until the server is ready again; each
    /// row's body goes to `row`. Returns the number of rows.
    fn roundtrip(&mut self, mut row: impl FnMut(&[u8])) -> Result<u64, SqlError> {
        self.wire.send(&self.out).map_err(lost)?;
        let mut rows = 0;
        let mut failure = None;
        loop {
            let (tag, length) = match self.next_header() {
                Ok(header) => header,
                // A FATAL error is the last word before the end.
                Err(end) => return Err(last_word(failure, end)),
            };
            let message = self.wire.take(length);
            match tag {
                backend::DATA_ROW_TAG => {
                    row(&message[HEADER_BYTES..]);
                    rows += 1;
                }
                backend::READY_FOR_QUERY_TAG => break,
                backend::ERROR_RESPONSE_TAG => failure = Some(server_error(message)),
                backend::AUTHENTICATION_TAG if message.get(5..9) != Some(&[0; 4]) => {
                    return Err(out_of_step("it asks for a password"));
                }
                backend::COPY_IN_RESPONSE_TAG => self.refuse_copy()?,
                _ => {}
            }
        }
        match failure {
            None => Ok(rows),
            Some(error) => Err(error),
        }
    }

    /// Waits for a whole message; its tag and length, header included.
    #[inline]
    fn next_header(&mut self) -> io::Result<(u8, usize)> {
        self.wire.await_bytes(HEADER_BYTES)?;
        let header = Header::parse(self.wire.arrived())?
            .ok_or_else(|| io::Error::other("a message without a header"))?;
        // Not negative: the parser refuses lengths below 4.
        let length = header.len() as usize + 1;
        self.wire.await_bytes(length)?;
        Ok((header.tag(), length))
    }

    /// `COPY … FROM STDIN` would wait for data for ever.
    #[cold]
    fn refuse_copy(&mut self) -> Result<(), SqlError> {
        self.out.clear();
        frontend::copy_fail("no data is sent by this client", &mut self.out).map_err(unsendable)?;
        self.wire.send(&self.out).map_err(lost)
    }
}

/// Walks the fields of a row.
#[inline]
fn walk(mut body: &[u8]) {
    let Some((_, fields)) = body.split_first_chunk::<2>() else {
        return;
    };
    body = fields;
    while let Some(field) = next_field(&mut body) {
        black_box(field);
    }
}

/// The next field of a row without its column count; the inner `None` is NULL.
#[inline]
pub(super) fn next_field<'a>(body: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    match usize::try_from(i32::from_be_bytes(*length)) {
        Err(_) => {
            *body = rest;
            Some(None)
        }
        Ok(length) => {
            let (field, rest) = rest.split_at_checked(length)?;
            *body = rest;
            Some(Some(field))
        }
    }
}

/// The text form of a number, without an allocation.
pub(super) fn put_int(value: i64, out: &mut BytesMut) {
    use std::fmt::Write;
    // Writing to a BytesMut cannot fail but for lack of memory.
    let _ = write!(out, "{value}");
}

#[cold]
pub(super) fn unsendable(error: io::Error) -> SqlError {
    SqlError {
        code: String::new(),
        message: format!("the statement cannot be sent: {error}"),
        meaning: Meaning::Other,
    }
}

#[cold]
pub(super) fn last_word(failure: Option<SqlError>, end: io::Error) -> SqlError {
    match failure {
        Some(error) => SqlError {
            meaning: Meaning::Disconnected,
            ..error
        },
        None => lost(end),
    }
}

/// From an ErrorResponse, header included.
#[cold]
pub(super) fn server_error(message: &[u8]) -> SqlError {
    let mut code = String::new();
    let mut text = String::new();
    for field in message[HEADER_BYTES..].split(|byte| *byte == 0) {
        let Some((kind, value)) = field.split_first() else {
            continue;
        };
        let value = String::from_utf8_lossy(value);
        match kind {
            b'C' => code = value.into_owned(),
            b'M' => text.insert_str(0, &value),
            b'D' | b'H' => text += &format!("; {value}"),
            _ => {}
        }
    }
    SqlError {
        meaning: meaning(&code),
        code,
        message: text,
    }
}

fn meaning(code: &str) -> Meaning {
    match code {
        // unique_violation
        "23505" => Meaning::Duplicate,
        // undefined_table, undefined_object
        "42P01" | "42704" => Meaning::Missing,
        // serialization_failure, deadlock_detected
        "40001" | "40P01" => Meaning::Retry,
        // connection_failure; admin_shutdown, crash_shutdown, database_dropped
        "08006" | "57P01" | "57P02" | "57P04" => Meaning::Disconnected,
        _ => Meaning::Other,
    }
}

impl Session for PgSession {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        self.simple(sql, walk)
    }

    fn fetch(&mut self, sql: &str) -> Result<u64, SqlError> {
        self.simple(sql, walk)
    }

    fn values(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, SqlError> {
        let mut rows = Vec::new();
        self.simple(sql, |body| rows.push(texts_of(body)))?;
        Ok(rows)
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId, SqlError> {
        let name = format!("s{}", self.prepared.len());
        self.out.clear();
        frontend::parse(&name, &texts::numbered(sql), [], &mut self.out).map_err(unsendable)?;
        frontend::sync(&mut self.out);
        self.roundtrip(|_| ())?;
        self.prepared.push(name);
        Ok(StatementId(self.prepared.len() - 1))
    }

    fn fetch_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<u64, SqlError> {
        self.out.clear();
        let name = &self.prepared[statement.0];
        // No format codes: all values are texts, in and out, as with libpq.
        let values = params.iter().copied();
        frontend::bind("", name, [], values, put_param, [], &mut self.out).map_err(|error| {
            unsendable(match error {
                frontend::BindError::Conversion(error) => io::Error::other(error),
                frontend::BindError::Serialization(error) => error,
            })
        })?;
        frontend::execute("", 0, &mut self.out).map_err(unsendable)?;
        frontend::sync(&mut self.out);
        self.roundtrip(walk)
    }

    fn finish(&mut self, statement: StatementId) -> Result<(), SqlError> {
        self.out.clear();
        let name = &self.prepared[statement.0];
        frontend::close(b'S', name, &mut self.out).map_err(unsendable)?;
        frontend::sync(&mut self.out);
        self.roundtrip(|_| ())?;
        // The last one's name can be used again.
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
        settings::read(self)
    }

    fn checkpoint(&mut self) -> Result<(), SqlError> {
        self.execute("CHECKPOINT").map(drop)
    }

    fn activity(&mut self) -> Result<Activity, SqlError> {
        activity::read(self)
    }

    fn await_quiet(&mut self) -> Result<(), SqlError> {
        activity::await_quiet(self)
    }

    fn wal_checkpoints(&mut self) -> Option<Vec<WalCheckpoint>> {
        let log = std::fs::read(self.dir.join(super::LOG)).ok()?;
        Some(activity::checkpoints(&String::from_utf8_lossy(&log)))
    }
}

/// The fields of a row as text.
fn texts_of(body: &[u8]) -> Vec<Option<String>> {
    let mut body = body.get(2..).unwrap_or_default();
    let mut row = Vec::new();
    while let Some(field) = next_field(&mut body) {
        row.push(field.map(|f| String::from_utf8_lossy(f).into_owned()));
    }
    row
}

impl Drop for PgSession {
    fn drop(&mut self) {
        self.out.clear();
        frontend::terminate(&mut self.out);
        // The server may have gone already; nothing is owed then.
        let _ = self.wire.send(&self.out);
    }
}
