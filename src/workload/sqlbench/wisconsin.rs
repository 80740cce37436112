//! Phase `wisconsin`: the queries of the Wisconsin benchmark on four tables.
//!
//! No operation has a time limit. The phase's total starts after the connection has been
//! made. The rows are generated: `unique1` is a permutation of our own, on whose order no
//! query depends, all else follows from it and from the row's number.

use super::client::Client;
use super::random::{letter, permutation};
use super::{Options, Profile};
use crate::error::Result;
use crate::sql::{Arg, Table, Template};
use crate::workload::{Bench, Rows};

/// Table names in their order.
const NAMES: [&str; 4] = ["onek", "tenk1", "tenk2", "Bprime"];

/// A row of a file, with the values that an INSERT has.
const LINE: &str = "{u},{s},{two},{four},{ten},{twenty},{hundred},{thousand},{twothousand},\
                    {fivethous},{u},{odd},{even},'{stringu1}','{stringu2}','{string4}'\n";

/// Rows of the first table.
const SMALL: u64 = 1_000;

/// The queries, each sent some times in a row, and their rows; `None` for all of `tenk1`.
const SELECTS: [(&str, Option<u64>); 10] = [
    ("select_100", Some(100)),
    ("select_1000", Some(1000)),
    ("select_1", Some(1)),
    ("select_100", Some(100)),
    ("join_self", Some(1000)),
    ("join_bprime", Some(1000)),
    ("join_three", Some(1000)),
    ("project", None),
    ("select_onek", Some(1000)),
    ("minimum", Some(1)),
];

/// The changes after them, each sent once.
const CHANGES: [&str; 14] = [
    "insert_1", "insert_2", "delete_1", "delete_2", "update_1", "update_2", "insert_3", "insert_4",
    "delete_3", "delete_4", "update_3", "update_4", "update_5", "update_6",
];

struct Counts {
    /// Times each query is sent.
    loops: u64,
    /// Rows of each of the large tables; the queries reach up to row 2001.
    large: u64,
}

impl Counts {
    fn new(options: &Options) -> Self {
        let (loops, large) = match options.profile {
            Profile::Original | Profile::Mariadb => (10, 10_000),
            Profile::SmallTest => (2, 10_000),
            Profile::Short => (2, 2_500),
        };
        Counts {
            loops: options.scaled(loops),
            large,
        }
    }
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let mut client = Client::connect(bench, "wisconsin", options)?;
    let client = &mut client;
    let counts = Counts::new(options);
    let small = generate(SMALL, 1);
    let large = generate(counts.large, 2);
    bench.phase_begins();
    create(bench, client)?;
    insert(bench, client, [&small, &large, &large, &large])?;
    client.vacuum(bench, &NAMES)?;
    client.lock(
        "onek WRITE,tenk1 WRITE,tenk2 WRITE,Bprime WRITE,tenk1 t WRITE,tenk1 t1 WRITE,\
         tenk1 t2 WRITE,Bprime B WRITE,onek o WRITE",
    )?;
    delete_big(bench, client)?;
    client.vacuum(bench, &[])?;
    benchmark(bench, client, &counts)?;
    client.unlock()?;
    NAMES.iter().try_for_each(|name| client.drop(name))?;
    client.vacuum(bench, &[])
}

/// `create_table`: inside the window a DROP, which may fail, and the CREATE of each table.
/// Counts the tables; the suite prints 3 for the four.
fn create(bench: &mut Bench<'_>, client: &mut Client) -> Result<()> {
    let dialect = client.dialect();
    let table = table();
    let mut op = bench.start("create_table", NAMES.len() as u64)?;
    op.print_count(NAMES.len() as u64);
    for name in NAMES {
        client.drop_leftovers(&[name])?;
        for sql in table.create(name, dialect) {
            op.execute(client.session(), &sql)?;
        }
    }
    op.finish()
}

fn table() -> Table {
    let numbers = "two four ten twenty";
    let more = "thousand twothousand fivethous tenthous odd even";
    let texts = "stringu1 stringu2 string4";
    let plain = |names: &str, kind: &str| -> Vec<String> {
        let column = |name| format!("{name} {kind}");
        names.split(' ').map(column).collect()
    };
    let mut columns = plain("unique1 unique2", "int NOT NULL");
    columns.extend(plain(numbers, "int"));
    columns.extend(plain("hundred", "int NOT NULL"));
    columns.extend(plain(more, "int"));
    columns.extend(plain(texts, "char(16)"));
    let indexes = [
        "unique (unique1)",
        "unique (unique2)",
        "index hundred1 (hundred)",
    ];
    Table {
        columns,
        indexes: indexes.map(str::to_string).into(),
    }
}

/// One row; what is not here follows from `unique1`.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    unique1: u64,
    unique2: u64,
    texts: [String; 3],
}

fn generate(rows: u64, seed: u64) -> Vec<Row> {
    let row = |(unique2, unique1)| Row {
        unique1,
        unique2,
        texts: texts(unique1, unique2),
    };
    (0..).zip(permutation(rows, seed)).map(row).collect()
}

/// `stringu1`, `stringu2` and `string4`.
fn texts(unique1: u64, unique2: u64) -> [String; 3] {
    let letters = |n: u64| [n % 26, n / 26 % 26, n / 676 % 26].map(letter);
    let [a, b, _] = letters(unique1);
    let [c, d, e] = letters(unique2);
    let four = ["AAAA", "HHHH", "OOOO", "VVVV"][unique2 as usize % 4];
    [
        format!("{a}{b}AAAA"),
        format!("{c}{d}{e}AAA"),
        format!("{four}xx"),
    ]
}

