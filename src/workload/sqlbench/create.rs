//! Phase `create`: making and dropping many tables.
//!
//! No operation has a time limit. Every statement commits by itself. The phase's total
//! starts with its first operation and ends after the session is closed.

use super::client::Client;
use super::{Options, Profile};
use crate::engine::Session;
use crate::error::Result;
use crate::sql::{Arg, Limits, Table, Template};
use crate::workload::{Bench, Op, Rows};

/// Loop counts of the phase.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    /// Tables that exist at once.
    many: u64,
    /// Plain tables made and dropped in turn.
    plain: u64,
    /// Tables with many keys made and dropped in turn.
    keyed: u64,
}

impl Counts {
    fn new(options: &Options, limits: &Limits) -> Self {
        let (many, plain, keyed) = match options.profile {
            Profile::Original | Profile::Mariadb => (10_000, 10_000, 10_000),
            Profile::SmallTest => (10, 10, 100),
            Profile::Short => (50, 50, 50),
        };
        Counts {
            many: options.scaled(many).min(limits.max_tables),
            plain: options.scaled(plain),
            keyed: options.scaled(keyed),
        }
    }
}

fn plain_table() -> Table {
    Table::new(
        &[
            "i int NOT NULL",
            "d double",
            "f float",
            "s char(10)",
            "v varchar(100)",
        ],
        &["primary key (i)"],
    )
}

/// As many keys as the server takes, 16 at most; the primary key spans all fields.
fn key_table(limits: &Limits) -> Table {
    let keys = limits.max_index.min(16);
    let parts = limits.max_index_parts.min(keys);
    let column = |n| match n {
        1 => "field1 tinyint not null".to_string(),
        2 => "field2 mediumint not null".to_string(),
        3 => "field3 smallint not null".to_string(),
        4 => "field4 char(16) not null".to_string(),
        5 => "field5 integer not null".to_string(),
        6 => "field6 float not null".to_string(),
        7 => "field7 double not null".to_string(),
        n => format!("field{n} char(5) not null"),
    };
    let fields: Vec<String> = (1..=parts).map(|n| format!("field{n}")).collect();
    let mut indexes = vec![format!("primary key ({})", fields.join(","))];
    indexes.extend((2..=keys).map(|n| format!("index index{n} (field{n})")));
    Table {
        columns: (1..=keys).map(column).collect(),
        indexes,
    }
}

/// The statements that make one table, with a place for its number.
struct Maker {
    create: Vec<Template>,
    drop: Template,
    sql: String,
}

impl Maker {
    fn new(table: &Table, client: &Client) -> Self {
        let create = table.create("bench_{i}", client.dialect());
        Maker {
            create: create.iter().map(|text| Template::new(text)).collect(),
            drop: client.texts.template("drop_table"),
            sql: String::new(),
        }
    }

    fn create(&mut self, op: &mut Op<'_, '_>, session: &mut dyn Session, i: i64) -> Result<()> {
        for template in &self.create {
            template.fill(&mut self.sql, &[Arg::Int(i)]);
            op.execute(session, &self.sql)?;
        }
        Ok(())
    }

    fn drop(&mut self, op: &mut Op<'_, '_>, session: &mut dyn Session, i: i64) -> Result<()> {
        self.drop.fill(&mut self.sql, &[Arg::Int(i)]);
        op.execute(session, &self.sql).map(drop)
    }

    /// One statement that drops all of them.
    fn drop_all(&mut self, op: &mut Op<'_, '_>, session: &mut dyn Session, n: i64) -> Result<()> {
        self.drop.fill(&mut self.sql, &[Arg::Int(1)]);
        let more = Template::new(",bench_{i}");
        (2..=n).for_each(|i| more.append(&mut self.sql, &[Arg::Int(i)]));
        op.execute(session, &self.sql).map(drop)
    }
}

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let mut client = Client::connect(bench, "create", options)?;
    let client = &mut client;
    let counts = Counts::new(options, &client.limits);
    let mut plain = Maker::new(&plain_table(), client);
    client.vacuum(bench, &[])?;
    bench.phase_begins();
    many_tables(bench, client, &mut plain, counts.many)?;
    create_and_drop(bench, client, "create+drop", &mut plain, counts.plain)?;
    let mut keyed = Maker::new(&key_table(&client.limits), client);
    create_and_drop(bench, client, "create_key+drop", &mut keyed, counts.keyed)
}

