//! SQL: the dialects, what each can do, table definitions and the statement texts of
//! `/sql`. Knows no connection and no workload.

mod ddl;
mod limits;
mod template;
mod texts;

pub use ddl::Table;
pub use limits::Limits;
pub use template::{Arg, Template};
pub use texts::{PHASES, Texts};

use serde::{Deserialize, Serialize};

/// The SQL an engine speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL 8 and later.
    Mysql,
    /// MariaDB.
    Mariadb,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 4] = [
        Dialect::Sqlite,
        Dialect::Postgres,
        Dialect::Mysql,
        Dialect::Mariadb,
    ];

    /// The name in the file names of `/sql`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Sqlite => "sqlite",
            Dialect::Postgres => "postgres",
            Dialect::Mysql => "mysql",
            Dialect::Mariadb => "mariadb",
        }
    }

    /// True for the two that share MySQL's syntax.
    pub fn is_mysql(self) -> bool {
        matches!(self, Dialect::Mysql | Dialect::Mariadb)
    }
}
