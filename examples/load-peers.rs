//! Compares the load's driver with pgbench on the same private server and script, in turn
//! (A B A B), and prints ratios: client CPU a transaction (user and system, the whole
//! process) and throughput.
//!
//! ```text
//! cargo run --release --example load-peers -- [SECONDS [PAIRS [CONNECTIONS,… [SCRIPT,…]]]]
//! ```
//!
//! The server is PostgreSQL with `synchronous_commit=off` in /dev/shm: what is compared
//! is the clients. On a machine of few CPUs the client's time is taken from the server's.

#![expect(clippy::unwrap_used, reason = "a tool run by hand")]

mod peers;

use std::path::{Path, PathBuf};
use std::process::Command;

use mountmark::engine::{Address, Spec, find};
use mountmark::workload::load::{Mode, Options, Script};

use peers::{Run, run_counted};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("ours") => ours(&args[1..]),
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
            for pair in 0..pairs {
                let ours = peers::run_ours(&[
                    &socket.display().to_string(),
                    script,
                    count,
                    &seconds.to_string(),
                ]);
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

fn run_pgbench(socket: &Path, script: &str, clients: u32, seconds: f64) -> Run {
    let mut command = Command::new("pgbench");
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
