//! Phase `transactions`: the same statements committed at once, one by one, and rolled
//! back.
//!
//! No operation has a time limit, and `--fast` changes nothing. The phase's total starts
//! before the connection is made. The suite sends a fraction for `grp` and lets the server
//! round it; this sends the integer, so that all engines store the same.

use super::client::Client;
use super::{Options, Profile, random::letter};
use crate::error::{Error, Result, bail};
use crate::sql::{Arg, Table, Template};
use crate::workload::{Bench, Op};

/// Letters of `region`: A to Z and the one after.
const REGIONS: u64 = 27;

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    loops: u64,
    /// Statements between two rollbacks.
    batch: u64,
}

impl Counts {
    fn new(options: &Options) -> Self {
        let (loops, batch) = match options.profile {
            Profile::Original => (10_000, 100),
            Profile::Mariadb => (500_000, 10_000),
            Profile::SmallTest => (100, 10),
            Profile::Short => (1_000, 100),
        };
        Counts {
            loops: options.scaled(loops),
            batch,
        }
    }
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let counts = Counts::new(options);
    bench.phase_begins();
    let mut client = Client::connect(bench, "transactions", options)?;
    refuse_without_transactions(&mut client)?;
    let mut phase = Transactions {
        bench,
        client,
        counts,
        sql: String::new(),
        letter: String::new(),
    };
    phase.create()?;
    phase.run()?;
    phase.client.drop("bench1")?;
    phase.client.drop("bench2")
}

/// A storage engine that ignores COMMIT and ROLLBACK would give figures without meaning.
fn refuse_without_transactions(client: &mut Client) -> Result<()> {
    let Some(sql) = client.texts.get("storage_engine").map(str::to_string) else {
        return Ok(());
    };
    let rows = client.session().values(&sql).map_err(Error::new)?;
    let Some(row) = rows.first() else {
        return Ok(());
    };
    let field = |n: usize| row.get(n).cloned().flatten().unwrap_or_default();
    if field(1) != "YES" {
        bail!(
            "{} has no transactions; set default_storage_engine to one that has, such as InnoDB",
            field(0)
        );
    }
    Ok(())
}

struct Transactions<'p, 'a> {
    bench: &'p mut Bench<'a>,
    client: Client,
    counts: Counts,
    sql: String,
    letter: String,
}

/// What one statement does to the row `id`.
enum Change {
    /// Inserts it, with `rev` counting down from this.
    Insert(u64),
    /// Sets `updated` to this.
    Update(u64),
    Delete,
}

/// One operation.
struct Operation<'t> {
    name: &'t str,
    text: &'t str,
    change: Change,
    ids: std::ops::Range<u64>,
}

impl Transactions<'_, '_> {
    fn create(&mut self) -> Result<()> {
        let table = Table::new(
            &[
                "idn int NOT NULL",
                "rev_idn int NOT NULL",
                "region char(1) NOT NULL",
                "grp int NOT NULL",
                "updated tinyint NOT NULL",
            ],
            &["primary key (idn)", "unique (region,grp)"],
        );
        self.client.drop_leftovers(&["bench1", "bench2"])?;
        self.client.create("bench1", &table)?;
        self.client.create("bench2", &table)
    }

    fn run(&mut self) -> Result<()> {
        let loops = self.counts.loops;
        let operation = |name, text, change| Operation {
            name,
            text,
            change,
            ids: 0..loops,
        };
        let insert = || Change::Insert(loops - 1);
        self.committed(&operation("insert_commit", "insert_1", insert()))?;
        self.autocommitted(&operation("insert_autocommit", "insert_2", insert()))?;
        self.check("count_2", 0, loops)?;
        self.rolled_back(&Operation {
            name: "insert_rollback",
            text: "insert_1",
            change: Change::Insert(2 * loops),
            ids: loops..2 * loops,
        })?;
        self.check("count_1", 0, loops)?;
        self.rolled_back(&operation("update_rollback", "update_1", Change::Update(2)))?;
        self.rolled_back(&operation("delete_rollback", "delete_1", Change::Delete))?;
        self.check("count_1", 0, loops)?;
        self.committed(&operation("update_commit", "update_1", Change::Update(1)))?;
        self.check("count_1", 1, loops)?;
        let update = operation("update_autocommit", "update_2", Change::Update(1));
        self.autocommitted(&update)?;
        self.check("count_2", 1, loops)?;
        self.committed(&operation("delete_commit", "delete_1", Change::Delete))?;
        self.check("count_1", 1, 0)?;
        self.autocommitted(&operation("delete_autocommit", "delete_2", Change::Delete))?;
        self.check("count_2", 1, 0)
    }

