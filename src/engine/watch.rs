//! What a running server costs, read from beside it: usable from another process.

use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::host::cpu_stat;
use crate::measure::CpuTime;

/// Where the CPU time and memory of one server can be read. Crosses the pipe to the
/// worker, which reads them around every operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerWatch {
    /// The server's main process.
    pub pid: u32,
    /// Directory of the cgroup v2 that the server alone is in.
    pub cgroup: Option<PathBuf>,
    /// File that holds the bytes charged to its memory cgroup (v2 `memory.current`, v1
    /// `memory.usage_in_bytes`); page cache is part of it.
    pub memory: Option<PathBuf>,
}

impl ServerWatch {
    /// Of the process `pid`, which joined the groups of these `cgroup.procs` files.
    pub(super) fn new(pid: u32, procs: &[PathBuf]) -> Self {
        let groups = || procs.iter().filter_map(|p| p.parent());
        let memory = |dir: &Path| {
            ["memory.current", "memory.usage_in_bytes"]
                .map(|name| dir.join(name))
                .into_iter()
                .find(|file| file.exists())
        };
        ServerWatch {
            pid,
            cgroup: groups()
                .find(|dir| cpu_stat(dir).is_some())
                .map(Path::to_path_buf),
            memory: groups().find_map(memory),
        }
    }

    /// CPU time so far, ended children included: from the cgroup to the microsecond,
    /// otherwise summed over the process tree, in steps of the kernel's clock tick
    /// (10 ms). `None` once it cannot be read.
    pub fn cpu(&self) -> Option<CpuTime> {
        if let Some(dir) = &self.cgroup {
            return cpu_stat(dir);
        }
        let main = process_cpu(self.pid)?;
        let children = tree(self.pid).into_iter().skip(1);
        Some(
            children
                .filter_map(process_cpu)
                .fold(main, |sum, cpu| sum + cpu),
        )
    }

    /// Bytes of memory in use: what the memory cgroup is charged with, page cache
    /// included; without one, what is resident: the processes' own pages summed over the
    /// tree, and the shared ones of the process that has most of them. (The proportional
    /// set size would divide shared pages better, and cost milliseconds a look.)
    pub fn memory(&self) -> Option<u64> {
        if let Some(file) = &self.memory {
            return fs::read_to_string(file).ok()?.trim().parse().ok();
        }
        let sizes: Vec<Resident> = tree(self.pid).into_iter().filter_map(resident).collect();
        let shared = sizes.iter().map(|r| r.shared).max()?;
        Some(shared + sizes.iter().map(|r| r.own).sum::<u64>())
    }
}

/// Of one process and its reaped children.
fn process_cpu(pid: u32) -> Option<CpuTime> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    cpu_of_stat(&stat, ticks_per_second())
}

fn cpu_of_stat(stat: &str, hertz: u64) -> Option<CpuTime> {
    // The name may hold spaces and brackets: the fields after it begin with the third.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ns = |n: usize| -> Option<u64> {
        Some(fields.get(n - 3)?.parse::<u64>().ok()? * (1_000_000_000 / hertz))
    };
    Some(CpuTime {
        user_ns: ns(14)? + ns(16)?,
        system_ns: ns(15)? + ns(17)?,
    })
}

fn ticks_per_second() -> u64 {
    // SAFETY: no arguments but a constant.
    let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(hertz).ok().filter(|h| *h > 0).unwrap_or(100)
}

/// Bytes of one process that are in memory.
struct Resident {
    /// Its own.
    own: u64,
    /// Of files and shared memory.
    shared: u64,
}

fn resident(pid: u32) -> Option<Resident> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut pages = text.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
    let page = rustix::param::page_size() as u64;
    Some(Resident {
        own: resident.saturating_sub(shared) * page,
        shared: shared * page,
    })
}

/// A process and all that it started, children after parents.
pub(super) fn tree(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        next += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children"));
            let children = children.unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|c| c.parse::<u32>().ok()),
            );
        }
    }
    found
}

/// For the kernel.
pub(super) fn pid_t(pid: u32) -> Pid {
    Pid::from_raw(pid as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_stat_may_hold_anything() {
        let stat = "7 (a) b ( c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 25 10 20 0 1 0";
        let cpu = cpu_of_stat(stat, 100).unwrap();
        assert_eq!(cpu.user_ns, 1_750_000_000);
        assert_eq!(cpu.system_ns, 600_000_000);
    }

    #[test]
    fn our_own_process_can_be_watched() {
        let watch = ServerWatch::new(std::process::id(), &[]);
        assert!(watch.cpu().is_some());
        assert!(watch.memory().unwrap() > 100_000);
        assert_eq!(tree(std::process::id())[0], std::process::id());
    }

    #[test]
    fn a_v1_cpu_stat_is_not_taken_for_v2() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cpu.stat"), "nr_periods 0\n").unwrap();
        let procs = [dir.path().join("cgroup.procs")];
        assert_eq!(ServerWatch::new(1, &procs).cgroup, None);
        fs::write(
            dir.path().join("cpu.stat"),
            "usage_usec 7\nuser_usec 4\nsystem_usec 3\n",
        )
        .unwrap();
        let watch = ServerWatch::new(1, &procs);
        assert_eq!(watch.cpu().unwrap().total_ns(), 7000);
    }
}
