//! What a worker is told about the server it connects to.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::mysql::MySession;
use super::postgres::PgSession;
use super::{Meaning, Session, Settings, SqlError, null, sqlite};
use crate::sql::Dialect;

/// Where a session connects to; crosses the pipe to the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Address {
    /// A directory of SQLite database files, and the PRAGMAs of each connection.
    Sqlite {
        /// The directory on the target.
        dir: PathBuf,
        /// The database file in it.
        file: String,
        /// PRAGMA name to value.
        settings: Settings,
    },
    /// A PostgreSQL server of ours.
    Postgres {
        /// The directory that holds its socket.
        dir: PathBuf,
        /// The superuser.
        user: String,
        /// The database to connect to.
        database: String,
    },
    /// A MySQL or MariaDB server of ours.
    Mysql {
        /// Its socket.
        socket: PathBuf,
        /// The superuser.
        user: String,
        /// The database to connect to.
        database: String,
        /// Which of the two.
        dialect: Dialect,
        /// Names of the settings that were asked for, to be read back with the others.
        asked: Vec<String>,
    },
    /// The engine that pretends, with its script.
    Null {
        /// What it pretends: see [`null::Script`].
        script: null::Script,
    },
    /// Nowhere: the workload has no server.
    None,
}

impl Address {
    /// Of the database number `index` beside this one, which is number 0: `mountmark1`,
    /// or the file `main1.db`.
    pub fn of_database(&self, index: u32) -> Address {
        let mut address = self.clone();
        if index == 0 {
            return address;
        }
        match &mut address {
            Address::Sqlite { file, .. } => {
                let stem = file.strip_suffix(".db").unwrap_or(file);
                *file = format!("{stem}{index}.db");
            }
            Address::Postgres { database, .. } | Address::Mysql { database, .. } => {
                database.push_str(&index.to_string());
            }
            Address::Null { .. } | Address::None => {}
        }
        address
    }
}

/// Opens a session.
///
/// # Errors
/// The engine's words.
pub fn connect(address: &Address) -> Result<Box<dyn Session>, SqlError> {
    match address {
        Address::Sqlite {
            dir,
            file,
            settings,
        } => Ok(Box::new(sqlite::SqliteSession::open(
            &dir.join(file),
            settings,
        )?)),
        Address::Postgres {
            dir,
            user,
            database,
        } => Ok(Box::new(PgSession::open(dir, user, database, None)?)),
        Address::Mysql {
            socket,
            user,
            database,
            dialect,
            asked,
        } => {
            let mut session = MySession::open(socket, user, database, *dialect, None)?;
            session.store_also(asked.clone());
            Ok(Box::new(session))
        }
        Address::None => Err(SqlError {
            code: String::new(),
            message: "this workload has no server to connect to".to_string(),
            meaning: Meaning::Disconnected,
        }),
        Address::Null { script } => Ok(Box::new(null::NullSession::new(script.clone())?)),
    }
}
