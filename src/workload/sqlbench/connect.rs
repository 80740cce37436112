//! Phase `connect`: connecting, and sending the smallest of queries.
//!
//! No operation has a time limit. The phase's total starts with its first operation and
//! ends after the last connection is closed. A number that changes is in the text of most
//! queries, so that no query cache answers them.

use std::time::Duration;

use super::client::Client;
use super::{Options, Profile};
use crate::engine::{Address, Param, Session, SqlError, connect};
use crate::error::{Context, Error, Result, bail};
use crate::sql::{Limits, Table, Template};
use crate::workload::{Bench, Rows};

/// The longest text of `select_big_str`.
const LONGEST_TEXT: u64 = 65_000;

/// How often a connection is tried before it counts as refused.
const TRIES: u32 = 20;

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    /// Queries on one connection.
    loops: u64,
    /// Connections, and queries of the big text.
    connects: u64,
}

impl Counts {
    fn new(options: &Options) -> Self {
        let loops = options.scaled(match options.profile {
            Profile::Original => 100_000,
            Profile::Mariadb => 500_000,
            Profile::SmallTest => 1_000,
            Profile::Short => 5_000,
        });
        Counts {
            loops,
            connects: (loops / 10).max(1),
        }
    }
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let counts = Counts::new(options);
    let texts = {
        let client = Client::connect(bench, "connect", options)?;
        client.texts
    };
    let simple = texts.template("select_simple");
    let row = texts.template("select_row");
    connect_only(bench, counts.connects)?;
    let pause = Some(Duration::from_millis(10));
    connect_and_select(
        bench,
        "connect+select_simple",
        pause,
        &simple,
        counts.connects,
    )?;
    let mut client = Client::connect(bench, "connect", options)?;
    simple_selects(bench, &mut client, &counts)?;

    one_row(bench, &mut client)?;
    drop(client);
    connect_and_select(bench, "connect+select_1_row", None, &row, counts.connects)?;
    let mut client = Client::connect(bench, "connect", options)?;
    row_selects(bench, &mut client, &counts)?;
    client.drop("bench1")?;
    client.vacuum(bench, &[])?;
    big_text(bench, &mut client, counts.connects)
}

/// Connects, and tries again some times: a server may still be busy with closing the
/// connections before. `pause` grows with each try.
fn connect_patiently(
    address: &Address,
    pause: Option<Duration>,
) -> Result<Box<dyn Session>, SqlError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match connect(address) {
            Err(_) if tries < TRIES => std::thread::sleep(pause.unwrap_or_default() * tries),
            answer => return answer,
        }
    }
}

/// `connect`: inside the window connect and disconnect.
fn connect_only(bench: &mut Bench<'_>, loops: u64) -> Result<()> {
    let address = bench.address();
    let pause = Some(Duration::from_millis(10));
    let mut op = bench.start("connect", loops)?;
    for _ in 0..loops {
        op.step("connect", || connect_patiently(address, pause).map(drop))?;
    }
    op.finish()
}

/// `connect+select_simple`, `connect+select_1_row`: inside the window connect, a query of
/// one row, and disconnect, as one step.
fn connect_and_select(
    bench: &mut Bench<'_>,
    name: &str,
    pause: Option<Duration>,
    query: &Template,
    loops: u64,
) -> Result<()> {
    let address = bench.address();
    let mut sql = String::new();
    let mut op = bench.start(name, loops)?;
    for i in 0..loops {
        query.fill(&mut sql, &[i.into()]);
        let found = op.step(&sql, || {
            let mut session = connect_patiently(address, pause)?;
            let rows = session.execute(&sql)?;
            Ok(if session.answers() { rows } else { 1 })
        })?;
        if found != 1 {
            bail!("operation {name}: {found} rows, expected 1: {sql}");
        }
    }
    op.finish()
}

/// Inside the window: the same query with a changing number.
fn counting(
    bench: &mut Bench<'_>,
    client: &mut Client,
    (name, text): (&str, &str),
    (loops, rows): (u64, u64),
) -> Result<()> {
    let query = client.texts.template(text);
    let mut sql = String::new();
    let mut op = bench.start(name, loops)?;
    for i in 0..loops {
        query.fill(&mut sql, &[i.into()]);
        op.query(client.session(), &sql, Rows::Exactly(rows))?;
    }
    op.finish()
}

/// Inside the window: one and the same query of one row.
fn unchanging(
    bench: &mut Bench<'_>,
    client: &mut Client,
    (name, text): (&str, &str),
    loops: u64,
) -> Result<()> {
    let sql = client.texts.text(text).to_string();
    let mut op = bench.start(name, loops)?;
    for _ in 0..loops {
        op.query(client.session(), &sql, Rows::Exactly(1))?;
    }
    op.finish()
}

