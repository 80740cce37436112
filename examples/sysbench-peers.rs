//! Compares the load's driver with sysbench: `oltp_point_select` on the same private server
//! and table, with the same distribution of keys, in turn (A B A B). Prints medians and their
//! ratios: client CPU a transaction (user and system, the whole process) and throughput.
//!
//! ```text
//! cargo run --release --example sysbench-peers -- [SECONDS [PAIRS [CONNECTIONS,… [ENGINE,…]]]]
//! ```
//!
//! The servers are in /dev/shm: what is compared is the clients. On a machine of few CPUs
//! the client's time is taken from the server's.

#![expect(clippy::unwrap_used, reason = "a tool run by hand")]

mod peers;

use std::path::Path;
use std::process::Command;

use mountmark::engine::{Address, Spec, find};
use mountmark::workload::load::{Options, Script};

use peers::{Run, run_counted};

const SCRIPT: &str = "oltp_point_select";
/// Rows of the table.
const ROWS: u64 = 100_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("ours") => ours(&args[1..]),
        _ => compare(&args),
    }
}

fn compare(args: &[String]) {
    let arg = |n: usize, usual: &str| args.get(n).map_or(usual, String::as_str).to_string();
    let seconds = arg(0, "4");
    let pairs: usize = arg(1, "5").parse().unwrap();
    let connections = arg(2, "1,16,128,256");
    println!("{SCRIPT}, {ROWS} rows, keys special; medians of {pairs} pairs of {seconds} s");
    println!("engine    connections   tps ours/sysbench           client µs/tx ours/sysbench");
    for kind in arg(3, "mariadb,postgres").split(',') {
        let dir = peers::place();
        let engine = find(&kind.parse::<Spec>().unwrap()).unwrap();
        let launch = peers::launch(
            dir.path(),
            engine.as_ref(),
            &[("max_connections", "300")],
            &options(1.0),
        );
        let server = engine.launch(&launch).unwrap();
        let address = server.address();
        for clients in connections.split(',') {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..pairs {
                let place = serde_json::to_string(&address).unwrap();
                ours.push(peers::run_ours(&["ours", &place, clients, &seconds]));
                theirs.push(run_sysbench(&address, clients, &seconds));
            }
            let tps = [&ours, &theirs].map(|runs| median(runs, |r| r.tps));
            let cpu = [&ours, &theirs].map(|runs| median(runs, |r| r.cpu_us));
            let user = [&ours, &theirs].map(|runs| median(runs, |r| r.user_us));
            println!(
                "{kind:<9} {clients:>11}  {:>8.0} /{:>8.0} = {:.2}     {:>7.2} /{:>7.2} = {:.2}  (user {:.2} /{:.2})",
                tps[0],
                tps[1],
                tps[0] / tps[1],
                cpu[0],
                cpu[1],
                cpu[0] / cpu[1],
                user[0],
                user[1],
            );
        }
        server.stop().unwrap();
    }
}

fn median(runs: &[Run], figure: fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(figure).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

fn options(seconds: f64) -> Options {
    Options {
        scripts: vec![Script {
            name: SCRIPT.to_string(),
            text: None,
            weight: 1,
        }],
        preload: ROWS,
        seconds: Some(seconds),
        warmup_s: 0.0,
        ..Options::default()
    }
}

fn run_sysbench(address: &Address, clients: &str, seconds: &str) -> Run {
    let mut command = Command::new("sysbench");
    let flag = |name: &str, value: &str| format!("--{name}={value}");
    let path = |path: &Path| path.display().to_string();
    match address {
        Address::Mysql {
            socket,
            user,
            database,
            ..
        } => command.args([
            flag("db-driver", "mysql"),
            flag("mysql-socket", &path(socket)),
            flag("mysql-user", user),
            flag("mysql-db", database),
        ]),
        Address::Postgres {
            dir,
            user,
            database,
        } => command.args([
            flag("db-driver", "pgsql"),
            flag("pgsql-host", &path(dir)),
            flag("pgsql-user", user),
            flag("pgsql-db", database),
        ]),
        _ => panic!("sysbench has no driver for this engine"),
    };
    command.args([
        flag("tables", "1"),
        flag("table-size", &ROWS.to_string()),
        flag("rand-type", "special"),
        flag("threads", clients),
        flag("time", seconds),
    ]);
    let (text, cpu_us, user_us) = run_counted(command.args([SCRIPT, "run"]));
    // "transactions:                        12345  (1234.50 per sec.)"
    let line = text.lines().find(|l| l.contains("transactions:")).unwrap();
    let mut numbers = line
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|word| word.parse::<f64>().ok());
    let (committed, tps) = (numbers.next().unwrap(), numbers.next().unwrap());
    Run {
        tps,
        cpu_us: cpu_us / committed,
        user_us: user_us / committed,
    }
}

fn ours(args: &[String]) {
    let address: Address = serde_json::from_str(&args[0]).unwrap();
    let options = options(args[2].parse().unwrap());
    peers::ours(&address, &options, args[1].parse().unwrap());
}
