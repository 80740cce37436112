//! The measured loop of one named operation.
//!
//! The window opens with [`Bench::start`](super::Bench::start) and closes with
//! [`Op::finish`]. Inside are the statements, the building of their texts and the
//! counting of rows; the device and CPU counters are read just outside it. The latency
//! of a statement is the time of the session call alone.

use std::time::{Duration, Instant};

use super::bench::{Bench, Stamp};
use super::event::{Event, OperationResult, Quantiles};
use crate::engine::{Meaning, Param, Session, SqlError, StatementId};
use crate::error::{Context, Error, Result, anyhow, bail};
use crate::measure::{CpuTime, DeviceCounters};

/// How many rows a statement must return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Any number.
    Any,
    /// One or more.
    Some,
    /// This many.
    Exactly(u64),
}

impl Rows {
    fn fit(self, found: u64) -> bool {
        match self {
            Rows::Any => true,
            Rows::Some => found > 0,
            Rows::Exactly(expected) => found == expected,
        }
    }
}

/// One operation being measured.
pub struct Op<'b, 'a> {
    bench: &'b mut Bench<'a>,
    name: String,
    planned: u64,
    count: u64,
    rows: Option<u64>,
    prints_received: bool,
    statements: u64,
    received: u64,
    bytes: Option<u64>,
    limited: bool,
    paused: Duration,
    before: Stamp,
}

/// What the window of one operation held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub wall_ns: u64,
    pub client: CpuTime,
    pub device: Option<DeviceCounters>,
}

impl<'b, 'a> Op<'b, 'a> {
    pub(super) fn open(bench: &'b mut Bench<'a>, name: &str, planned: u64) -> Result<Self> {
        bench.tell(Event::OperationStarted {
            operation: name.to_string(),
            planned,
        })?;
        bench.latency.clear();
        bench.slices.clear();
        let before = bench.stamp_before();
        Ok(Op {
            bench,
            name: name.to_string(),
            planned,
            count: 0,
            rows: None,
            prints_received: false,
            statements: 0,
            received: 0,
            bytes: None,
            limited: false,
            paused: Duration::ZERO,
            before,
        })
    }

    /// Sends one statement and takes success or failure.
    ///
    /// # Errors
    /// The engine's words with the statement.
    #[inline]
    pub fn execute(&mut self, session: &mut dyn Session, sql: &str) -> Result<u64> {
        let answer = self.timed(|| session.execute(sql));
        self.checked(session, sql, answer, Rows::Any)
    }

    /// Sends one query, pulls every row and checks their number.
    ///
    /// # Errors
    /// The engine's words, or a wrong number of rows, with the statement.
    #[inline]
    pub fn fetch(&mut self, session: &mut dyn Session, sql: &str, rows: Rows) -> Result<u64> {
        let answer = self.timed(|| session.fetch(sql));
        self.checked(session, sql, answer, rows)
    }

    /// As [`execute`](Op::execute) for a query whose number of rows is checked: the
    /// suite's `do` of a SELECT.
    ///
    /// # Errors
    /// As [`fetch`](Op::fetch).
    #[inline]
    pub fn query(&mut self, session: &mut dyn Session, sql: &str, rows: Rows) -> Result<u64> {
        let answer = self.timed(|| session.execute(sql));
        self.checked(session, sql, answer, rows)
    }

