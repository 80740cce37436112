//! What must hold of the data after a load, whatever happened in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Options;
use super::databases::share;
use super::script::Schema;
use crate::engine::{Address, Session, connect};
use crate::error::{Context, Error, Result, bail};
use crate::sql::Dialect;

/// What was found when the data were checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Each invariant that held, with its numbers; none for scripts of the user's own.
    pub invariants: Vec<String>,
    /// Counters that each database keeps for itself, summed.
    pub activity: BTreeMap<String, f64>,
}

/// What was acknowledged since the data were made, the warm-up included.
pub(super) struct Acknowledged<'a> {
    pub options: &'a Options,
    pub by_database: &'a [u64],
    pub by_script: &'a [u64],
}

/// Sums over all databases.
#[derive(Default)]
struct Found {
    databases: u32,
    tuples: Vec<u64>,
    accounts: i64,
    tellers: i64,
    branches: i64,
    history: i64,
    history_rows: u64,
    sysbench_rows: u64,
}

impl Acknowledged<'_> {
    /// Looks into every database.
    ///
    /// # Errors
    /// An invariant that does not hold, with its numbers; the engine's words.
    pub fn check(&self, addresses: &[Address]) -> Result<Checked> {
        let schemas = self.schemas();
        let mut found = Found::default();
        let mut checked = Checked::default();
        for address in addresses {
            let mut session = connect(address)
                .map_err(Error::new)
                .context("cannot connect to check the data")?;
            if !session.answers() {
                return Ok(checked);
            }
            found.databases += 1;
            for schema in &schemas {
                found.look(*schema, session.as_mut(), self.options.tables()?)?;
            }
            cleaning(session.as_mut(), &mut checked.activity)?;
        }
        let mut rules = Vec::new();
        for schema in schemas {
            match schema {
                Schema::Tuples => self.tuples(&found, &mut rules)?,
                Schema::Pgbench => self.balances(&found, &mut rules),
                Schema::Sysbench => self.rows(&found, &mut rules),
            }
        }
        for (words, left, right) in rules {
            if left != right {
                bail!("the data are not what was acknowledged: {words}: {left} against {right}");
            }
            checked.invariants.push(format!("{words}: {left}"));
        }
        Ok(checked)
    }

    /// Those of which something is known: with a script of the user's own, nothing is.
    fn schemas(&self) -> Vec<Schema> {
        if self.options.scripts.iter().any(|s| s.text.is_some()) {
            return Vec::new();
        }
        self.options.schemas().into_iter().map(|(s, _)| s).collect()
    }

    fn committed(&self, of: impl Fn(&str) -> bool) -> u64 {
        let scripts = self.options.scripts.iter().zip(self.by_script);
        scripts.filter(|(s, _)| of(&s.name)).map(|(_, n)| n).sum()
    }

    /// Tuples found = preloaded + acknowledged; of each database, where all transactions
    /// are inserts.
    fn tuples(&self, found: &Found, rules: &mut Vec<(String, i64, i64)>) -> Result<()> {
        let databases = found.tuples.len() as u32;
        let preload = self.options.preload;
        if self.options.inserts_only() {
            for (index, (found, added)) in found.tuples.iter().zip(self.by_database).enumerate() {
                let expected = share(preload, databases, index as u32) + added;
                if *found != expected {
                    bail!(
                        "the data are not what was acknowledged: database {index} holds {found} \
                         tuples, {expected} were preloaded and acknowledged"
                    );
                }
            }
        }
        let added = self.committed(|name| name == "insert");
        rules.push((
            format!("tuples found = {preload} preloaded + {added} acknowledged"),
            found.tuples.iter().sum::<u64>() as i64,
            (preload + added) as i64,
        ));
        Ok(())
    }

    /// The balances of accounts, tellers and branches equal the history's sum.
    fn balances(&self, found: &Found, rules: &mut Vec<(String, i64, i64)>) {
        let simple = self.committed(|name| name == "simple-update");
        let all = self.committed(|name| name == "tpcb-like") + simple;
        rules.push((
            "history rows = acknowledged updates".to_string(),
            found.history_rows as i64,
            all as i64,
        ));
        let sum = found.history;
        rules.push((
            "account balances = history".to_string(),
            found.accounts,
            sum,
        ));
        // The simple script leaves tellers and branches alone.
        if simple == 0 {
            rules.push(("teller balances = history".to_string(), found.tellers, sum));
            rules.push(("branch balances = history".to_string(), found.branches, sum));
        }
    }

    /// Only `oltp_insert` and `oltp_delete` change the number of rows; how many rows the
    /// second still finds is not known.
    fn rows(&self, found: &Found, rules: &mut Vec<(String, i64, i64)>) {
        let added = self.committed(|name| name == "oltp_insert");
        if self.committed(|name| name == "oltp_delete") > 0 {
            return;
        }
        let tables = u64::from(self.options.tables().unwrap_or(1));
        let databases = found.databases;
        let each = |index| (share(self.options.preload, databases, index) / tables).max(1) * tables;
        let preload: u64 = (0..databases).map(each).sum();
        rules.push((
            format!("rows found = {preload} preloaded + {added} acknowledged"),
            found.sysbench_rows as i64,
            (preload + added) as i64,
        ));
    }
}

impl Found {
    fn look(&mut self, schema: Schema, session: &mut dyn Session, tables: u32) -> Result<()> {
        match schema {
            Schema::Tuples => {
                let count = number(session, "SELECT count(*) FROM tuples")?;
                self.tuples.push(count as u64);
            }
            Schema::Pgbench => {
                let mut sum = |table: &str, column: &str| {
                    number(
                        session,
                        &format!("SELECT sum({column}) FROM pgbench_{table}"),
                    )
                };
                self.accounts += sum("accounts", "abalance")?;
                self.tellers += sum("tellers", "tbalance")?;
                self.branches += sum("branches", "bbalance")?;
                self.history += sum("history", "delta")?;
                let rows = number(session, "SELECT count(*) FROM pgbench_history")?;
                self.history_rows += rows as u64;
            }
            Schema::Sysbench => {
                for table in 1..=tables {
                    let sql = format!("SELECT count(*) FROM sbtest{table}");
                    self.sysbench_rows += number(session, &sql)? as u64;
                }
            }
        }
        Ok(())
    }
}

/// One number; NULL (the sum of nothing) is zero.
fn number(session: &mut dyn Session, sql: &str) -> Result<i64> {
    let rows = session
        .values(sql)
        .map_err(Error::new)
        .with_context(|| format!("cannot check the data: {sql}"))?;
    match rows.first().and_then(|row| row.first()) {
        Some(None) => Ok(0),
        Some(Some(text)) => text
            .parse()
            .with_context(|| format!("cannot check the data: {sql} gives '{text}'")),
        None => bail!("cannot check the data: {sql} gives nothing"),
    }
}

/// What autovacuum did in this database.
fn cleaning(session: &mut dyn Session, sums: &mut BTreeMap<String, f64>) -> Result<()> {
    if session.dialect() != Dialect::Postgres {
        return Ok(());
    }
    for name in ["autovacuum_count", "autoanalyze_count"] {
        let sql = format!("SELECT sum({name}) FROM pg_stat_user_tables");
        *sums.entry(name.to_string()).or_default() += number(session, &sql)? as f64;
    }
    Ok(())
}
