//! The load's drivers on the wire, and its checks when the data are not what they should
//! be.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use mountmark::engine::{Address, Kind, Settings};
use mountmark::error::{Result, one_line};
use mountmark::measure::{CpuTime, DeviceCounters};
use mountmark::workload::load::{Cell, LoadResult, Options, Script, run};
use mountmark::workload::{Bench, Event, Probe};

use super::support::Place;

/// Sees nothing; does something to the data when they are flushed.
struct Meddler<'m>(&'m mut dyn FnMut());

impl Probe for Meddler<'_> {
    fn device(&mut self) -> Option<DeviceCounters> {
        None
    }

    fn server_cpu(&mut self) -> Option<CpuTime> {
        None
    }

    fn server_memory(&mut self) -> Option<u64> {
        None
    }

    fn dirty_bytes(&mut self) -> Option<u64> {
        None
    }

    fn sync(&mut self) -> Result<()> {
        (self.0)();
        Ok(())
    }
}

fn load(
    address: &Address,
    options: &Options,
    cell: Cell,
    meddle: &mut dyn FnMut(),
) -> Result<LoadResult> {
    options.preload(cell).fill(address)?;
    measure(address, options, cell, meddle)
}

fn measure(
    address: &Address,
    options: &Options,
    cell: Cell,
    meddle: &mut dyn FnMut(),
) -> Result<LoadResult> {
    let mut found = None;
    let mut probe = Meddler(meddle);
    let mut tell = |event: Event| {
        if let Event::LoadFinished(result) = event {
            found = Some(*result);
        }
        Ok(())
    };
    let limit = std::time::Duration::from_secs(60);
    run(
        &mut Bench::new(address, &mut probe, &mut tell, limit),
        options,
        cell,
    )?;
    Ok(found.expect("a result"))
}

fn options(script: &str) -> Options {
    Options {
        scripts: vec![Script {
            name: script.to_string(),
            text: None,
            weight: 1,
        }],
        preload: 10,
        warmup_s: 0.0,
        transactions: Some(20),
        ..Options::default()
    }
}

fn sqlite(dir: &Path) -> Address {
    Address::Sqlite {
        dir: dir.to_path_buf(),
        file: "main.db".to_string(),
        settings: Settings::from([("synchronous".to_string(), "off".to_string())]),
    }
}

/// Runs a load and changes the data by `sql` before they are checked.
fn tampered(script: &str, sql: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let address = sqlite(dir.path());
    let mut meddle = || {
        let mut session = mountmark::engine::connect(&address).unwrap();
        session.execute(sql).unwrap();
    };
    let cell = Cell {
        clients: 2,
        databases: 1,
    };
    let error = load(&address, &options(script), cell, &mut meddle).unwrap_err();
    one_line(&error)
}

#[test]
fn a_lost_tuple_fails_the_case() {
    let said = tampered(
        "insert",
        "DELETE FROM tuples WHERE rowid = (SELECT max(rowid) FROM tuples)",
    );
    assert!(said.contains("not what was acknowledged"), "{said}");
    assert!(
        said.contains("50 were preloaded and acknowledged"),
        "{said}"
    );
}

#[test]
fn a_balance_that_the_history_does_not_explain_fails_the_case() {
    let said = tampered(
        "tpcb-like",
        "UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 3",
    );
    assert!(said.contains("teller balances = history"), "{said}");
    let said = tampered(
        "simple-update",
        "DELETE FROM pgbench_history WHERE rowid = 1",
    );
    assert!(
        said.contains("history rows = acknowledged updates"),
        "{said}"
    );
}

/// One that waits for the locks of a client whose statement failed goes on: else the load
/// would not end.
fn ends_clients_that_wait_for_a_failed_one(kind: Kind, lock: &str) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut options = options("own");
    let text = format!("SELECT {lock};\nSELECT (SELECT 1 UNION SELECT 2);\n");
    options.scripts[0].text = Some(text);
    options.threads = 2;
    let cell = Cell {
        clients: 2,
        databases: 1,
    };
    let error = measure(&server.address(), &options, cell, &mut || ()).unwrap_err();
    let said = one_line(&error);
    assert!(said.contains("more than"), "{said}");
    server.stop().unwrap();
}

#[test]
fn a_failure_ends_clients_that_wait_for_the_failed_one() {
    ends_clients_that_wait_for_a_failed_one(Kind::Postgres, "pg_advisory_lock(1)");
    ends_clients_that_wait_for_a_failed_one(Kind::Mariadb, "GET_LOCK('x', 600)");
}

/// What went over one connection.
#[derive(Default)]
struct Wire {
    /// Executions of prepared statements that the client asked for.
    binds: u64,
    /// How often the client sent something after the server had.
    turns: u64,
}

