//! Phase `ATIS`: joins, distinct rows and groups on 28 tables of an air-travel database.
//!
//! The phase's total starts after the connection has been made. The tables are generated
//! (see [`data`]) so that each query returns the rows that it returns on the original
//! data, or those original files are loaded.

mod data;
mod files;
mod queries;
mod tables;

use queries::{DISTINCT, GROUP, JOIN, KEY_PREFIX_JOIN, Query, SIMPLE_JOIN};
use tables::TABLES;

use super::client::Client;
use super::{Options, Profile};
use crate::error::Result;
use crate::sql::Arg;
use crate::workload::{Bench, Rows};

/// The rows of all tables in their order, each the value list of an INSERT.
type Contents = Vec<Vec<String>>;

/// Times each list of queries is run.
fn loops(options: &Options) -> u64 {
    options.scaled(match options.profile {
        Profile::Original => 100,
        Profile::Mariadb => 5_000,
        Profile::SmallTest => 10,
        Profile::Short => 20,
    })
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let contents = match &options.atis_data {
        Some(dir) => files::read(dir)?,
        None => data::generate(),
    };
    let loops = loops(options);
    let mut client = Client::connect(bench, "ATIS", options)?;
    let client = &mut client;
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    bench.phase_begins();
    create(bench, client)?;
    client.vacuum(bench, &[])?;
    insert(bench, client, &contents)?;
    client.vacuum(bench, &names)?;
    client.lock(&locks("READ"))?;
    select(bench, client, "select_simple_join", SIMPLE_JOIN, loops)?;
    select(bench, client, "select_join", JOIN, loops)?;
    select(
        bench,
        client,
        "select_key_prefix_join",
        KEY_PREFIX_JOIN,
        loops,
    )?;
    select(bench, client, "select_distinct", DISTINCT, loops)?;
    select(bench, client, "select_group", GROUP, loops)?;
    client.unlock()?;
    drop_tables(bench, client)
}

/// All tables and the two names that `airport` has in some queries.
fn locks(kind: &str) -> String {
    let mut list = String::new();
    for table in &TABLES {
        list += &format!("{} {kind},", table.name);
    }
    list + &format!("airport from_airport {kind},airport to_airport {kind}")
}

/// `create_table`: inside the window a DROP, which may fail, and the CREATE of each table.
fn create(bench: &mut Bench<'_>, client: &mut Client) -> Result<()> {
    let dialect = client.dialect();
    let mut op = bench.start("create_table", TABLES.len() as u64)?;
    op.print_count(TABLES.len() as u64);
    for table in &TABLES {
        client.drop_leftovers(&[table.name])?;
        for sql in table.definition(dialect).create(table.name, dialect) {
            op.execute(client.session(), &sql)?;
        }
    }
    op.finish()
}

/// `insert`: inside the window the INSERT of every row, and with `--fast` their
/// transaction and the table locks. Where `--fast` loads files: one LOAD DATA a table, the
/// file sent from memory, and the rows are counted.
fn insert(bench: &mut Bench<'_>, client: &mut Client, contents: &Contents) -> Result<()> {
    if client.loads() {
        return load(bench, client, contents);
    }
    let insert = client.texts.template("insert");
    let mut sql = String::new();
    let mut op = bench.start("insert", tables::ROWS)?;
    client.lock(&locks("WRITE"))?;
    client.begin(&mut op)?;
    for (table, rows) in TABLES.iter().zip(contents) {
        for row in rows {
            insert.fill(&mut sql, &[Arg::Text(table.name), Arg::Text(row)]);
            op.execute(client.session(), &sql)?;
        }
    }
    client.commit(&mut op)?;
    client.unlock()?;
    op.finish()
}

fn load(bench: &mut Bench<'_>, client: &mut Client, contents: &Contents) -> Result<()> {
    let files = contents.iter().map(|rows| rows.join("\n") + "\n");
    let files: Vec<String> = files.collect();
    let mut op = bench.start("insert", tables::ROWS)?;
    op.print_count(tables::ROWS);
    client.lock(&locks("WRITE"))?;
    client.begin(&mut op)?;
    for ((table, rows), file) in TABLES.iter().zip(contents).zip(&files) {
        client.load(&mut op, table.name, (file, rows.len() as u64))?;
    }
    client.commit(&mut op)?;
    client.unlock()?;
    op.finish()
}

