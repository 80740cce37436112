//! What the user asked for: `sqlite`, `postgres=DIR`, `mysql=FILE`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, unknown, usage};

/// The kinds of engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// SQLite, embedded in the worker.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL (Oracle's).
    Mysql,
    /// MariaDB.
    Mariadb,
    /// Pretends to be a database: tests the tool itself.
    Null,
}

impl Kind {
    /// Every kind, in the order they are shown.
    pub const ALL: [Kind; 5] = [
        Kind::Sqlite,
        Kind::Postgres,
        Kind::Mysql,
        Kind::Mariadb,
        Kind::Null,
    ];

    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Sqlite => "sqlite",
            Kind::Postgres => "postgres",
            Kind::Mysql => "mysql",
            Kind::Mariadb => "mariadb",
            Kind::Null => "null",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let names: Vec<&str> = Kind::ALL.iter().map(|k| k.name()).collect();
        Kind::ALL
            .into_iter()
            .find(|k| k.name() == text)
            .ok_or_else(|| unknown("engine", text, &names))
    }
}

/// An engine as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spec {
    /// Which kind.
    pub kind: Kind,
    /// Another build than the one on PATH: PostgreSQL's directory of binaries, or the
    /// `mysqld`/`mariadbd` file.
    pub path: Option<PathBuf>,
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            None => write!(f, "{}", self.kind),
            Some(path) => write!(f, "{}={}", self.kind, path.display()),
        }
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (kind, path) = match text.split_once('=') {
            Some((kind, path)) => (kind.parse()?, Some(PathBuf::from(path))),
            None => (text.parse()?, None),
        };
        if let Some(path) = &path {
            if matches!(kind, Kind::Sqlite | Kind::Null) {
                return Err(usage(format!(
                    "engine {kind} is built in: '={}' cannot name another build",
                    path.display()
                )));
            }
            if path.as_os_str().is_empty() {
                return Err(usage(format!(
                    "engine '{text}' names no path after the equals sign"
                )));
            }
        }
        Ok(Spec { kind, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_back() {
        for text in [
            "sqlite",
            "postgres",
            "postgres=/opt/pg/bin",
            "mysql=/opt/m/mysqld",
        ] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_unknown_kind_lists_the_valid_ones() {
        let message = "oracle".parse::<Spec>().unwrap_err().to_string();
        assert!(
            message.contains("sqlite, postgres, mysql, mariadb"),
            "{message}"
        );
        assert!("sqlite=/x".parse::<Spec>().is_err());
        assert!("postgres=".parse::<Spec>().is_err());
    }
}
