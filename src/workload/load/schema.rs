//! The tables of the built-in scripts, and what is in them before the load.

use crate::engine::Session;
use crate::error::{Context, Error, Result};
use crate::sql::Dialect;

/// Tables that a script works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Schema {
    /// One table that only grows; an amount is its rows.
    Insert,
    /// pgbench's; an amount is its scale.
    Pgbench,
    /// sysbench's, one table; an amount is its rows.
    Sysbench,
}

/// Accounts of a branch.
pub const ACCOUNTS: u64 = 100_000;
const TELLERS: u64 = 10;
/// Rows that one statement inserts where the server cannot make them itself.
const BATCH: u64 = 1000;

/// Which rows (or branches) are to be made: `from` (exclusive) to `to` (inclusive).
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub from: u64,
    pub to: u64,
}

impl Schema {
    /// The schema of a built-in script; pgbench's for a script of the user's own.
    pub fn of(script: &str) -> Self {
        match script {
            "insert" => Schema::Insert,
            name if name.starts_with("oltp_") => Schema::Sysbench,
            _ => Schema::Pgbench,
        }
    }

    /// Creates the tables.
    pub(super) fn make(self, session: &mut dyn Session) -> Result<()> {
        let text = match self {
            Schema::Insert => include_str!("../../../sql/load/insert.schema.sql"),
            Schema::Pgbench => include_str!("../../../sql/load/pgbench.schema.sql"),
            Schema::Sysbench => include_str!("../../../sql/load/sysbench.schema.sql"),
        };
        let id_type = match session.dialect() {
            Dialect::Postgres => "SERIAL",
            Dialect::Mysql | Dialect::Mariadb => "INTEGER AUTO_INCREMENT",
            Dialect::Sqlite => "INTEGER",
        };
        let text = text.replace(":table", "1").replace(":id_type", id_type);
        let text: String = text.lines().filter(|line| !line.starts_with("--")).collect();
        for statement in text.split(';').map(str::trim).filter(|s| !s.is_empty()) {
            run(session, statement)?;
        }
        Ok(())
    }

    /// Fills them.
    pub(super) fn fill(self, session: &mut dyn Session, rows: Target) -> Result<()> {
        let Target { from, to } = rows;
        match self {
            Schema::Insert => series(
                session,
                "tuples (client, number, note)",
                "0, {i} * 7919 % 1000000007, \
                 'one tuple of a hundred bytes, much like those that an application logs'",
                (from, to),
            ),
            Schema::Pgbench => {
                series(session, "pgbench_branches", "{i}, 0, NULL", (from, to))?;
                series(
                    session,
                    "pgbench_tellers",
                    "{i}, ({i} - 1) / 10 + 1, 0, NULL",
                    (from * TELLERS, to * TELLERS),
                )?;
                series(
                    session,
                    "pgbench_accounts",
                    "{i}, ({i} - 1) / 100000 + 1, 0, ''",
                    (from * ACCOUNTS, to * ACCOUNTS),
                )
            }
            Schema::Sysbench => series(
                session,
                "sbtest1 (k, c, pad)",
                "{i} * 7919 % 1000000007, \
                 '68487932199-96439406143-93774651418-41631865787-96406072701-20604855487-25459966574-28203206787-41238978918-19503783441', \
                 '22195207048-70116052123-74140395089-76317954521-98694025897'",
                (from, to),
            ),
        }
    }

    /// Brings the statistics up to date, where that is a statement of its own.
    pub(super) fn finish(self, session: &mut dyn Session) -> Result<()> {
        let tables: &[&str] = match self {
            Schema::Insert => &["tuples"],
            Schema::Pgbench => &[
                "pgbench_branches",
                "pgbench_tellers",
                "pgbench_accounts",
                "pgbench_history",
            ],
            Schema::Sysbench => &["sbtest1"],
        };
        match session.dialect() {
            // Part of its vacuum.
            Dialect::Postgres => Ok(()),
            Dialect::Mysql | Dialect::Mariadb => run(
                session,
                &format!("ANALYZE TABLE {}", tables.join(", ")),
            ),
            Dialect::Sqlite => run(session, "ANALYZE"),
        }
    }
}

fn run(session: &mut dyn Session, sql: &str) -> Result<()> {
    session
        .execute(sql)
        .map_err(Error::new)
        .with_context(|| format!("statement failed: {sql}"))?;
    Ok(())
}

/// Inserts a row for each `i` after `from` up to `to`; `values` has `{i}` for it.
fn series(
    session: &mut dyn Session,
    into: &str,
    values: &str,
    (from, to): (u64, u64),
) -> Result<()> {
    if from >= to {
        return Ok(());
    }
    let first = from + 1;
    match session.dialect() {
        Dialect::Postgres => {
            let values = values.replace("{i}", "i");
            let sql = format!(
                "INSERT INTO {into} SELECT {values} FROM generate_series({first}, {to}) AS i"
            );
            run(session, &sql)
        }
        Dialect::Sqlite => {
            let values = values.replace("{i}", "i");
            let sql = format!(
                "WITH RECURSIVE s(i) AS (VALUES({first}) UNION ALL SELECT i + 1 FROM s \
                 WHERE i < {to}) INSERT INTO {into} SELECT {values} FROM s"
            );
            run(session, &sql)
        }
        Dialect::Mysql | Dialect::Mariadb => {
            let values = values.replace(" / 10", " DIV 10").replace(" / 100000", " DIV 100000");
            let mut sql = String::new();
            for start in (first..=to).step_by(BATCH as usize) {
                sql.clear();
                sql.push_str(&format!("INSERT INTO {into} VALUES "));
                for i in start..=to.min(start + BATCH - 1) {
                    let comma = if i == start { "" } else { "," };
                    sql.push_str(comma);
                    sql.push('(');
                    sql.push_str(&values.replace("{i}", &i.to_string()));
                    sql.push(')');
                }
                run(session, &sql)?;
            }
            Ok(())
        }
    }
}
