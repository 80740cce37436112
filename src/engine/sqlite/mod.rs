//! SQLite, bundled and embedded in the worker: the open file set plays the server's part.

mod busy;

use std::hint::black_box;
use std::path::{Path, PathBuf};

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement};

use super::{
    Address, Build, BusyWaits, Engine, Kind, Launch, Meaning, Param, Server, Session, Settings,
    SqlError, StatementId, Table,
};
use crate::error::Result;
use crate::measure::CpuTime;
use crate::sql::Dialect;

pub use busy::hurry;

/// The database file in the data directory.
pub const FILE: &str = "main.db";

/// The PRAGMAs that are read back and stored: what decides durability, size and logging.
const STORED: [&str; 12] = [
    "journal_mode",
    "synchronous",
    "fullfsync",
    "checkpoint_fullfsync",
    "wal_autocheckpoint",
    "journal_size_limit",
    "page_size",
    "cache_size",
    "mmap_size",
    "temp_store",
    "locking_mode",
    "auto_vacuum",
];

/// PRAGMAs whose numbers have names that users write.
const NAMED: [(&str, &[&str]); 3] = [
    ("synchronous", &["off", "normal", "full", "extra"]),
    ("temp_store", &["default", "file", "memory"]),
    ("auto_vacuum", &["none", "full", "incremental"]),
];

/// The engine; there is one build, the bundled one.
pub struct Sqlite {
    build: Build,
}

impl Sqlite {
    /// The bundled build.
    pub fn new() -> Self {
        Sqlite {
            build: Build {
                kind: Kind::Sqlite,
                version: rusqlite::version().to_string(),
                binary: None,
            },
        }
    }
}

impl Default for Sqlite {
    fn default() -> Self {
        Sqlite::new()
    }
}

