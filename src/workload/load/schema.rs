//! What the tables of the built-in scripts hold before a load.

use super::script::Schema;
use crate::engine::Session;
use crate::error::{Context, Error, Result};
use crate::sql::Dialect;

/// Accounts of a branch.
const ACCOUNTS: u64 = 100_000;
const TELLERS: u64 = 10;
/// Rows that one statement inserts where the server cannot make them itself.
const BATCH: u64 = 1000;
/// What fills `tuples`, as the script `insert` does.
const NOTE: &str = "one tuple of a hundred bytes, much like those that an application logs";

/// Makes the tables of `schema` with `amount` rows (pgbench: branches) and brings the
/// statistics up to date, where that is a statement of its own. `tables` is sysbench's
/// number of tables, which share the rows.
pub(super) fn make(
    schema: Schema,
    session: &mut dyn Session,
    amount: u64,
    tables: u32,
) -> Result<()> {
    let statements = schema.statements(session.dialect(), tables);
    let (indexes, creates): (Vec<_>, Vec<_>) = statements
        .into_iter()
        .partition(|s| s.starts_with("CREATE INDEX"));
    creates.iter().try_for_each(|s| run(session, s))?;
    fill(schema, session, amount, tables)?;
    indexes.iter().try_for_each(|s| run(session, s))?;
    match session.dialect() {
        // Part of its vacuum.
        Dialect::Postgres => Ok(()),
        Dialect::Mysql | Dialect::Mariadb => {
            let names = names(schema, tables).join(", ");
            run(session, &format!("ANALYZE TABLE {names}"))
        }
        Dialect::Sqlite => run(session, "ANALYZE"),
    }
}

/// The tables.
fn names(schema: Schema, tables: u32) -> Vec<String> {
    match schema {
        Schema::Tuples => vec!["tuples".to_string()],
        Schema::Pgbench => ["branches", "tellers", "accounts", "history"]
            .map(|name| format!("pgbench_{name}"))
            .to_vec(),
        Schema::Sysbench => (1..=tables).map(|n| format!("sbtest{n}")).collect(),
    }
}

fn fill(schema: Schema, session: &mut dyn Session, amount: u64, tables: u32) -> Result<()> {
    match schema {
        Schema::Tuples => series(
            session,
            "tuples (client, number, note)",
            &format!("0, {{i}} * 7919 % 1000000007, '{NOTE}'"),
            amount,
        ),
        Schema::Pgbench => {
            series(session, "pgbench_branches", "{i}, 0, NULL", amount)?;
            series(
                session,
                "pgbench_tellers",
                "{i}, ({i} - 1) / 10 + 1, 0, NULL",
                amount * TELLERS,
            )?;
            series(
                session,
                "pgbench_accounts",
                "{i}, ({i} - 1) / 100000 + 1, 0, ''",
                amount * ACCOUNTS,
            )
        }
        Schema::Sysbench => {
            let rows = (amount / u64::from(tables)).max(1);
            let digits = |template: &str| template.replace("###", "739");
            for table in 1..=tables {
                series(
                    session,
                    &format!("sbtest{table} (k, c, pad)"),
                    &format!(
                        "{{i}} * 7919 % {rows} + 1, '{}', '{}'",
                        digits(Schema::C),
                        digits(Schema::PAD)
                    ),
                    rows,
                )?;
            }
            Ok(())
        }
    }
}

fn run(session: &mut dyn Session, sql: &str) -> Result<()> {
    session
        .execute(sql)
        .map_err(Error::new)
        .with_context(|| format!("statement failed: {}", sql.get(..160).unwrap_or(sql)))?;
    Ok(())
}

/// Inserts a row for each `i` from 1 to `to`; `values` has `{i}` for it.
fn series(session: &mut dyn Session, into: &str, values: &str, to: u64) -> Result<()> {
    if to == 0 {
        return Ok(());
    }
    match session.dialect() {
        Dialect::Postgres => {
            let values = values.replace("{i}", "i");
            let from = format!("FROM generate_series(1, {to}::bigint) AS i");
            run(
                session,
                &format!("INSERT INTO {into} SELECT {values} {from}"),
            )
        }
        Dialect::Sqlite => {
            let values = values.replace("{i}", "i");
            let sql = format!(
                "WITH RECURSIVE s(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM s \
                 WHERE i < {to}) INSERT INTO {into} SELECT {values} FROM s"
            );
            run(session, &sql)
        }
        Dialect::Mysql | Dialect::Mariadb => batches(session, into, values, to),
    }
}

/// Literal rows, a thousand a statement and ten statements a transaction.
fn batches(session: &mut dyn Session, into: &str, values: &str, to: u64) -> Result<()> {
    let values = values.replace(" / ", " DIV ");
    let mut sql = String::new();
    for (number, start) in (1..=to).step_by(BATCH as usize).enumerate() {
        if number % 10 == 0 {
            session.begin().map_err(Error::new)?;
        }
        sql.clear();
        sql.push_str(&format!("INSERT INTO {into} VALUES "));
        let end = to.min(start + BATCH - 1);
        for i in start..=end {
            sql.push_str(if i == start { "(" } else { ",(" });
            sql.push_str(&values.replace("{i}", &i.to_string()));
            sql.push(')');
        }
        run(session, &sql)?;
        if number % 10 == 9 || end == to {
            session.commit().map_err(Error::new)?;
        }
    }
    Ok(())
}
