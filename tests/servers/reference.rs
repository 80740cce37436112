//! Our own clients give what the reference clients give: the crates `postgres` and `mysql`.

use mountmark::engine::{Address, Kind, Session, connect};
use mysql::prelude::Queryable;

use crate::support::Place;

type Rows = Vec<Vec<Option<String>>>;

/// What is asked of both; `BYTES` stands for the engine's own bytes.
fn queries(kind: Kind) -> Vec<String> {
    let wide: Vec<String> = (1..=16).map(|n| format!("a*{n} AS c{n}")).collect();
    let bytes = match kind {
        Kind::Postgres => "'\\x00ff4100'::bytea",
        _ => "x'00ff4100'",
    };
    [
        "SELECT 1",
        "SELECT NULL",
        "SELECT -1, -9223372036854775807, 9223372036854775807",
        "SELECT a, b, c, d, e FROM t ORDER BY a",
        "SELECT '', NULL, ' ', 'it''s', 'a\tb', 'äöü€𝄞'",
        "SELECT 1.50, 0.000, -12345678901234567890.123",
        "SELECT count(*), sum(a), min(b), max(c) FROM t",
        "SELECT a FROM t WHERE a=99",
        "SELECT x.a, y.b FROM t x, t y ORDER BY x.a, y.a",
        "SELECT b FROM t WHERE b IS NULL",
    ]
    .map(String::from)
    .into_iter()
    .chain([
        format!("SELECT {} FROM t ORDER BY a", wide.join(",")),
        format!("SELECT {bytes}"),
        format!("SELECT '{}'", "x".repeat(70_000)),
    ])
    .collect()
}

/// The same session's answer: the values, the number of rows, and that both agree.
fn ours(session: &mut dyn Session, sql: &str) -> Rows {
    let rows = session.values(sql).unwrap();
    let count = rows.len() as u64;
    assert_eq!(session.fetch(sql).unwrap(), count, "{sql:.80}");
    assert_eq!(session.execute(sql).unwrap(), count, "{sql:.80}");
    let statement = session.prepare(sql).unwrap();
    let prepared = session.fetch_prepared(statement, &[]).unwrap();
    assert_eq!(prepared, count, "{sql:.80}");
    session.finish(statement).unwrap();
    rows
}

fn postgres(address: &Address) -> impl FnMut(&str) -> Rows {
    let Address::Postgres {
        dir,
        user,
        database,
    } = address
    else {
        panic!("{address:?}");
    };
    let mut config = postgres::Config::new();
    config.host_path(dir).user(user).dbname(database);
    // The socket's name is ours, not the default port's.
    config.port(5432);
    let mut client = config.connect(postgres::NoTls).unwrap();
    move |sql| {
        let messages = client.simple_query(sql).unwrap();
        let rows = messages.into_iter().filter_map(|m| match m {
            postgres::SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        rows.map(|row| {
            (0..row.len())
                .map(|n| row.get(n).map(str::to_string))
                .collect()
        })
        .collect()
    }
}

fn mysql(address: &Address) -> impl FnMut(&str) -> Rows {
    let Address::Mysql {
        socket,
        user,
        database,
        ..
    } = address
    else {
        panic!("{address:?}");
    };
    let options = mysql::OptsBuilder::new()
        .socket(socket.to_str())
        .user(Some(user))
        .db_name(Some(database));
    let mut client = mysql::Conn::new(options).unwrap();
    let text = |value: mysql::Value| match value {
        mysql::Value::NULL => None,
        mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => panic!("the text protocol has no {other:?}"),
    };
    move |sql| {
        let rows: Vec<mysql::Row> = client.query(sql).unwrap();
        rows.into_iter()
            .map(|row| row.unwrap().into_iter().map(text).collect())
            .collect()
    }
}

pub fn answers_like_the_reference_client(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let address = server.address();
    let mut session = connect(&address).unwrap();
    let session = session.as_mut();
    session
        .execute("CREATE TABLE t (a int, b varchar(20), c char(4), d float, e date)")
        .unwrap();
    for values in [
        "(1,'one','x',1.5,'2001-02-03')",
        "(-2,NULL,NULL,-0.25,NULL)",
        "(1000000,'','äö',NULL,'1999-12-31')",
    ] {
        session
            .execute(&format!("INSERT INTO t VALUES {values}"))
            .unwrap();
    }
    let mut theirs: Box<dyn FnMut(&str) -> Rows> = match kind {
        Kind::Postgres => Box::new(postgres(&address)),
        _ => Box::new(mysql(&address)),
    };
    for sql in queries(kind) {
        assert_eq!(ours(session, &sql), theirs(&sql), "{kind}: {sql:.80}");
    }
    drop(theirs);
    server.stop().unwrap();
}
