//! Compares the load's driver with pgbench on the same private server and script, in turn
//! (A B A B), and prints ratios: client CPU a transaction (user and system, the whole
//! process) and throughput.
//!
//! With one connection a bare client goes between the two: it sends the same statements as bytes, waits
//! in the receive and looks for the answer's end, nothing else. What it costs is what the
//! kernel asks for waking a CPU and being woken, and no client can do with less.
//!
//! ```text
//! cargo run --release --example load-peers -- [SECONDS [PAIRS [CONNECTIONS,… [SCRIPT,…]]]]
//! ```
//!
//! The server is PostgreSQL with `synchronous_commit=off` in /dev/shm: what is compared
//! is the clients. On a machine of few CPUs the client's time is taken from the server's.

#![expect(clippy::unwrap_used, reason = "a tool run by hand")]

mod peers;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use mountmark::engine::{Address, Spec, find};
use mountmark::workload::load::{Mode, Options, Script};

use peers::{Run, run_counted};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("ours") => ours(&args[1..]),
        Some("bare") => bare(&args[1..]),
        _ => compare(&args),
    }
}

fn compare(args: &[String]) {
    let arg = |n: usize, usual: &str| args.get(n).map_or(usual, String::as_str).to_string();
    let seconds: f64 = arg(0, "4").parse().unwrap();
    let pairs: usize = arg(1, "3").parse().unwrap();
    let connections = arg(2, "1,16,128,256");
    let scripts = arg(3, "select-only,tpcb-like");
    let dir = peers::place();
    let engine = find(&"postgres".parse::<Spec>().unwrap()).unwrap();
    let settings = [
        ("synchronous_commit", "off"),
        ("max_connections", "300"),
        ("max_wal_size", "8GB"),
        ("autovacuum", "off"),
    ];
    let filled = options("tpcb-like", 1.0);
    let launch = peers::launch(dir.path(), engine.as_ref(), &settings, &filled);
    let server = engine.launch(&launch).unwrap();
    let Address::Postgres { dir: socket, .. } = server.address() else {
        panic!("PostgreSQL has such an address");
    };
    println!(
        "script       connections  pair  tps ours/pgbench         client µs/tx ours/pgbench  user µs"
    );
    for script in scripts.split(',') {
        for count in connections.split(',') {
            let clients: u32 = count.parse().unwrap();
            let (mut tps, mut cpu) = (1.0, 1.0);
            let (mut bare_tps, mut bare_cpu) = (1.0, 1.0);
            for pair in 0..pairs {
                let (place, time) = (socket.display().to_string(), seconds.to_string());
                let ours = peers::run_ours(&["ours", &place, script, count, &time]);
                if clients == 1 {
                    let bare = peers::run_ours(&["bare", &place, script, &time]);
                    bare_tps *= ours.tps / bare.tps;
                    bare_cpu *= ours.cpu_us / bare.cpu_us;
                }
                let peer = run_pgbench(&socket, script, clients, seconds);
                tps *= ours.tps / peer.tps;
                cpu *= ours.cpu_us / peer.cpu_us;
                println!(
                    "{script:<12} {clients:>11} {:>5}  {:>8.0} /{:>8.0} = {:.2}    {:>7.2} /{:>7.2} = {:.2}  {:>6.2} /{:>6.2}",
                    pair + 1,
                    ours.tps,
                    peer.tps,
                    ours.tps / peer.tps,
                    ours.cpu_us,
                    peer.cpu_us,
                    ours.cpu_us / peer.cpu_us,
                    ours.user_us,
                    peer.user_us,
                );
            }
            let mean = |product: f64| product.powf(1.0 / pairs as f64);
            println!(
                "{script:<12} {clients:>11}  mean {:>19} = {:.2} {:>21} = {:.2}",
                "",
                mean(tps),
                "",
                mean(cpu)
            );
            if clients == 1 {
                println!(
                    "{script:<12} {clients:>11}  ours / bare client {:>6} = {:.2} {:>21} = {:.2}",
                    "",
                    mean(bare_tps),
                    "",
                    mean(bare_cpu)
                );
            }
        }
    }
    server.stop().unwrap();
}

fn options(script: &str, seconds: f64) -> Options {
    Options {
        scripts: vec![Script {
            name: script.to_string(),
            text: None,
            weight: 1,
        }],
        mode: Mode::Prepared,
        scale: 10,
        seconds: Some(seconds),
        warmup_s: 0.0,
        threads: 2,
        ..Options::default()
    }
}

