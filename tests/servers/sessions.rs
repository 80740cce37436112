//! Statements and their answers.

use mountmark::engine::{Kind, Meaning, Param};

use crate::support::{Place, session};

pub fn gives_errors_a_meaning(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut session = session(server.as_ref());
    session
        .execute("CREATE TABLE t (a int not null, primary key (a))")
        .unwrap();
    session.execute("INSERT INTO t VALUES (1)").unwrap();
    let meaning = |session: &mut dyn mountmark::engine::Session, sql: &str| {
        let error = session.execute(sql).unwrap_err();
        assert!(
            !error.code.is_empty() && !error.message.is_empty(),
            "{error}"
        );
        error.meaning
    };
    let session = session.as_mut();
    assert_eq!(
        meaning(session, "INSERT INTO t VALUES (1)"),
        Meaning::Duplicate
    );
    assert_eq!(meaning(session, "DROP TABLE absent"), Meaning::Missing);
    assert_eq!(meaning(session, "SELECT * FROM absent"), Meaning::Missing);
    assert_eq!(meaning(session, "SELEKT 1"), Meaning::Other);
    assert_eq!(session.fetch("SELECT * FROM t").unwrap(), 1);
    let values = session.values("SELECT a, NULL, 'x' FROM t").unwrap();
    assert_eq!(
        values,
        [[Some("1".to_string()), None, Some("x".to_string())]]
    );
}

pub fn prepares_statements(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut session = session(server.as_ref());
    session
        .execute("CREATE TABLE t (a int, b varchar(20), c float, d date, e char(3))")
        .unwrap();
    let insert = session
        .prepare("INSERT INTO t VALUES (?, ?, 1.5, '2001-02-03', NULL)")
        .unwrap();
    for n in 0..10 {
        let text = format!("it's {n}?");
        let params = [Param::Int(n), Param::Text(&text)];
        assert_eq!(session.fetch_prepared(insert, &params).unwrap(), 0);
    }
    let select = session
        .prepare("SELECT a, b, c, d, e FROM t WHERE a >= ? AND b <> '?'")
        .unwrap();
    assert_eq!(session.fetch_prepared(select, &[Param::Int(3)]).unwrap(), 7);
    assert_eq!(
        session.fetch_prepared(select, &[Param::Int(99)]).unwrap(),
        0
    );
    let wrong = session.fetch_prepared(select, &[]).unwrap_err();
    assert_eq!(wrong.meaning, Meaning::Other);
    session.finish(select).unwrap();
    assert_eq!(
        session
            .fetch_prepared(insert, &[Param::Int(-1), Param::Text("")])
            .unwrap(),
        0
    );
    session.finish(insert).unwrap();
    assert!(session.prepare("SELEKT ?").is_err());
    for _ in 0..3 {
        let again = session.prepare("SELECT * FROM t").unwrap();
        assert_eq!(session.fetch_prepared(again, &[]).unwrap(), 11);
        session.finish(again).unwrap();
    }
    let values = session.values("SELECT b FROM t WHERE a = 4").unwrap();
    assert_eq!(values, [[Some("it's 4?".to_string())]]);
}

/// MariaDB tells the columns of a prepared statement's result once, and again when they
/// have changed.
pub fn columns_of_a_prepared_statement_may_change(kind: Kind) {
    // PostgreSQL refuses to run a prepared statement whose columns have changed.
    if kind == Kind::Postgres {
        return;
    }
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut session = session(server.as_ref());
    session.execute("CREATE TABLE t (a int, b int)").unwrap();
    session
        .execute("INSERT INTO t VALUES (1, 10), (2, 20)")
        .unwrap();
    let select = session
        .prepare("SELECT * FROM t WHERE a >= ? ORDER BY a")
        .unwrap();
    let cell = |text: &str| Some(text.to_string());
    for _ in 0..2 {
        let table = session.table_prepared(select, &[Param::Int(2)]).unwrap();
        assert_eq!(table.columns, ["a", "b"]);
        assert_eq!(table.rows, [[cell("2"), cell("20")]]);
    }
    session
        .execute("ALTER TABLE t MODIFY b varchar(9), ADD c int")
        .unwrap();
    for _ in 0..2 {
        let table = session.table_prepared(select, &[Param::Int(2)]).unwrap();
        assert_eq!(table.columns, ["a", "b", "c"]);
        assert_eq!(table.rows, [[cell("2"), cell("20"), None]]);
    }
    // Rows that end in an error leave the columns known.
    let fails = session
        .prepare(
            "SELECT a, (SELECT u.a FROM t u WHERE u.a >= t.a) FROM t WHERE a >= ? ORDER BY a DESC",
        )
        .unwrap();
    for _ in 0..2 {
        let error = session.fetch_prepared(fails, &[Param::Int(1)]).unwrap_err();
        assert_eq!(error.meaning, Meaning::Other, "{error}");
        let table = session.table_prepared(fails, &[Param::Int(2)]).unwrap();
        assert_eq!(table.rows, [[cell("2"), cell("2")]]);
    }
}

pub fn commits_and_rolls_back(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut one = session(server.as_ref());
    let mut two = session(server.as_ref());
    one.execute("CREATE TABLE t (a int)").unwrap();
    one.begin().unwrap();
    one.execute("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(two.fetch("SELECT * FROM t").unwrap(), 0);
    one.rollback().unwrap();
    one.begin().unwrap();
    one.execute("INSERT INTO t VALUES (2)").unwrap();
    one.commit().unwrap();
    assert_eq!(two.fetch("SELECT * FROM t").unwrap(), 1);
}

pub fn moves_big_results_and_statements(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut session = session(server.as_ref());
    session.execute("CREATE TABLE t (a int, b text)").unwrap();
    let rows: Vec<String> = (0..9000).map(|n| format!("({n},'{:0>98}')", n)).collect();
    let insert = format!("INSERT INTO t VALUES {}", rows.join(","));
    assert!(insert.len() > 900_000);
    session.execute(&insert).unwrap();
    let many = "SELECT x.a, y.b FROM t x, t y WHERE y.a < 34";
    assert_eq!(session.fetch(many).unwrap(), 9000 * 34);
    let prepared = session.prepare(many).unwrap();
    assert_eq!(session.fetch_prepared(prepared, &[]).unwrap(), 9000 * 34);
    // One field larger than the receive buffer ever gets by itself.
    let wide = session.values("SELECT repeat('ab', 700000)").unwrap();
    assert_eq!(wide[0][0].as_ref().unwrap().len(), 1_400_000);
    assert_eq!(session.fetch("SELECT count(*) FROM t").unwrap(), 1);
}

pub fn tells_when_it_was_killed(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let mut server = place.start();
    let mut session = session(server.as_ref());
    let pids = server.pids();
    let main = nix::unistd::Pid::from_raw(pids[0] as i32);
    nix::sys::signal::kill(main, nix::sys::signal::Signal::SIGKILL).unwrap();
    let error = (0..1000)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            session.fetch("SELECT 1").err()
        })
        .expect("a lost connection");
    assert_eq!(error.meaning, Meaning::Disconnected, "{error}");
    // The connection ends a moment before the process can be waited for.
    let told = (0..1000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        server.died()
    });
    let told = told.expect("a cause");
    assert!(told.contains("was killed by SIGKILL"), "{told}");
    assert!(!server.log_tail().is_empty());
    assert!(server.stop().is_err());
    crate::support::assert_gone(&pids);
    // It recovers, which also removes what it left in shared memory.
    place.start().stop().unwrap();
}
