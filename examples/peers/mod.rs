//! What the comparisons with other load drivers share: a private server in memory, and
//! processes whose CPU time is counted.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mountmark::engine::{Address, Engine, Launch};
use mountmark::error::Result;
use mountmark::measure::{CpuTime, DeviceCounters};
use mountmark::workload::load::{Cell, Options, run};
use mountmark::workload::{Bench, Event, Probe};

/// What one run came to.
pub struct Run {
    pub tps: f64,
    /// CPU of the client process a transaction, µs.
    pub cpu_us: f64,
    /// Of that in user mode.
    pub user_us: f64,
}

/// One database, so many clients.
pub fn cell(clients: u32) -> Cell {
    Cell {
        clients,
        databases: 1,
    }
}

/// A directory in memory that a server's own user can reach.
pub fn place() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("mmpeer-")
        .permissions(std::fs::Permissions::from_mode(0o711))
        .tempdir_in("/dev/shm")
        .unwrap()
}

/// A server in `dir` with these settings beside its usual ones, filled for `options`.
pub fn launch(
    dir: &Path,
    engine: &dyn Engine,
    changed: &[(&str, &str)],
    options: &Options,
) -> Launch {
    for name in ["data", "run"] {
        std::fs::create_dir(dir.join(name)).unwrap();
    }
    let mut settings = engine.defaults();
    for (name, value) in changed {
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
    options.preload(cell(1)).fill(&server.address()).unwrap();
    server.stop().unwrap();
    launch
}

/// Its output, and the CPU time that it took, µs: in all, and in user mode.
#[expect(
    clippy::zombie_processes,
    reason = "wait4 waits, and tells its CPU time"
)]
pub fn run_counted(command: &mut Command) -> (String, f64, f64) {
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

/// A client of ours in a process of its own: this program, started with `arguments`, which
/// prints its transactions and tps.
pub fn run_ours(arguments: &[&str]) -> Run {
    let mut command = Command::new("/proc/self/exe");
    let (text, cpu_us, user_us) = run_counted(command.args(arguments));
    let mut words = text.split_whitespace().map(|w| w.parse::<f64>().unwrap());
    let (committed, tps) = (words.next().unwrap(), words.next().unwrap());
    Run {
        tps,
        cpu_us: cpu_us / committed,
        user_us: user_us / committed,
    }
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

/// Runs a load and prints its transactions and tps.
pub fn ours(address: &Address, options: &Options, clients: u32) {
    let mut tell = |event: Event| {
        if let Event::LoadFinished(result) = event {
            let tps = result.committed as f64 / (result.wall_ns as f64 / 1e9);
            println!("{} {tps}", result.committed);
        }
        Ok(())
    };
    let mut probe = Nothing;
    let limit = Duration::from_secs(600);
    let mut bench = Bench::new(address, &mut probe, &mut tell, limit);
    run(&mut bench, options, cell(clients)).unwrap();
}