impl Engine for Sqlite {
    fn build(&self) -> &Build {
        &self.build
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    /// WAL with `synchronous=full`: every commit is synced before it returns. (In the
    /// rollback-journal modes `full` may lose the last commit when the power fails, as
    /// the deletion of the journal is not synced; those need `extra`.)
    fn defaults(&self) -> Settings {
        [("journal_mode", "wal"), ("synchronous", "full")]
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .into()
    }

    fn has_server(&self) -> bool {
        false
    }

    fn initialise(&self, _data: &Path, _settings: &Settings) -> Result<()> {
        Ok(())
    }

    fn launch(&self, launch: &Launch) -> Result<Box<dyn Server>> {
        Ok(Box::new(Files {
            dir: launch.data.clone(),
            settings: launch.settings.clone(),
        }))
    }
}

struct Files {
    dir: PathBuf,
    settings: Settings,
}

impl Server for Files {
    fn address(&self) -> Address {
        Address::Sqlite {
            dir: self.dir.clone(),
            file: FILE.to_string(),
            settings: self.settings.clone(),
        }
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn cpu(&self) -> Option<CpuTime> {
        None
    }

    fn died(&mut self) -> Option<String> {
        None
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn stop(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// One connection to the database file.
pub struct SqliteSession {
    connection: Connection,
    /// Texts of prepared statements by id; the compiled ones live in the connection's
    /// statement cache, which is large enough to keep all of them.
    prepared: Vec<String>,
}

impl SqliteSession {
    /// Opens (and makes) the database `file` and applies `settings` as PRAGMAs.
    ///
    /// # Errors
    /// SQLite's words; a PRAGMA that is unknown or did not take, with what is in effect.
    pub fn open(file: &Path, settings: &Settings) -> Result<Self, SqlError> {
        let connection = Connection::open(file).map_err(sql_error)?;
        connection.set_prepared_statement_cache_capacity(256);
        connection
            .busy_handler(Some(busy::wait))
            .map_err(sql_error)?;
        let mut session = SqliteSession {
            connection,
            prepared: Vec::new(),
        };
        // The page size must come before the first page is written, which the journal
        // mode may do; and the mode must stand before `synchronous` is read back.
        let order = |name: &str| match name {
            "page_size" => 0,
            "auto_vacuum" => 1,
            "journal_mode" => 2,
            _ => 3,
        };
        let mut ordered: Vec<(&String, &String)> = settings.iter().collect();
        ordered.sort_by_key(|(name, _)| order(name));
        for (name, value) in ordered {
            session.set(name, value)?;
        }
        Ok(session)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), SqlError> {
        let plain = |text: &str, more: &str| {
            !text.is_empty()
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        if !plain(name, "_") || !plain(value, "_-+.") {
            return Err(refused(format!("'{name}={value}' is not a PRAGMA setting")));
        }
        if self.pragma(name)?.is_none() {
            return Err(refused(format!(
                "sqlite {} has no PRAGMA called {name}",
                rusqlite::version()
            )));
        }
        self.values(&format!("PRAGMA {name}={value}"))?;
        let effective = self.pragma(name)?.unwrap_or_default();
        if same_value(name, value, &effective) {
            Ok(())
        } else {
            Err(refused(format!(
                "PRAGMA {name}={value} did not take: {effective} is in effect"
            )))
        }
    }

    /// The value in effect, by name where the number has one.
    fn pragma(&mut self, name: &str) -> Result<Option<String>, SqlError> {
        let rows = self.values(&format!("PRAGMA {name}"))?;
        let value = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next());
        Ok(value.flatten().map(|value| readable(name, &value)))
    }
}

fn readable(name: &str, value: &str) -> String {
    NAMED
        .iter()
        .find(|(pragma, _)| *pragma == name)
        .and_then(|(_, names)| names.get(value.parse::<usize>().ok()?))
        .map_or_else(|| value.to_string(), ToString::to_string)
}

fn same_value(name: &str, asked: &str, effective: &str) -> bool {
    let number = |text: &str| match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" => "1".to_string(),
        "off" | "false" | "no" => "0".to_string(),
        other => other.to_string(),
    };
    readable(name, asked).eq_ignore_ascii_case(effective) || number(asked) == number(effective)
}

fn refused(message: String) -> SqlError {
    SqlError {
        code: String::new(),
        message,
        meaning: Meaning::Other,
    }
}

fn sql_error(error: rusqlite::Error) -> SqlError {
    let (failure, text) = match &error {
        rusqlite::Error::SqliteFailure(failure, text) => (Some(failure), text.as_deref()),
        rusqlite::Error::SqlInputError { error, msg, .. } => (Some(error), Some(msg.as_str())),
        _ => (None, None),
    };
    // SQLite has no code of its own for a missing table.
    let missing = text.is_some_and(|t| t.starts_with("no such table"));
    let meaning = match failure.map(|f| (f.code, f.extended_code)) {
        // SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE
        Some((ErrorCode::ConstraintViolation, 1555 | 2067)) => Meaning::Duplicate,
        Some((ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _)) => Meaning::Retry,
        _ if missing => Meaning::Missing,
        _ => Meaning::Other,
    };
    SqlError {
        code: failure.map_or(String::new(), |f| f.extended_code.to_string()),
        message: error.to_string(),
        meaning,
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Param::Int(value) => ToSqlOutput::from(*value),
            Param::Float(value) => ToSqlOutput::from(*value),
            Param::Text(text) => ToSqlOutput::from(*text),
            Param::Null => ToSqlOutput::from(rusqlite::types::Null),
        })
    }
}

/// Steps through every row and touches every field.
fn pull(statement: &mut Statement<'_>, params: &[Param<'_>]) -> rusqlite::Result<u64> {
    let columns = statement.column_count();
    for (n, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(n + 1, param)?;
    }
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            black_box(row.get_ref(column)?);
        }
        count += 1;
    }
    Ok(count)
}

/// Keeps every row with the names of its columns.
fn table(statement: &mut Statement<'_>, params: &[Param<'_>]) -> rusqlite::Result<Table> {
    for (n, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(n + 1, param)?;
    }
    let columns: Vec<String> = statement
        .column_names()
        .into_iter()
        .map(String::from)
        .collect();
    let mut found = Table {
        columns,
        rows: Vec::new(),
    };
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let fields = (0..found.columns.len()).map(|column| row.get_ref(column).map(text_of));
        found.rows.push(fields.collect::<rusqlite::Result<_>>()?);
    }
    Ok(found)
}

fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(i) => Some(i.to_string()),
        ValueRef::Real(f) => Some(f.to_string()),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(String::from_utf8_lossy(t).into_owned()),
    }
}

