//! Phase `big-tables`: a table of a thousand columns.
//!
//! No operation has a time limit, and each statement commits by itself even with
//! `--fast`. The phase's total starts after a left-over table has been dropped. All texts
//! are built once.

use super::client::Client;
use super::{Options, Profile};
use crate::error::Result;
use crate::sql::{Arg, Limits, Table};
use crate::workload::{Bench, Rows};

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    loops: u64,
    fields: u64,
}

impl Counts {
    fn new(options: &Options, limits: &Limits) -> Self {
        let most = limits.max_columns.min((limits.query_size - 30) / 14);
        let fields = most.min(1000);
        let few = if fields < 100 { 10 } else { 1 };
        let (loops, fields) = match options.profile {
            Profile::Original => (1_000 * few, fields),
            Profile::Mariadb => (70_000 * few, fields),
            Profile::SmallTest => (100 * few, fields / 10),
            Profile::Short => (200 * few, fields),
        };
        Counts {
            loops: options.scaled(loops),
            fields,
        }
    }
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let mut client = Client::connect(bench, "big-tables", options)?;
    let client = &mut client;
    let Counts { loops, fields } = Counts::new(options, &client.limits);
    let columns: Vec<String> = (1..=fields).map(|n| format!("i{n} int")).collect();
    let names: Vec<String> = (1..=fields).map(|n| format!("i{n}")).collect();
    let (names, values) = (names.join(","), vec!["1"; fields as usize].join(","));
    let text = |name: &str| {
        let template = client.texts.template(name);
        let args: Vec<Arg<'_>> = template
            .places()
            .iter()
            .map(|place| if place == "fields" { &names } else { &values })
            .map(|text| Arg::Text(text))
            .collect();
        let mut sql = String::new();
        template.fill(&mut sql, &args);
        sql
    };
    let [all, by_name] = ["select_all", "select_fields"].map(text);
    let [insert, insert_by_name] = ["insert", "insert_fields"].map(text);

    client.drop_leftovers(&["bench1"])?;
    bench.phase_begins();
    let table = Table {
        columns,
        indexes: Vec::new(),
    };
    client.create("bench1", &table)?;
    client.untimed(&insert)?;
    client.vacuum(bench, &[])?;
    select(bench, client, &all, loops)?;
    select(bench, client, &by_name, loops)?;
    insert_fetched(bench, client, &insert, loops)?;
    client.vacuum(bench, &[])?;
    insert_done(bench, client, &insert_by_name, loops)?;
    client.drop("bench1")?;
    client.vacuum(bench, &[])
}

/// `select_many_fields`, with `*` and with all names: inside the window query and fetch of
/// one row.
fn select(bench: &mut Bench<'_>, client: &mut Client, sql: &str, loops: u64) -> Result<()> {
    let mut op = bench.start("select_many_fields", loops)?;
    for _ in 0..loops {
        op.fetch(client.session(), sql, Rows::Exactly(1))?;
    }
    op.finish()
}

/// `insert_many_fields` without names: inside the window an INSERT that is sent like a
/// query.
fn insert_fetched(bench: &mut Bench<'_>, client: &mut Client, sql: &str, loops: u64) -> Result<()> {
    let mut op = bench.start("insert_many_fields", loops)?;
    for _ in 0..loops {
        op.fetch(client.session(), sql, Rows::Exactly(0))?;
    }
    op.finish()
}

/// `insert_many_fields` with all names: inside the window the INSERT.
fn insert_done(bench: &mut Bench<'_>, client: &mut Client, sql: &str, loops: u64) -> Result<()> {
    let mut op = bench.start("insert_many_fields", loops)?;
    for _ in 0..loops {
        op.execute(client.session(), sql)?;
    }
    op.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile, table};
    use super::*;
    use crate::sql::Dialect;

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("big-tables", &profile(Profile::SmallTest));
        let expected = table(
            "select_many_fields (100)
            select_many_fields (100)
            insert_many_fields (100)
            insert_many_fields (100)",
        );
        assert_eq!(lines(&found), expected);
    }

    #[test]
    fn counts_are_those_of_the_suite() {
        for dialect in Dialect::ALL {
            let counts = |p| {
                let counts = Counts::new(&profile(p), &Limits::of(dialect));
                (counts.loops, counts.fields)
            };
            assert_eq!(counts(Profile::Original), (1000, 1000));
            assert_eq!(counts(Profile::SmallTest), (100, 100));
            assert_eq!(counts(Profile::Mariadb), (70_000, 1000));
        }
    }
}