    /// As [`fetch`](Op::fetch) for a prepared statement; `sql` is for messages.
    ///
    /// # Errors
    /// As [`fetch`](Op::fetch).
    #[inline]
    pub fn fetch_prepared(
        &mut self,
        session: &mut dyn Session,
        (statement, sql): (StatementId, &str),
        params: &[Param<'_>],
        rows: Rows,
    ) -> Result<u64> {
        let answer = self.timed(|| session.fetch_prepared(statement, params));
        self.checked(session, sql, answer, rows)
    }

    /// Prepares `sql`, runs it, pulls every row and frees it again: one statement.
    ///
    /// # Errors
    /// As [`fetch`](Op::fetch).
    #[inline]
    pub fn prepare_and_fetch(
        &mut self,
        session: &mut dyn Session,
        sql: &str,
        rows: Rows,
    ) -> Result<u64> {
        let answer = self.timed(|| {
            let statement = session.prepare(sql)?;
            let found = session.fetch_prepared(statement, &[])?;
            session.finish(statement)?;
            Ok(found)
        });
        self.checked(session, sql, answer, rows)
    }

    /// Sends one statement that loads `rows` rows, `content`, as the client's file `name`.
    ///
    /// # Errors
    /// The engine's words, or a wrong number of rows loaded, with the statement.
    pub fn load_rows(
        &mut self,
        session: &mut dyn Session,
        sql: &str,
        (name, content): (&str, &str),
        rows: u64,
    ) -> Result<()> {
        match self.timed(|| session.load_rows(sql, name, content)) {
            Ok(loaded) if loaded == rows || !session.answers() => Ok(()),
            Ok(loaded) => bail!(
                "operation {}: {loaded} rows were loaded, expected {rows}: {}",
                self.name,
                shortened(sql)
            ),
            Err(error) => Err(self.statement_failed(error, sql)),
        }
    }

    /// Runs one query inside the window and gives its values, for checks that the suite
    /// makes inside it. Empty from an engine that pretends.
    ///
    /// # Errors
    /// The engine's words with the statement.
    pub fn values(
        &mut self,
        session: &mut dyn Session,
        sql: &str,
    ) -> Result<Vec<Vec<Option<String>>>> {
        let answer = self.timed(|| session.values(sql));
        match answer {
            Ok(rows) => {
                self.received += rows.len() as u64;
                Ok(rows)
            }
            Err(error) => Err(self.statement_failed(error, sql)),
        }
    }

    /// Sends a statement that must fail with `meaning`.
    ///
    /// # Errors
    /// When it succeeds or fails otherwise.
    #[inline]
    pub fn must_fail(
        &mut self,
        session: &mut dyn Session,
        sql: &str,
        meaning: Meaning,
    ) -> Result<()> {
        match self.timed(|| session.execute(sql)) {
            Err(error) if error.meaning == meaning => Ok(()),
            Err(error) => Err(self.statement_failed(error, sql)),
            Ok(_) if !session.answers() => Ok(()),
            Ok(_) => bail!(
                "operation {}: a statement that must fail ({meaning:?}) succeeded: {}",
                self.name,
                shortened(sql)
            ),
        }
    }

    /// Times another kind of step (a connect, say) as one statement.
    ///
    /// # Errors
    /// Those of `step`, with the operation's name.
    #[inline]
    pub fn step<T>(&mut self, what: &str, step: impl FnOnce() -> Result<T, SqlError>) -> Result<T> {
        let answer = self.timed(step);
        answer.map_err(|error| self.statement_failed(error, what))
    }

    /// A step inside the window that counts neither as a statement nor among the
    /// latencies: opening and ending a transaction, preparing once.
    ///
    /// # Errors
    /// Those of `step`, with the operation's name.
    #[inline]
    pub fn uncounted<T>(
        &mut self,
        what: &str,
        step: impl FnOnce() -> Result<T, SqlError>,
    ) -> Result<T> {
        step().map_err(|error| self.statement_failed(error, what))
    }

    /// Times one call of an operation on files, as one statement of `bytes`.
    ///
    /// # Errors
    /// Those of `call`, with the operation's name.
    #[inline]
    pub fn call(&mut self, bytes: u64, call: impl FnOnce() -> std::io::Result<()>) -> Result<()> {
        *self.bytes.get_or_insert(0) += bytes;
        let answer = self.timed(call);
        answer.with_context(|| {
            let (name, number) = (&self.name, self.statements);
            format!("operation {name}: call {number} failed")
        })
    }

    /// Runs the one call that is the whole operation, for steps whose parts are not timed
    /// one by one. It gives how many files it handled, which are counted as statements,
    /// and their bytes.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn whole<T>(&mut self, call: impl FnOnce() -> Result<(T, u64, u64)>) -> Result<T> {
        let (value, files, bytes) = call()?;
        self.statements = files;
        self.bytes = Some(bytes);
        Ok(value)
    }

    /// Sets the printed row figure, where it is not the number of rows received.
    pub fn print_rows(&mut self, rows: u64) {
        self.rows = Some(rows);
    }

    /// Prints the rows received until [`finish`](Op::finish), for operations whose row
    /// figure the suite prints.
    pub fn print_rows_received(&mut self) {
        self.prints_received = true;
    }

    /// Sets the printed count, where it is not the number of statements sent. The time
    /// limit replaces it by the count reached.
    pub fn print_count(&mut self, count: u64) {
        self.count = count;
    }

    /// The number of statements sent so far.
    pub fn statements(&self) -> u64 {
        self.statements
    }

    /// The number of rows received so far.
    pub fn rows_received(&self) -> u64 {
        self.received
    }

