//! Two looks at the machine, before and after, and what happened between them: nothing
//! runs meanwhile that could disturb what is measured.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::units::{CpuTime, DeviceCounters};

/// Sectors in `/proc/diskstats` have 512 bytes whatever the block size.
const SECTOR: u64 = 512;

/// The running counters of one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    at: Instant,
    cpu: Cpu,
    own: CpuTime,
    cpu_stalled_us: Option<u64>,
    io_stalled_us: Option<u64>,
    disk: Option<DeviceCounters>,
}

/// The machine's CPU time, of all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cpu {
    cpus: u32,
    /// Niced or not.
    user_ns: u64,
    /// Interrupts included.
    system_ns: u64,
    steal_ns: u64,
}

/// What happened between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// How long it was.
    pub elapsed: Duration,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Time all processes spent in user mode, ns.
    pub user_ns: u64,
    /// Time spent in the kernel, for processes, interrupts and its own threads, ns.
    pub system_ns: u64,
    /// Time the hypervisor gave to others, ns.
    pub steal_ns: u64,
    /// What this process and the children it has waited for used of that.
    pub own: CpuTime,
    /// Time in which some task waited for a CPU, ns; `None` where the kernel does not
    /// count it.
    pub cpu_stalled_ns: Option<u64>,
    /// Time in which some task waited for I/O, ns.
    pub io_stalled_ns: Option<u64>,
    /// What the watched disk did.
    pub disk: Option<DeviceCounters>,
}

impl Reading {
    /// Reads them now; `disk` is the device number of the disk to watch.
    pub fn take(disk: Option<(u32, u32)>) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Reading {
            at: Instant::now(),
            cpu: cpu(&text("/proc/stat")).unwrap_or_default(),
            own: own_cpu(),
            cpu_stalled_us: stalled(&text("/proc/pressure/cpu")),
            io_stalled_us: stalled(&text("/proc/pressure/io")),
            disk: disk.and_then(|number| disk_counters(&text("/proc/diskstats"), number)),
        }
    }

    /// What happened from `self` to `later`.
    pub fn until(&self, later: &Reading) -> Window {
        let stalled = |from: Option<u64>, to: Option<u64>| {
            Some(to?.saturating_sub(from?).saturating_mul(1000))
        };
        Window {
            elapsed: later.at.saturating_duration_since(self.at),
            cpus: later.cpu.cpus,
            user_ns: later.cpu.user_ns.saturating_sub(self.cpu.user_ns),
            system_ns: later.cpu.system_ns.saturating_sub(self.cpu.system_ns),
            steal_ns: later.cpu.steal_ns.saturating_sub(self.cpu.steal_ns),
            own: later.own.since(self.own),
            cpu_stalled_ns: stalled(self.cpu_stalled_us, later.cpu_stalled_us),
            io_stalled_ns: stalled(self.io_stalled_us, later.io_stalled_us),
            disk: self.disk.zip(later.disk).map(|(a, b)| b.since(a)),
        }
    }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal
/// in ticks (guests are counted in user).
fn cpu(stat: &str) -> Option<Cpu> {
    let tick_ns = 1_000_000_000 / u64::try_from(ticks_per_second()).ok()?.max(1);
    let mut lines = stat.lines().take_while(|line| line.starts_with("cpu"));
    let all = lines.next()?.split_ascii_whitespace().skip(1);
    let ticks: Vec<u64> = all.map_while(|field| field.parse().ok()).collect();
    let of = |fields: &[usize]| -> u64 {
        let ticks = fields.iter().filter_map(|i| ticks.get(*i));
        ticks.sum::<u64>() * tick_ns
    };
    Some(Cpu {
        cpus: lines.count() as u32,
        user_ns: of(&[0, 1]),
        system_ns: of(&[2, 5, 6]),
        steal_ns: of(&[7]),
    })
}

fn ticks_per_second() -> i64 {
    nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)
        .ok()
        .flatten()
        .unwrap_or(100)
}

/// `some … total=MICROSECONDS`.
fn stalled(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    some.split("total=").nth(1)?.trim().parse().ok()
}

/// This process and the children it has waited for.
fn own_cpu() -> CpuTime {
    let of = |who| {
        getrusage(who)
            .map(|usage| cpu_time(&usage))
            .unwrap_or_default()
    };
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}

fn cpu_time(usage: &Usage) -> CpuTime {
    CpuTime {
        user_ns: usage.user_time().num_microseconds() as u64 * 1000,
        system_ns: usage.system_time().num_microseconds() as u64 * 1000,
    }
}

/// A line of `/proc/diskstats`: major, minor, name, then the fields of the kernel's
/// `iostats.rst`: 3 sectors read, 7 sectors written.
fn disk_counters(diskstats: &str, (major, minor): (u32, u32)) -> Option<DeviceCounters> {
    diskstats.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        if (number(0)?, number(1)?) != (u64::from(major), u64::from(minor)) {
            return None;
        }
        Some(DeviceCounters {
            read_bytes: number(5)? * SECTOR,
            written_bytes: number(9)? * SECTOR,
            ..DeviceCounters::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_the_kernels_own_forms() {
        let stat = "cpu  100 20 30 999 7 4 5 6 0 0\ncpu0 50 10 15 0 0 0 0 0 0 0\n\
            cpu1 50 10 15 0 0 0 0 0 0 0\nintr 1\n";
        let tick = 1_000_000_000 / ticks_per_second() as u64;
        assert_eq!(
            cpu(stat),
            Some(Cpu {
                cpus: 2,
                user_ns: 120 * tick,
                system_ns: 39 * tick,
                steal_ns: 6 * tick,
            })
        );
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n\
            full avg10=0.00 avg60=0.00 avg300=0.00 total=99\n";
        assert_eq!(stalled(pressure), Some(1234));
        assert_eq!(stalled(""), None);
        let disks =
            " 254       0 vda 1 2 16 4 5 6 32 8 0 9 10\n   7       2 loop2 1 0 8 0 1 0 8 0 0 0 0\n";
        let counters = disk_counters(disks, (254, 0)).unwrap();
        assert_eq!((counters.read_bytes, counters.written_bytes), (8192, 16384));
        assert_eq!(disk_counters(disks, (8, 0)), None);
    }

    #[test]
    fn this_machine_counts() {
        let first = Reading::take(None);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        let window = first.until(&Reading::take(None));
        assert!(window.cpus > 0 && window.elapsed >= Duration::from_millis(60));
        assert!(window.own.total_ns() > 0, "{window:?}");
    }
}