/// `create_MANY_tables`, `select_group_when_MANY_tables`, `drop_table_when_MANY_tables`:
/// inside each window its statements only.
fn many_tables(
    bench: &mut Bench<'_>,
    client: &mut Client,
    maker: &mut Maker,
    many: u64,
) -> Result<()> {
    let mut op = bench.start("create_MANY_tables", many)?;
    for i in 1..=many as i64 {
        maker.create(&mut op, client.session(), i)?;
    }
    op.print_count(many);
    op.finish()?;
    client.vacuum(bench, &[])?;

    let count_rows = client.texts.template("count_rows");
    let mut sql = String::new();
    let mut op = bench.start("select_group_when_MANY_tables", many)?;
    for i in 1..=many as i64 {
        count_rows.fill(&mut sql, &[Arg::Int(i)]);
        op.query(client.session(), &sql, Rows::Exactly(1))?;
    }
    op.finish()?;

    let at_once =
        client.fast && client.limits.multi_drop && client.limits.query_size > 11 + 10 * many;
    let mut op = bench.start("drop_table_when_MANY_tables", many)?;
    op.print_count(many);
    if at_once {
        maker.drop_all(&mut op, client.session(), many as i64)?;
    } else {
        for i in 1..=many as i64 {
            maker.drop(&mut op, client.session(), i)?;
        }
    }
    op.finish()?;
    client.vacuum(bench, &[])
}

/// Inside the window: every CREATE (with its indexes) and DROP.
fn create_and_drop(
    bench: &mut Bench<'_>,
    client: &mut Client,
    name: &str,
    maker: &mut Maker,
    loops: u64,
) -> Result<()> {
    let mut op = bench.start(name, loops)?;
    for i in 1..=loops as i64 {
        maker.create(&mut op, client.session(), i)?;
        maker.drop(&mut op, client.session(), i)?;
    }
    op.print_count(loops);
    op.finish()?;
    client.vacuum(bench, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Dialect;

    fn counts(profile: Profile, dialect: Dialect) -> (u64, u64, u64) {
        scaled(profile, dialect, 1.0)
    }

    fn scaled(profile: Profile, dialect: Dialect, loops: f64) -> (u64, u64, u64) {
        let options = Options {
            profile,
            loops,
            ..Options::default()
        };
        let counts = Counts::new(&options, &Limits::of(dialect));
        (counts.many, counts.plain, counts.keyed)
    }

    #[test]
    fn counts_are_those_of_the_suite() {
        use Profile::{Original, SmallTest};
        assert_eq!(counts(Original, Dialect::Mysql), (10_000, 10_000, 10_000));
        assert_eq!(counts(Original, Dialect::Postgres), (5_000, 10_000, 10_000));
        assert_eq!(counts(SmallTest, Dialect::Sqlite), (10, 10, 100));
    }

    #[test]
    fn the_factor_counts_before_the_limit_of_the_server() {
        let tenth = scaled(Profile::Original, Dialect::Postgres, 0.1);
        assert_eq!(tenth, (1_000, 1_000, 1_000));
    }

    #[test]
    fn the_key_table_has_sixteen_keys() {
        let table = key_table(&Limits::of(Dialect::Sqlite));
        assert_eq!(table.columns.len(), 16);
        assert_eq!(table.indexes.len(), 16);
        assert_eq!(table.create("t", Dialect::Postgres).len(), 17);
    }
}