/// Sent at the end, without an answer.
const GOODBYE: [u8; 5] = [b'X', 0, 0, 0, 4];

/// Stands between client and server and counts.
fn between(from: UnixListener, to: std::path::PathBuf, seen: Arc<Mutex<Vec<Wire>>>) {
    for client in from.incoming() {
        let Ok(client) = client else { return };
        let server = UnixStream::connect(&to).unwrap();
        let index = {
            let mut seen = seen.lock().unwrap();
            seen.push(Wire::default());
            seen.len() - 1
        };
        // True after the server has spoken, and at the start.
        let ours = Arc::new(Mutex::new(true));
        let (mut a, mut b) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (turn, count) = (ours.clone(), seen.clone());
        thread::spawn(move || {
            let mut buffer = [0; 65536];
            let mut messages = Messages::default();
            while let Ok(n @ 1..) = a.read(&mut buffer) {
                if buffer[..n] != GOODBYE {
                    let mut all = count.lock().unwrap();
                    let wire = &mut all[index];
                    wire.turns += u64::from(std::mem::take(&mut *turn.lock().unwrap()));
                    wire.binds += messages.take(&buffer[..n]);
                }
                if b.write_all(&buffer[..n]).is_err() {
                    break;
                }
            }
            let _gone = b.shutdown(std::net::Shutdown::Both);
        });
        let (mut a, mut b) = (client, server);
        thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(n @ 1..) = b.read(&mut buffer) {
                *ours.lock().unwrap() = true;
                if a.write_all(&buffer[..n]).is_err() {
                    break;
                }
            }
            let _gone = a.shutdown(std::net::Shutdown::Both);
        });
    }
}

/// The client's messages, cut out of the stream.
#[derive(Default)]
struct Messages {
    left: VecDeque<u8>,
    started: bool,
}

impl Messages {
    /// Takes bytes; the number of Bind messages completed by them.
    fn take(&mut self, bytes: &[u8]) -> u64 {
        self.left.extend(bytes);
        let mut binds = 0;
        loop {
            // The first message has no tag.
            let tagged = usize::from(self.started);
            if self.left.len() < tagged + 4 {
                return binds;
            }
            let length = (0..4).fold(0, |sum, n| sum << 8 | usize::from(self.left[tagged + n]));
            if self.left.len() < tagged + length {
                return binds;
            }
            binds += u64::from(self.started && self.left[0] == b'B');
            self.left.drain(..tagged + length);
            self.started = true;
        }
    }
}

/// Counted on the wire, not by ourselves: a statement is not sent before the last one has
/// been answered, unless the script opens a pipeline.
#[test]
fn postgres_clients_wait_for_every_answer() {
    let Some(place) = Place::new(Kind::Postgres) else {
        return;
    };
    let server = place.start();
    let Address::Postgres {
        dir,
        user,
        database,
    } = server.address()
    else {
        panic!("an address of PostgreSQL");
    };
    let cell = Cell {
        clients: 3,
        databases: 1,
    };
    let mut options = options("tpcb-like");
    options.preload(cell).fill(&server.address()).unwrap();
    let front = super::support::passable_dir();
    let socket = ".s.PGSQL.5432";
    let listener = UnixListener::bind(front.path().join(socket)).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (counted, behind) = (seen.clone(), dir.join(socket));
    thread::spawn(move || between(listener, behind, counted));
    let address = Address::Postgres {
        dir: front.path().to_path_buf(),
        user,
        database,
    };
    let mut meddle = || ();
    let result = measure(&address, &options, cell, &mut meddle).unwrap();
    assert_eq!(result.round_trips, 3 * 20 * 7);
    let of_clients = || {
        let mut seen = seen.lock().unwrap();
        let all: Vec<Wire> = seen.drain(..).collect();
        all.into_iter().filter(|w| w.binds > 0).collect::<Vec<_>>()
    };
    let clients = of_clients();
    assert_eq!(clients.len(), 3);
    for wire in clients {
        assert_eq!(wire.binds, 20 * 7);
        // More are only what begins the session and prepares its statements, which may
        // reach us in two pieces.
        assert!(
            (1..=2).contains(&(wire.turns - wire.binds)),
            "{}",
            wire.turns
        );
    }
    let piped = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline\n";
    options.scripts[0] = Script {
        name: "piped".to_string(),
        text: Some(piped.to_string()),
        weight: 1,
    };
    measure(&address, &options, cell, &mut meddle).unwrap();
    for wire in of_clients() {
        assert_eq!((wire.binds, wire.turns), (40, 21));
    }
    drop(server);
}
