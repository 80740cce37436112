//! CPU placement, and how busy the CPUs are.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::units::CpuTime;

/// The CPUs this process may use, ascending.
pub fn allowed_cpus() -> Vec<usize> {
    match sched_getaffinity(Pid::from_raw(0)) {
        Ok(set) => (0..CpuSet::count())
            .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
            .collect(),
        Err(_) => vec![0],
    }
}

/// Binds the calling process to `cpus`; none means no change. Safe between fork and exec.
///
/// # Errors
/// The kernel's, when a CPU is not there or not allowed.
pub fn pin(cpus: &[usize]) -> std::io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// CPU time that the whole machine has spent, kernel threads and interrupts included; in
/// ticks, usually of 10 ms. `None` where the kernel does not tell.
pub fn busy_cpu() -> Option<CpuTime> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let hertz = sysconf(SysconfVar::CLK_TCK).ok()??;
    busy(&stat, 1_000_000_000 / u64::try_from(hertz).ok()?)
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal.
fn busy(stat: &str, tick_ns: u64) -> Option<CpuTime> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = fields
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let of = |indices: [usize; 3]| -> Option<u64> {
        let ticks = indices.iter().map(|i| ticks.get(*i).copied());
        Some(ticks.sum::<Option<u64>>()? * tick_ns)
    };
    Some(CpuTime {
        user_ns: (ticks.first()? + ticks.get(1)?) * tick_ns,
        system_ns: of([2, 5, 6])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_stolen_time_are_not_busy() {
        let text = "cpu  10 1 20 900 7 2 3 40 0 0\ncpu0 1 2 3\n";
        let busy = busy(text, 10).unwrap();
        assert_eq!((busy.user_ns, busy.system_ns), (110, 250));
        assert!(super::busy("cpu  1", 10).is_none());
        assert!(busy_cpu().is_some());
    }

    #[test]
    fn a_process_can_be_bound_to_one_of_its_cpus() {
        let cpus = allowed_cpus();
        let last = *cpus.last().unwrap();
        std::thread::spawn(move || {
            pin(&[last]).unwrap();
            assert_eq!(allowed_cpus(), [last]);
        })
        .join()
        .unwrap();
        assert_eq!(allowed_cpus(), cpus);
    }
}