    /// `insert_commit`, `update_commit`, `delete_commit`: inside the window all statements
    /// and their commit, but not the opening of the transaction.
    fn committed(&mut self, operation: &Operation<'_>) -> Result<()> {
        self.client.session().begin().map_err(Error::new)?;
        let statement = self.client.texts.template(operation.text);
        let mut op = self.bench.start(operation.name, self.counts.loops)?;
        for id in operation.ids.clone() {
            write(
                &mut self.sql,
                &mut self.letter,
                &statement,
                &operation.change,
                id,
            );
            op.execute(self.client.session(), &self.sql)?;
        }
        op.uncounted("commit", || self.client.session().commit())?;
        op.finish()
    }

    /// `insert_autocommit`, `update_autocommit`, `delete_autocommit`: inside the window
    /// all statements, each its own transaction.
    fn autocommitted(&mut self, operation: &Operation<'_>) -> Result<()> {
        let statement = self.client.texts.template(operation.text);
        let mut op = self.bench.start(operation.name, self.counts.loops)?;
        for id in operation.ids.clone() {
            write(
                &mut self.sql,
                &mut self.letter,
                &statement,
                &operation.change,
                id,
            );
            op.execute(self.client.session(), &self.sql)?;
        }
        op.finish()
    }

    /// `insert_rollback`, `update_rollback`, `delete_rollback`: inside the window all
    /// statements, a rollback after each batch and after what is left, and the opening of
    /// every transaction but the first. Counts the rollbacks.
    fn rolled_back(&mut self, operation: &Operation<'_>) -> Result<()> {
        let Counts { loops, batch } = self.counts;
        self.client.session().begin().map_err(Error::new)?;
        let statement = self.client.texts.template(operation.text);
        let rollbacks = loops.div_ceil(batch);
        let mut op = self.bench.start(operation.name, rollbacks)?;
        op.print_count(rollbacks);
        op.print_rows(loops);
        for id in operation.ids.clone() {
            if op.statements() > 0 && op.statements() % batch == 0 {
                roll_back(&mut op, &mut self.client)?;
                op.uncounted("begin", || self.client.session().begin())?;
            }
            write(
                &mut self.sql,
                &mut self.letter,
                &statement,
                &operation.change,
                id,
            );
            op.execute(self.client.session(), &self.sql)?;
        }
        roll_back(&mut op, &mut self.client)?;
        op.finish()
    }

    /// Outside the windows: how many rows have `updated` at `value`.
    fn check(&mut self, text: &str, value: u64, expected: u64) -> Result<()> {
        self.client
            .texts
            .template(text)
            .fill(&mut self.sql, &[value.into()]);
        self.client.check(&self.sql, expected)
    }
}

fn roll_back(op: &mut Op<'_, '_>, client: &mut Client) -> Result<()> {
    op.uncounted("rollback", || client.session().rollback())
}

/// Writes the statement for the row `id`.
fn write(sql: &mut String, region: &mut String, statement: &Template, change: &Change, id: u64) {
    match change {
        Change::Insert(last) => {
            region.clear();
            region.push(letter(id % REGIONS));
            // Within a region these are exactly one apart.
            let grp = (id + REGIONS / 2) / REGIONS;
            let rev = *last as i64 - id as i64;
            let args = [id.into(), rev.into(), Arg::Text(region), grp.into()];
            statement.fill(sql, &args);
        }
        Change::Update(value) => statement.fill(sql, &[(*value).into(), id.into()]),
        Change::Delete => statement.fill(sql, &[id.into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile, table};
    use super::*;

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("transactions", &profile(Profile::SmallTest));
        let expected = table(
            "insert_commit (100)
            insert_autocommit (100)
            insert_rollback (10:100)
            update_rollback (10:100)
            delete_rollback (10:100)
            update_commit (100)
            update_autocommit (100)
            delete_commit (100)
            delete_autocommit (100)",
        );
        assert_eq!(lines(&found), expected);
    }

    #[test]
    fn a_rest_is_rolled_back_too() {
        let options = Options {
            loops: 0.37,
            ..profile(Profile::SmallTest)
        };
        let found = on_sqlite("transactions", &options);
        assert_eq!(lines(&found)[2], "insert_rollback (4:37)");
    }

    #[test]
    fn counts_are_those_of_the_suite() {
        let counts = |p| {
            let counts = Counts::new(&profile(p));
            (counts.loops, counts.batch)
        };
        assert_eq!(counts(Profile::Original), (10_000, 100));
        assert_eq!(counts(Profile::Mariadb), (500_000, 10_000));
    }
}
