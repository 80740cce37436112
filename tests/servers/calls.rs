//! How many system calls a statement costs the client: one send and one receive, and in a
//! load of several connections one wait. Counted by strace around this test program itself,
//! which then plays the client.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use mountmark::engine::{Address, Kind, Param, connect};
use mountmark::host;
use mountmark::workload::load::{self, Cell, Options, Script};
use mountmark::workload::{Bench, Rows};

use crate::phases::Blind;
use crate::support::{Place, unsynced};

/// What the client is told by its environment: the server, the statements, how many.
const ADDRESS: &str = "MOUNTMARK_TEST_ADDRESS";
const KIND: &str = "MOUNTMARK_TEST_STATEMENT";
const COUNT: &str = "MOUNTMARK_TEST_COUNT";
/// The only CPU it is to use, if there is such.
const CPU: &str = "MOUNTMARK_TEST_CPU";

const STATEMENTS: [&str; 3] = ["select", "insert", "prepared"];

/// Not a test by itself: the client, when a test of this file starts it.
#[test]
fn the_client_under_strace() {
    let Ok(address) = std::env::var(ADDRESS) else {
        return;
    };
    let address: Address = serde_json::from_str(&address).unwrap();
    let kind = std::env::var(KIND).unwrap();
    let count: u64 = std::env::var(COUNT).unwrap().parse().unwrap();
    let mut observer = |_| Ok(());
    let mut probe = Blind;
    let limit = std::time::Duration::from_secs(600);
    let mut bench = Bench::new(&address, &mut probe, &mut observer, limit);
    if let Ok(cpu) = std::env::var(CPU) {
        host::pin(&[cpu.parse().unwrap()]).unwrap();
    }
    if let Some(clients) = kind.strip_prefix("load of ") {
        let options = Options {
            scripts: vec![Script {
                name: "own".to_string(),
                text: Some("SELECT 1;\n".to_string()),
                weight: 1,
            }],
            transactions: Some(count),
            seconds: None,
            warmup_s: 0.0,
            threads: 1,
            ..Options::default()
        };
        let cell = Cell {
            clients: clients.parse().unwrap(),
            databases: 1,
        };
        load::run(&mut bench, &options, cell).unwrap();
        return;
    }
    let mut session = connect(&address).unwrap();
    let session = session.as_mut();
    let text = "SELECT a FROM calls WHERE a=?";
    let prepared = session.prepare(text).unwrap();
    let mut op = bench.start(&kind, count).unwrap();
    for n in 0..count {
        match kind.as_str() {
            "select" => {
                let sql = format!("SELECT a,{n} FROM calls WHERE a=-1");
                op.fetch(session, &sql, Rows::Exactly(1))
            }
            "insert" => op.execute(session, &format!("INSERT INTO calls VALUES ({n})")),
            _ => {
                let params = [Param::Int(-1)];
                op.fetch_prepared(session, (prepared, text), &params, Rows::Exactly(1))
            }
        }
        .unwrap();
    }
    op.finish().unwrap();
}

/// A system call: the thread and the name.
type Call = (String, String);

/// The calls of a client that sends `count` statements.
fn traced(
    address: &Address,
    (kind, cpu): (&str, Option<usize>),
    count: u64,
    log: &Path,
) -> Vec<Call> {
    let mut command = Command::new("strace");
    if let Some(cpu) = cpu {
        command.env(CPU, cpu.to_string());
    }
    let status = command
        .args(["-f", "-qq", "-o"])
        .arg(log)
        .arg(std::env::current_exe().unwrap())
        .args([
            "calls::the_client_under_strace",
            "--exact",
            "--test-threads=1",
        ])
        .env(ADDRESS, serde_json::to_string(address).unwrap())
        .env(KIND, kind)
        .env(COUNT, count.to_string())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the client failed: {status}");
    let log = std::fs::read_to_string(log).unwrap();
    let call = |line: &str| {
        // "1234 sendto(3, …" and, where threads take turns, "1234 <... sendto resumed>…".
        let (thread, rest) = line.split_once(' ')?;
        let (name, _) = rest.trim_start().split_once('(')?;
        (!rest.contains("resumed>")).then(|| (thread.to_string(), name.to_string()))
    };
    log.lines().filter_map(call).collect()
}