impl Row {
    /// Writes the INSERT into `table`.
    fn write(&self, sql: &mut String, insert: &Template, table: &str) {
        let mut args = [Arg::Text(table); 16];
        args[1..].copy_from_slice(&self.values(table));
        insert.fill(sql, &args);
    }

    /// The columns, each value once. What a large table takes modulo a hundred, `onek`
    /// takes modulo ten, and so on.
    fn values(&self, table: &str) -> [Arg<'_>; 15] {
        let u = self.unique1;
        let tenth = if table == NAMES[0] { 10 } else { 1 };
        let part = |modulo: u64| u % (modulo / tenth);
        let hundred = part(100);
        let [stringu1, stringu2, string4] = &self.texts;
        [
            u.into(),
            self.unique2.into(),
            (u % 2).into(),
            (u % 4).into(),
            (u % 10).into(),
            (u % 20).into(),
            hundred.into(),
            part(1000).into(),
            part(2000).into(),
            part(5000).into(),
            (2 * hundred).into(),
            (2 * hundred + 1).into(),
            Arg::Text(stringu1),
            Arg::Text(stringu2),
            Arg::Text(string4),
        ]
    }
}

/// `insert`: inside the window the INSERT of every row, and with `--fast` their
/// transaction and the table locks. Where `--fast` loads files: one LOAD DATA a table, the
/// file sent from memory, and the rows are counted.
fn insert(bench: &mut Bench<'_>, client: &mut Client, rows: [&[Row]; 4]) -> Result<()> {
    if client.loads() {
        return load(bench, client, rows);
    }
    let insert = client.texts.template("insert");
    let mut sql = String::new();
    let planned = rows.iter().map(|rows| rows.len() as u64).sum();
    let mut op = bench.start("insert", planned)?;
    client.lock("onek WRITE,tenk1 WRITE,tenk2 WRITE,Bprime WRITE")?;
    client.begin(&mut op)?;
    for (table, rows) in NAMES.iter().zip(rows) {
        for row in rows {
            row.write(&mut sql, &insert, table);
            op.execute(client.session(), &sql)?;
        }
    }
    client.commit(&mut op)?;
    client.unlock()?;
    op.finish()
}

fn load(bench: &mut Bench<'_>, client: &mut Client, rows: [&[Row]; 4]) -> Result<()> {
    let line = Template::new(LINE);
    let mut files = [const { String::new() }; 4];
    for (n, file) in files.iter_mut().enumerate() {
        for row in rows[n] {
            line.append(file, &row.values(NAMES[n]));
        }
    }
    let planned = rows.iter().map(|rows| rows.len() as u64).sum();
    let mut op = bench.start("insert", planned)?;
    op.print_count(planned);
    client.lock("onek WRITE,tenk1 WRITE,tenk2 WRITE,Bprime WRITE")?;
    client.begin(&mut op)?;
    for (n, file) in files.iter().enumerate() {
        client.load(&mut op, NAMES[n], (file, rows[n].len() as u64))?;
    }
    client.commit(&mut op)?;
    client.unlock()?;
    op.finish()
}

/// `delete_big`: inside the window the DELETE of 9000 rows. (With `--fast` the suite's own
/// figure includes what lies between this and the inserts.)
fn delete_big(bench: &mut Bench<'_>, client: &mut Client) -> Result<()> {
    let sql = client.texts.text("delete_big").to_string();
    let mut op = bench.start("delete_big", 1)?;
    op.execute(client.session(), &sql)?;
    op.finish()
}

/// `wisc_benchmark`: inside the window each query some times in a row, with its fetch,
/// then the changes, each once.
fn benchmark(bench: &mut Bench<'_>, client: &mut Client, counts: &Counts) -> Result<()> {
    let Counts { loops, large } = *counts;
    let text = |name: &str| client.texts.text(name).to_string();
    let selects = SELECTS.map(|(name, rows)| (text(name), Rows::Exactly(rows.unwrap_or(large))));
    let changes = CHANGES.map(text);
    let planned = loops * SELECTS.len() as u64 + CHANGES.len() as u64;
    let mut op = bench.start("wisc_benchmark", planned)?;
    for (sql, rows) in &selects {
        for _ in 0..loops {
            op.fetch(client.session(), sql, *rows)?;
        }
    }
    for sql in &changes {
        op.fetch(client.session(), sql, Rows::Exactly(0))?;
    }
    op.finish()?;
    let left = client.texts.text("count_tenk1").to_string();
    client.check(&left, large)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile};
    use super::*;

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("wisconsin", &profile(Profile::SmallTest));
        assert_eq!(
            lines(&found),
            [
                "create_table (4)",
                "insert (31000)",
                "delete_big (1)",
                "wisc_benchmark (34)"
            ]
        );
        let original = Counts::new(&profile(Profile::Original));
        assert_eq!((original.loops, original.large), (10, 10_000));
    }

    #[test]
    fn a_row_follows_from_its_numbers() {
        let row = Row {
            unique1: 8800,
            unique2: 0,
            texts: texts(8800, 0),
        };
        let places = "{table} {u} {s} {two} {four} {ten} {twenty} {hundred} {thousand} \
                      {twothousand} {fivethous} {odd} {even} {stringu1} {stringu2} {string4}";
        let mut sql = String::new();
        row.write(&mut sql, &Template::new(places), "tenk1");
        assert_eq!(
            sql,
            "tenk1 8800 0 0 0 0 0 0 800 800 3800 0 1 MAAAAA AAAAAA AAAAxx"
        );
        row.write(&mut sql, &Template::new(places), "onek");
        assert!(sql.contains(" 0 0 0 300 "), "{sql}");
    }

    #[test]
    fn unique1_is_a_permutation() {
        let mut found: Vec<u64> = generate(1000, 1).iter().map(|r| r.unique1).collect();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..1000));
    }
}