/// `select_simple`, `select_simple_cache`: queries of no table.
fn simple_selects(bench: &mut Bench<'_>, client: &mut Client, counts: &Counts) -> Result<()> {
    let names = ("select_simple", "select_simple");
    counting(bench, client, names, (counts.loops, 1))?;
    let names = ("select_simple_cache", "select_simple_cache");
    unchanging(bench, client, names, counts.loops)
}

/// Makes the table of the next queries.
fn one_row(bench: &mut Bench<'_>, client: &mut Client) -> Result<()> {
    let table = Table::new(
        &["a int NOT NULL", "i int", "s char(10)"],
        &["primary key (a)"],
    );
    client.drop_leftovers(&["bench1"])?;
    client.create("bench1", &table)?;
    insert_row(client, 1, "AAA")?;
    client.vacuum(bench, &[])
}

fn insert_row(client: &mut Client, a: u64, text: &str) -> Result<()> {
    let mut sql = String::new();
    let insert = client.texts.template("insert");
    insert.fill(&mut sql, &[a.into(), (100 * a).into(), text.into()]);
    client.untimed(&sql)
}

/// `select_1_row`, `select_1_row_cache`, `select_2_rows`, `select_column+column`.
fn row_selects(bench: &mut Bench<'_>, client: &mut Client, counts: &Counts) -> Result<()> {
    let names = ("select_1_row", "select_row");
    counting(bench, client, names, (counts.loops, 1))?;
    let names = ("select_1_row_cache", "select_row_cache");
    unchanging(bench, client, names, counts.loops)?;
    insert_row(client, 2, "BBB")?;
    let names = ("select_2_rows", "select_row");
    counting(bench, client, names, (counts.loops, 2))?;
    let names = ("select_column+column", "select_column+column");
    counting(bench, client, names, (counts.loops, 2))
}

/// `select_big_str`: inside the window prepare, execute and fetch of one long text. Its
/// length is checked once, before.
fn big_text(bench: &mut Bench<'_>, client: &mut Client, loops: u64) -> Result<()> {
    let length = text_length(&client.limits);
    insert_text(bench, client, length)?;
    let sql = client.texts.text("select_blob").to_string();
    if let Some(text) = client.value(&sql)?
        && text.len() as u64 != length
    {
        bail!("a text of {length} bytes came back with {}", text.len());
    }
    let query = client.texts.template("select_big_str");
    let mut sql = String::new();
    let mut op = bench.start("select_big_str", loops)?;
    for i in 0..loops {
        query.fill(&mut sql, &[i.into()]);
        op.prepare_and_fetch(client.session(), &sql, Rows::Exactly(1))?;
    }
    op.finish()?;
    client.drop("bench1")?;
    client.vacuum(bench, &[])
}

fn text_length(limits: &Limits) -> u64 {
    limits
        .max_text_size
        .min(limits.query_size - 30)
        .min(LONGEST_TEXT)
}

fn insert_text(bench: &mut Bench<'_>, client: &mut Client, length: u64) -> Result<()> {
    client.create("bench1", &Table::new(&["b blob"], &[]))?;
    client.vacuum(bench, &[])?;
    let insert = client.texts.text("insert_blob").to_string();
    let text = "A".repeat(length as usize);
    let session = client.session();
    let inserted = session.prepare(&insert).and_then(|statement| {
        session.fetch_prepared(statement, &[Param::Text(&text)])?;
        session.finish(statement)
    });
    inserted
        .map_err(Error::new)
        .context("cannot insert the long text")?;
    client.vacuum(bench, &[])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile, table};
    use super::*;
    use crate::sql::Dialect;

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("connect", &profile(Profile::SmallTest));
        let expected = table(
            "connect (100)
            connect+select_simple (100)
            select_simple (1000)
            select_simple_cache (1000)
            connect+select_1_row (100)
            select_1_row (1000)
            select_1_row_cache (1000)
            select_2_rows (1000)
            select_column+column (1000)
            select_big_str (100)",
        );
        assert_eq!(lines(&found), expected);
    }

    #[test]
    fn counts_are_those_of_the_suite() {
        let counts = |p| {
            let counts = Counts::new(&profile(p));
            (counts.loops, counts.connects)
        };
        assert_eq!(counts(Profile::Original), (100_000, 10_000));
        assert_eq!(counts(Profile::Mariadb), (500_000, 50_000));
        for dialect in Dialect::ALL {
            assert_eq!(text_length(&Limits::of(dialect)), 65_000);
        }
    }
}