/// Whether strace is here and may trace; where it must, its absence fails.
fn can_trace() -> bool {
    let traces = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !traces {
        let required = std::env::var("MOUNTMARK_REQUIRE").unwrap_or_default();
        let required = required.split(',').any(|name| name.trim() == "strace");
        assert!(!required, "strace is required, and that it may trace");
        eprintln!("SKIPPED: there is no strace here, or it may not trace");
    }
    traces
}

const SENDS: [&str; 4] = ["sendto", "write", "sendmsg", "writev"];
const RECEIVES: [&str; 4] = ["recvfrom", "read", "recvmsg", "readv"];
const WAITS: [&str; 4] = ["poll", "ppoll", "epoll_wait", "epoll_pwait"];

fn of<'c>(calls: impl IntoIterator<Item = &'c Call>, names: &[&str]) -> usize {
    let names = |(_, name): &&Call| names.contains(&name.as_str());
    calls.into_iter().filter(names).count()
}

/// A thread that waits in a receive on a unix socket is also woken when its request is taken:
/// only the one connection of a load that has a CPU of its own waits so.
pub fn a_load_waits_in_the_receive_only_where_that_costs_less(kind: Kind) {
    if !can_trace() {
        return;
    }
    let Some(place) = Place::new(kind) else {
        return;
    };
    let mut launch = place.launch_with(unsynced(kind));
    let cpus = host::allowed_cpus();
    for (load, pinned) in [
        ("load of 1", false),
        ("load of 1", true),
        ("load of 3", false),
    ] {
        launch.cpus = if pinned { vec![cpus[0]] } else { cpus.clone() };
        let server = place.engine.launch(&launch).unwrap();
        let address = server.address();
        let count = 500;
        let log = place.dir.path().join("strace");
        let cpu = pinned.then_some(cpus[0]);
        let calls = traced(&address, (load, cpu), count, &log);
        // The main thread looks at the server before and after; it sends less.
        let sends_of = |thread: &str| of(calls.iter().filter(|c| c.0 == thread), &SENDS);
        let threads: BTreeSet<&str> = calls.iter().map(|c| c.0.as_str()).collect();
        let served: Vec<&str> = threads
            .into_iter()
            .filter(|thread| sends_of(thread) >= count as usize)
            .collect();
        let found = |names: &[&str]| {
            let of_clients = |c: &&Call| served.contains(&c.0.as_str());
            of(calls.iter().filter(of_clients), names)
        };
        let clients = if load == "load of 3" { 3 } else { 1 };
        let aim = clients * count as usize;
        let (sends, receives, waits) = (found(&SENDS), found(&RECEIVES), found(&WAITS));
        let told = format!(
            "{kind}, {load}, pinned: {pinned}: {sends} sends, {receives} receives, {waits} waits"
        );
        // An answer may come in two pieces now and then.
        let near = |count: usize, aim: usize| count.abs_diff(aim) <= 50;
        assert!(near(sends, aim) && near(receives, aim), "{told}");
        match (clients, pinned || cpus.len() == 1) {
            (1, false) => assert!(near(waits, 0), "{told}"),
            (1, true) => assert!(near(waits, aim), "{told}"),
            // One epoll_wait may bring answers to several clients.
            _ => assert!(0 < waits && (waits < aim || near(waits, aim)), "{told}"),
        }
        server.stop().unwrap();
    }
}

pub fn a_statement_is_one_send_and_one_receive(kind: Kind) {
    if !can_trace() {
        return;
    }
    let Some(place) = Place::new(kind) else {
        return;
    };
    let launch = place.launch_with(unsynced(kind));
    let server = place.engine.launch(&launch).unwrap();
    let address = server.address();
    let mut session = connect(&address).unwrap();
    session.execute("CREATE TABLE calls (a int)").unwrap();
    session.execute("INSERT INTO calls VALUES (-1)").unwrap();
    let (few, many) = (20, 420);
    let more = (many - few) as usize;
    for statement in STATEMENTS {
        let log = place.dir.path().join("strace");
        let before = traced(&address, (statement, None), few, &log);
        let after = traced(&address, (statement, None), many, &log);
        for names in [SENDS, RECEIVES] {
            let found = of(&after, &names) - of(&before, &names);
            assert_eq!(found, more, "{kind} {statement}: {names:?}");
        }
        // Nothing else either: no poll, no epoll, no clock.
        let found = after.len().saturating_sub(before.len());
        assert!(
            found.abs_diff(2 * more) <= 20,
            "{kind} {statement}: {found} calls for {more} statements"
        );
    }
    drop(session);
    server.stop().unwrap();
}