    /// True when the time limit has been passed and the operation is to stop: to be asked
    /// after an iteration, with the count reached.
    #[inline]
    pub fn over_limit(&mut self, reached: u64) -> bool {
        if reached < self.planned && self.elapsed() > self.bench.time_limit {
            self.limited = true;
            self.count = reached;
        }
        self.limited
    }

    /// Closes the window and tells the figures.
    ///
    /// # Errors
    /// When the figures cannot be told.
    pub fn finish(self) -> Result<()> {
        self.close().map(drop)
    }

    /// As [`finish`](Op::finish); gives what the window held.
    pub(super) fn close(self) -> Result<Window> {
        let after = self.bench.stamp_after();
        let wall = after.wall - self.before.wall - self.paused;
        let latency = self.bench.latency.histogram();
        let count = match self.count {
            0 => self.statements,
            printed => printed,
        };
        let result = OperationResult {
            name: self.name,
            count,
            planned: self.planned,
            rows: self.rows.or(self.prints_received.then_some(self.received)),
            statements: self.statements,
            rows_received: self.received,
            bytes: self.bytes,
            refused: None,
            wall_ns: wall.as_nanos() as u64,
            client: after.client.since(self.before.client),
            server: both(after.server, self.before.server, |a, b| a.since(b)),
            device: both(after.device, self.before.device, |a, b| a.since(b)),
            slices: self.bench.slices.finish(self.statements, wall),
            latency: (latency.len() > 1).then(|| Quantiles::of(latency)),
            time_limited: self.limited,
        };
        let window = Window {
            wall_ns: result.wall_ns,
            client: result.client,
            device: result.device,
        };
        let event = Event::OperationFinished(Box::new(result));
        self.bench.tell(event).map(|()| window)
    }

    /// Gives the turn to the other case; when ours goes on.
    #[cold]
    fn pause(&mut self, now: Instant) -> Instant {
        let own = now - self.before.wall - self.paused;
        self.bench.slices.cut(self.statements, own);
        self.paused += self.bench.pause();
        Instant::now()
    }

    fn elapsed(&self) -> Duration {
        self.before.wall.elapsed() - self.paused
    }

    #[inline]
    fn timed<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let start = match self.bench.is_over(start) {
            false => start,
            true => self.pause(start),
        };
        let answer = call();
        self.bench.latency.record(start.elapsed().as_nanos() as u64);
        self.statements += 1;
        answer
    }

    #[inline]
    fn checked(
        &mut self,
        session: &mut dyn Session,
        sql: &str,
        answer: Result<u64, SqlError>,
        rows: Rows,
    ) -> Result<u64> {
        match answer {
            Ok(found) if rows.fit(found) => {
                self.received += found;
                Ok(found)
            }
            Ok(found) if !session.answers() => {
                if let Rows::Exactly(expected) = rows {
                    self.received += expected;
                }
                Ok(found)
            }
            Ok(found) => Err(self.wrong_rows(sql, found, rows)),
            Err(error) => Err(self.statement_failed(error, sql)),
        }
    }

    #[cold]
    fn wrong_rows(&self, sql: &str, found: u64, rows: Rows) -> Error {
        let expected = match rows {
            Rows::Exactly(n) => n.to_string(),
            Rows::Some | Rows::Any => "at least one".to_string(),
        };
        anyhow!(
            "operation {}: statement {} returned {found} rows, expected {expected}: {}",
            self.name,
            self.statements,
            shortened(sql)
        )
    }

    #[cold]
    fn statement_failed(&self, error: SqlError, sql: &str) -> Error {
        Error::new(error).context(format!(
            "operation {}: statement {} failed: {}",
            self.name,
            self.statements,
            shortened(sql)
        ))
    }
}

fn both<T, R>(after: Option<T>, before: Option<T>, f: impl FnOnce(T, T) -> R) -> Option<R> {
    Some(f(after?, before?))
}

/// The head of a statement, enough to know it by.
fn shortened(sql: &str) -> String {
    const LONGEST: usize = 160;
    match sql.char_indices().nth(LONGEST) {
        None => sql.to_string(),
        Some((at, _)) => format!("{} … ({} bytes)", &sql[..at], sql.len()),
    }
}

/// Runs a statement that belongs to no operation.
///
/// # Errors
/// The engine's words with the statement.
pub(super) fn untimed(session: &mut dyn Session, sql: &str) -> Result<u64> {
    session
        .execute(sql)
        .map_err(Error::new)
        .with_context(|| format!("untimed statement failed: {}", shortened(sql)))
}
