//! Compares the load's driver with pgbench (and sysbench, where it is installed) on the
//! same private server and script, in turn (A B A B), and prints ratios: client CPU a
//! transaction (user and system, the whole process) and throughput.
//!
//! ```text
//! cargo run --release --example load-peers -- [SECONDS [PAIRS [CONNECTIONS,… [SCRIPT,…]]]]
//! ```
//!
//! The server is PostgreSQL with `synchronous_commit=off` in /dev/shm: what is compared
//! is the clients. On a machine of few CPUs the client's time is taken from the server's.

#![expect(clippy::unwrap_used, reason = "a tool run by hand")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mountmark::engine::{Address, Engine, Launch, Spec, find};
use mountmark::error::Result;
use mountmark::measure::{CpuTime, DeviceCounters};
use mountmark::workload::load::{Cell, Mode, Options, Script, run};
use mountmark::workload::{Bench, Event, Probe};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("ours") => ours(&args[1..]),
        _ => compare(&args),
    }
}

/// What one run came to.
struct Run {
    tps: f64,
    cpu_us: f64,
    /// Of that in user mode.
    user_us: f64,
}

fn compare(args: &[String]) {
    let arg = |n: usize, usual: &str| args.get(n).map_or(usual, String::as_str).to_string();
    let seconds: f64 = arg(0, "4").parse().unwrap();
    let pairs: usize = arg(1, "3").parse().unwrap();
    let connections = arg(2, "1,16,128,256");
    let scripts = arg(3, "select-only,tpcb-like");
    let dir = tempfile::Builder::new()
        .prefix("mmpeer-")
        .permissions(std::fs::Permissions::from_mode(0o711))
        .tempdir_in("/dev/shm")
        .unwrap();
    let engine = find(&"postgres".parse::<Spec>().unwrap()).unwrap();
    let launch = launch(dir.path(), engine.as_ref());
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
                let ours = run_ours(&socket, script, clients, seconds);
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

fn launch(dir: &Path, engine: &dyn Engine) -> Launch {
    for name in ["data", "run"] {
        std::fs::create_dir(dir.join(name)).unwrap();
    }
    let mut settings = engine.defaults();
    for (name, value) in [
        ("synchronous_commit", "off"),
        ("max_connections", "300"),
        ("max_wal_size", "8GB"),
        ("autovacuum", "off"),
    ] {
        settings.insert(name.to_string(), value.to_string());
    }
    let launch = Launch {
        data: dir.join("data"),
        run_dir: dir.join("run"),
        settings,
        cpus: Vec::new(),
        cgroups: Vec::new(),
    };
    engine.initialise(&launch.data, &launch.settings).unwrap();
    let server = engine.launch(&launch).unwrap();
    let options = options("tpcb-like", 1.0);
    let preload = options.preload(cell(1));
    preload.fill(&server.address()).unwrap();
    server.stop().unwrap();
    launch
}

fn cell(clients: u32) -> Cell {
    Cell {
        clients,
        databases: 1,
    }
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

fn run_ours(socket: &Path, script: &str, clients: u32, seconds: f64) -> Run {
    let mut command = Command::new("/proc/self/exe");
    command.arg("ours").arg(socket).arg(script);
    command.args([clients.to_string(), seconds.to_string()]);
    let (text, cpu_us, user_us) = run_counted(&mut command);
    let mut words = text.split_whitespace().map(|w| w.parse::<f64>().unwrap());
    let (committed, tps) = (words.next().unwrap(), words.next().unwrap());
    Run {
        tps,
        cpu_us: cpu_us / committed,
        user_us: user_us / committed,
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

/// Its output, and the CPU time that it took, µs: in all, and in user mode.
#[expect(
    clippy::zombie_processes,
    reason = "wait4 waits, and tells its CPU time"
)]
fn run_counted(command: &mut Command) -> (String, f64, f64) {
    use std::io::Read;
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut out = child.stdout.take().unwrap();
    out.read_to_string(&mut text).unwrap();
    // SAFETY: all zeros are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    // SAFETY: the pointers are to locals of the right types.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    assert_eq!((waited, status), (child.id() as i32, 0), "{text}");
    let us = |t: libc::timeval| t.tv_sec as f64 * 1e6 + t.tv_usec as f64;
    let (user, system) = (us(usage.ru_utime), us(usage.ru_stime));
    (text, user + system, user)
}

struct Nothing;

impl Probe for Nothing {
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
        Ok(())
    }
}

/// Our side, in a process of its own: prints transactions and tps. The script is one of
/// the user's own, so that the data, which pgbench changes too, are not checked.
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
    let clients = args[2].parse().unwrap();
    let mut tell = |event: Event| {
        if let Event::LoadFinished(result) = event {
            let tps = result.committed as f64 / (result.wall_ns as f64 / 1e9);
            println!("{} {tps}", result.committed);
        }
        Ok(())
    };
    let mut probe = Nothing;
    let limit = Duration::from_secs(600);
    let mut bench = Bench::new(&address, &mut probe, &mut tell, limit);
    run(&mut bench, &options, cell(clients)).unwrap();
}