impl Session for SqliteSession {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        self.fetch(sql)
    }

    fn fetch(&mut self, sql: &str) -> Result<u64, SqlError> {
        let mut statement = self.connection.prepare(sql).map_err(sql_error)?;
        pull(&mut statement, &[]).map_err(sql_error)
    }

    fn values(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, SqlError> {
        let mut statement = self.connection.prepare(sql).map_err(sql_error)?;
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| {
                (0..columns)
                    .map(|column| row.get_ref(column).map(text_of))
                    .collect()
            })
            .map_err(sql_error)?;
        rows.collect::<rusqlite::Result<_>>().map_err(sql_error)
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId, SqlError> {
        self.connection.prepare_cached(sql).map_err(sql_error)?;
        self.prepared.push(sql.to_string());
        Ok(StatementId(self.prepared.len() - 1))
    }

    fn fetch_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<u64, SqlError> {
        let mut statement = self
            .connection
            .prepare_cached(&self.prepared[statement.0])
            .map_err(sql_error)?;
        pull(&mut statement, params).map_err(sql_error)
    }

    fn table(&mut self, sql: &str) -> Result<Table, SqlError> {
        let mut statement = self.connection.prepare(sql).map_err(sql_error)?;
        table(&mut statement, &[]).map_err(sql_error)
    }

    fn table_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<Table, SqlError> {
        let mut statement = self
            .connection
            .prepare_cached(&self.prepared[statement.0])
            .map_err(sql_error)?;
        table(&mut statement, params).map_err(sql_error)
    }

    /// Those of the calling thread: a session is used by one.
    fn busy_waits(&self) -> Option<BusyWaits> {
        Some(busy::waits())
    }

    fn finish(&mut self, statement: StatementId) -> Result<(), SqlError> {
        // The last one prepared is dropped by the cache when it is not taken back.
        if let Ok(cached) = self.connection.prepare_cached(&self.prepared[statement.0]) {
            cached.discard();
        }
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
        let mut settings = Settings::new();
        for name in STORED {
            if let Some(value) = self.pragma(name)? {
                settings.insert(name.to_string(), value);
            }
        }
        Ok(settings)
    }

    fn checkpoint(&mut self) -> Result<(), SqlError> {
        if self.pragma("journal_mode")?.as_deref() == Some("wal") {
            let rows = self.values("PRAGMA wal_checkpoint(TRUNCATE)")?;
            if rows
                .first()
                .and_then(|r| r.first())
                .is_some_and(|busy| busy.as_deref() == Some("1"))
            {
                return Err(refused(
                    "the WAL checkpoint was kept out by another connection".into(),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(settings: &[(&str, &str)]) -> Result<(tempfile::TempDir, SqliteSession), SqlError> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let settings = settings
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        let session = SqliteSession::open(&dir.path().join(FILE), &settings)?;
        Ok((dir, session))
    }

    #[test]
    fn settings_take_effect_and_are_read_back() {
        let (_dir, mut session) = open(&[
            ("journal_mode", "wal"),
            ("synchronous", "full"),
            ("page_size", "8192"),
        ])
        .unwrap();
        let settings = session.settings().unwrap();
        assert_eq!(settings["journal_mode"], "wal");
        assert_eq!(settings["synchronous"], "full");
        assert_eq!(settings["page_size"], "8192");
        assert!(session.checkpoint().is_ok());
    }

    #[test]
    fn a_setting_that_does_not_take_is_refused() {
        for (name, value) in [
            ("no_such_pragma", "1"),
            ("page_size", "1000"),
            ("journal_mode", "wall"),
            ("synchronous", "1; drop"),
        ] {
            let error = open(&[(name, value)]).map(|_| ()).unwrap_err();
            assert!(error.message.contains(name), "{error}");
        }
    }

    #[test]
    fn rows_are_counted_and_errors_have_meanings() {
        let (_dir, mut session) = open(&[]).unwrap();
        session
            .execute("CREATE TABLE t (a int not null, primary key (a))")
            .unwrap();
        session.execute("INSERT INTO t VALUES (1),(2),(3)").unwrap();
        assert_eq!(session.fetch("SELECT * FROM t").unwrap(), 3);
        let one = session.prepare("SELECT * FROM t WHERE a=?").unwrap();
        assert_eq!(session.fetch_prepared(one, &[Param::Int(2)]).unwrap(), 1);
        assert_eq!(session.fetch_prepared(one, &[Param::Int(9)]).unwrap(), 0);
        session.finish(one).unwrap();
        let duplicate = session.execute("INSERT INTO t VALUES (1)").unwrap_err();
        assert_eq!(duplicate.meaning, Meaning::Duplicate);
        let missing = session.execute("DROP TABLE absent").unwrap_err();
        assert_eq!(missing.meaning, Meaning::Missing);
    }

    #[test]
    fn a_rollback_leaves_nothing() {
        let (_dir, mut session) = open(&[]).unwrap();
        session.execute("CREATE TABLE t (a int)").unwrap();
        session.begin().unwrap();
        session.execute("INSERT INTO t VALUES (1)").unwrap();
        session.rollback().unwrap();
        assert_eq!(session.fetch("SELECT * FROM t").unwrap(), 0);
    }
}