/// The program itself: the one on Debian's PATH is a script that looks for it, whose time
/// would be counted too.
fn pgbench() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let paths = versions.flatten().map(|v| v.path().join("bin/pgbench"));
    let newest = paths.filter(|path| path.exists()).max();
    newest.unwrap_or_else(|| PathBuf::from("pgbench"))
}

fn run_pgbench(socket: &Path, script: &str, clients: u32, seconds: f64) -> Run {
    let mut command = Command::new(pgbench());
    command.args(["-n", "-M", "prepared", "-b", script]);
    command.args(["-c", &clients.to_string()]);
    command.args(["-j", &clients.min(2).to_string()]);
    command.args(["-T", &format!("{seconds:.0}")]);
    command.args([
        "-U",
        "postgres",
        "-h",
        &socket.display().to_string(),
        "mountmark",
    ]);
    let (text, cpu_us, user_us) = run_counted(&mut command);
    let figure = |before: &str| -> f64 {
        let rest = text.split(before).nth(1).unwrap();
        let number: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        number.parse().unwrap()
    };
    let committed = figure("actually processed: ");
    Run {
        tps: figure("tps = "),
        cpu_us: cpu_us / committed,
        user_us: user_us / committed,
    }
}

/// Our side. The script is one of the user's own, so that the data, which pgbench changes
/// too, are not checked.
fn ours(args: &[String]) {
    let address = Address::Postgres {
        dir: PathBuf::from(&args[0]),
        user: "postgres".to_string(),
        database: "mountmark".to_string(),
    };
    let text = match args[1].as_str() {
        "select-only" => include_str!("../sql/load/select-only.sql"),
        "tpcb-like" => include_str!("../sql/load/tpcb-like.sql"),
        other => panic!("no script {other} here"),
    };
    let mut options = options("own", args[3].parse().unwrap());
    options.scripts[0].text = Some(text.to_string());
    peers::ours(&address, &options, args[2].parse().unwrap());
}

/// The statements of a script as messages, sent and waited for one by one.
fn bare(args: &[String]) {
    const PREPARED: [(&str, &[u32]); 7] = [
        ("BEGIN", &[]),
        (
            "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
            &[5_000, 1_000_000],
        ),
        (
            "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
            &[1_000_000],
        ),
        (
            "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
            &[5_000, 100],
        ),
        (
            "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
            &[5_000, 10],
        ),
        (
            "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
             VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
            &[100, 10, 1_000_000, 5_000],
        ),
        ("END", &[]),
    ];
    let statements = match args[1].as_str() {
        "select-only" => &PREPARED[2..3],
        _ => &PREPARED[..],
    };
    let seconds: f64 = args[2].parse().unwrap();
    let mut stream = UnixStream::connect(Path::new(&args[0]).join(".s.PGSQL.5432")).unwrap();
    let mut out = BytesMut::new();
    let user = [("user", "postgres"), ("database", "mountmark")];
    frontend::startup_message(user, &mut out).unwrap();
    for (number, (text, _)) in statements.iter().enumerate() {
        frontend::parse(&number.to_string(), text, [], &mut out).unwrap();
    }
    frontend::sync(&mut out);
    stream.write_all(&out).unwrap();
    let mut buffer = vec![0; 64 << 10];
    // Ready for queries: once connected, once prepared.
    let mut ready = 0;
    while ready < 2 {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the server is gone");
        let ends = buffer[..count].windows(READY.len());
        ready += ends.filter(|end| *end == READY).count();
    }
    let mut random = SmallRng::seed_from_u64(1);
    let (start, mut committed) = (Instant::now(), 0u64);
    while start.elapsed().as_secs_f64() < seconds {
        for (number, (_, limits)) in statements.iter().enumerate() {
            out.clear();
            let values = limits.iter().map(|limit| random.random_range(1..=*limit));
            let put = |value: u32, out: &mut BytesMut| {
                write!(out, "{value}").unwrap();
                Ok(IsNull::No)
            };
            let name = DIGITS[number];
            frontend::bind("", name, [], values, put, [], &mut out)
                .map_err(drop)
                .unwrap();
            frontend::execute("", 0, &mut out).unwrap();
            frontend::sync(&mut out);
            stream.write_all(&out).unwrap();
            let mut count = stream.read(&mut buffer).unwrap();
            while count < 6 || buffer[count - 6..count - 1] != READY[..5] {
                assert!(count >= 6, "the server is gone, or an answer in pieces");
                count = stream.read(&mut buffer).unwrap();
            }
        }
        committed += 1;
    }
    let tps = committed as f64 / start.elapsed().as_secs_f64();
    println!("{committed} {tps}");
}

/// ReadyForQuery, idle.
const READY: &[u8] = b"Z\0\0\0\x05I";
const DIGITS: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];