/// `select_simple_join`, `select_join`, `select_key_prefix_join`, `select_distinct`,
/// `select_group`: inside the window query and fetch of each query of a list, in order,
/// many times. Those that the server cannot run are left out.
fn select(
    bench: &mut Bench<'_>,
    client: &mut Client,
    name: &str,
    queries: &[Query],
    loops: u64,
) -> Result<()> {
    let queries: Vec<(String, Rows)> = queries
        .iter()
        .filter(|query| query.runs(&client.limits))
        .map(|query| {
            let sql = client.texts.text(query.text).to_string();
            (sql, Rows::Exactly(query.rows))
        })
        .collect();
    let a_round = queries.len() as u64;
    let mut op = bench.start(name, a_round * loops)?;
    for i in 1..=loops {
        for (sql, rows) in &queries {
            op.fetch(client.session(), sql, *rows)?;
        }
        if op.over_limit(a_round * i) {
            break;
        }
    }
    op.finish()
}

/// `drop_table`: inside the window the DROP of each table.
fn drop_tables(bench: &mut Bench<'_>, client: &mut Client) -> Result<()> {
    let mut op = bench.start("drop_table", TABLES.len() as u64)?;
    for table in &TABLES {
        op.execute(client.session(), &format!("DROP TABLE {}", table.name))?;
    }
    op.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile, sqlite, table};
    use super::*;
    use crate::engine::connect;
    use crate::sql::{Dialect, Texts};

    /// The suite's `--small-test` without std().
    const SMALL_TEST: &str = "
        create_table (28)
        insert (9768)
        select_simple_join (50)
        select_join (10)
        select_key_prefix_join (10)
        select_distinct (80)
        select_group (270)
        drop_table (28)
    ";

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("ATIS", &profile(Profile::SmallTest));
        assert_eq!(lines(&found), table(SMALL_TEST));
        let loops = |p| loops(&profile(p));
        assert_eq!(
            (loops(Profile::Original), loops(Profile::Mariadb)),
            (100, 5000)
        );
    }

    /// The values that the queries give on the original data, where those say more than
    /// the number of rows.
    #[test]
    fn the_generated_data_give_the_values_of_the_original() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = connect(&sqlite(dir.path(), "wal")).unwrap();
        session.begin().unwrap();
        for (table, rows) in TABLES.iter().zip(data::generate()) {
            for sql in table
                .definition(Dialect::Sqlite)
                .create(table.name, Dialect::Sqlite)
            {
                session.execute(&sql).unwrap();
            }
            for row in rows {
                let sql = format!("INSERT INTO {} VALUES ({row})", table.name);
                session.execute(&sql).unwrap();
            }
        }
        session.commit().unwrap();
        let texts = Texts::of("ATIS", Dialect::Sqlite);
        for (text, expected) in [
            ("group_05", "278"),
            ("group_06", "2.0592592592592593"),
            ("group_07", "2.376068376068376"),
            ("group_08", "94 240 165710"),
            ("group_09", "101908 101908"),
            ("group_10", "ATL ATL"),
            ("group_11", "50"),
            ("group_12", "94"),
            ("group_13", "279"),
            ("group_16", "ATL BOS 154.3684210526316"),
            ("group_20", "JET 15 PROPELLER 16 TURBOPROP 32"),
        ] {
            let rows = session.values(texts.text(text)).unwrap();
            let found: Vec<String> = rows.into_iter().flatten().flatten().collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    /// The directory is named by `MOUNTMARK_ATIS_DATA`, or lies in the one named by
    /// `MOUNTMARK_SHARED_DATA`; it is not part of the project.
    #[test]
    fn the_original_files_give_the_same() {
        let shared = std::env::var_os("MOUNTMARK_SHARED_DATA");
        let shared = shared.map(|dir| std::path::Path::new(&dir).join("ATIS"));
        let own = std::env::var_os("MOUNTMARK_ATIS_DATA").map(Into::into);
        let Some(dir) = own.or(shared) else {
            eprintln!("SKIPPED: MOUNTMARK_ATIS_DATA names no directory with the original files");
            return;
        };
        let options = Options {
            atis_data: Some(dir),
            ..profile(Profile::SmallTest)
        };
        assert_eq!(lines(&on_sqlite("ATIS", &options)), table(SMALL_TEST));
    }
}
