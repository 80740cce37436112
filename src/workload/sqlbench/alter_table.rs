//! Phase `alter-table`: columns and indexes that come and go.
//!
//! The phase's total starts after the connection has been made.

use std::fmt::Write;

use super::client::Client;
use super::{Options, Profile};
use crate::error::{Result, bail};
use crate::sql::{Arg, Limits, Table, Template};
use crate::workload::Bench;

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    rows: u64,
    /// Columns at the start.
    first: u64,
    /// Columns after all have been added.
    fields: u64,
    /// Columns an ALTER TABLE.
    at_once: u64,
}

impl Counts {
    fn new(options: &Options, limits: &Limits) -> Self {
        let first = limits.max_index.min(8);
        let most = limits.max_columns.min((limits.query_size - 30) / 14);
        let fields = most.min(1000);
        let (rows, fields, steps) = match options.profile {
            Profile::Original => (1000, fields, 100),
            Profile::Mariadb => (1000, fields, 10_000),
            Profile::SmallTest => (100, fields / 10, 100),
            Profile::Short => (500, fields / 5, 100),
        };
        let at_once = if limits.alter_add_multi_col {
            (fields - first) / options.scaled(steps) + 1
        } else {
            1
        };
        Counts {
            rows,
            first,
            fields,
            at_once,
        }
    }

    /// The columns that each step adds, first and last.
    fn additions(&self) -> Vec<(u64, u64)> {
        (self.first + 1..=self.fields)
            .step_by(self.at_once as usize)
            .map(|from| (from, self.fields.min(from + self.at_once - 1)))
            .collect()
    }

    /// The columns that each step drops, first and last, downwards. As in the suite a
    /// step leaves out the column that the count stands at, so that some stay.
    fn removals(&self) -> Vec<(u64, u64)> {
        let mut steps = Vec::new();
        let mut count = self.fields;
        while count > self.first {
            let end = self.first.max(count.saturating_sub(self.at_once));
            steps.push((count - 1, end));
            count = end - 1;
        }
        steps
    }
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let mut client = Client::connect(bench, "alter-table", options)?;
    let client = &mut client;
    let counts = Counts::new(options, &client.limits);
    if counts.fields <= counts.first {
        bail!("the server takes only {} columns", counts.fields);
    }
    bench.phase_begins();
    client.drop_leftovers(&["bench"])?;
    let table = Table {
        columns: (1..=counts.first)
            .map(|n| format!("i{n} int NOT NULL"))
            .collect(),
        indexes: Vec::new(),
    };
    client.create("bench", &table)?;
    insert(bench, client, &counts)?;
    add(bench, client, &counts)?;
    index(bench, client, "create_index", counts.first)?;
    index(bench, client, "drop_index", counts.first)?;
    if client.limits.alter_table_dropcol {
        drop_columns(bench, client, &counts)?;
    }
    client.drop("bench")
}

/// `insert`: inside the window the INSERT of each row, and with `--fast` their transaction.
fn insert(bench: &mut Bench<'_>, client: &mut Client, counts: &Counts) -> Result<()> {
    let values = vec!["{i}"; counts.first as usize].join(",");
    let insert = Template::new(&client.texts.text("insert").replace("{values}", &values));
    let mut sql = String::new();
    let mut op = bench.start("insert", counts.rows)?;
    client.begin(&mut op)?;
    for i in 0..counts.rows {
        insert.fill(&mut sql, &[i.into()]);
        op.execute(client.session(), &sql)?;
    }
    client.commit(&mut op)?;
    op.finish()
}

/// Builds ALTER TABLE statements.
struct Changes {
    alter: Template,
    change: Template,
    list: String,
    one: String,
    sql: String,
}

impl Changes {
    fn new(client: &Client, change: &str) -> Self {
        Changes {
            alter: client.texts.template("alter"),
            change: client.texts.template(change),
            list: String::new(),
            one: String::new(),
            sql: String::new(),
        }
    }

    fn of(&mut self, columns: impl Iterator<Item = u64>) -> &str {
        self.list.clear();
        for n in columns {
            let comma = if self.list.is_empty() { "" } else { "," };
            self.change.fill(&mut self.one, &[n.into()]);
            let written = write!(self.list, "{comma}{}", self.one);
            debug_assert!(written.is_ok(), "a String takes everything");
        }
        self.alter.fill(&mut self.sql, &[Arg::Text(&self.list)]);
        &self.sql
    }
}

/// `alter_table_add`: inside the window one ALTER TABLE a step. Columns that the time
/// limit left out are added after it.
fn add(bench: &mut Bench<'_>, client: &mut Client, counts: &Counts) -> Result<()> {
    let steps = counts.additions();
    let mut changes = Changes::new(client, "add");
    let mut op = bench.start("alter_table_add", steps.len() as u64)?;
    for (from, to) in &steps {
        op.execute(client.session(), changes.of(*from..=*to))?;
        if op.over_limit(op.statements()) {
            break;
        }
    }
    let done = op.statements() as usize;
    op.finish()?;
    for (from, to) in &steps[done..] {
        client.untimed(changes.of(*from..=*to))?;
    }
    Ok(())
}

/// `create_index`, `drop_index`: inside the window one statement for each of the columns
/// of the start.
fn index(bench: &mut Bench<'_>, client: &mut Client, name: &str, columns: u64) -> Result<()> {
    let statement = client.texts.template(name);
    let mut sql = String::new();
    let mut op = bench.start(name, columns)?;
    for n in 1..=columns {
        statement.fill(&mut sql, &[n.into()]);
        op.execute(client.session(), &sql)?;
    }
    op.finish()
}

/// `alter_table_drop`: inside the window one ALTER TABLE a step.
fn drop_columns(bench: &mut Bench<'_>, client: &mut Client, counts: &Counts) -> Result<()> {
    let steps = counts.removals();
    let mut changes = Changes::new(client, "drop");
    let mut op = bench.start("alter_table_drop", steps.len() as u64)?;
    for (from, to) in &steps {
        op.execute(client.session(), changes.of((*to..=*from).rev()))?;
        if op.over_limit(op.statements()) {
            break;
        }
    }
    op.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile, table};
    use super::*;
    use crate::sql::Dialect;

    fn steps(of: Profile, dialect: Dialect) -> (usize, usize) {
        let counts = Counts::new(&profile(of), &Limits::of(dialect));
        (counts.additions().len(), counts.removals().len())
    }

    #[test]
    fn steps_are_those_of_the_suite() {
        assert_eq!(steps(Profile::Original, Dialect::Mysql), (100, 91));
        assert_eq!(steps(Profile::Original, Dialect::Mariadb), (100, 91));
        assert_eq!(steps(Profile::Original, Dialect::Postgres).0, 992);
        assert_eq!(steps(Profile::Original, Dialect::Sqlite), (992, 496));
        assert_eq!(steps(Profile::SmallTest, Dialect::Mysql), (92, 46));
        let counts = Counts::new(&profile(Profile::Original), &Limits::of(Dialect::Mysql));
        assert_eq!(counts.additions()[0], (9, 18));
        assert_eq!(counts.additions()[99], (999, 1000));
        assert_eq!(counts.removals()[0], (999, 990));
        assert_eq!(counts.removals()[90], (9, 8));
    }

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("alter-table", &profile(Profile::SmallTest));
        let expected = table(
            "insert (100)
            alter_table_add (92)
            create_index (8)
            drop_index (8)
            alter_table_drop (46)",
        );
        assert_eq!(lines(&found), expected);
    }
}
