//! CPU time of the whole machine.

use std::fs;

use crate::units::CpuTime;

/// Time that all CPUs were busy so far, and time that the hypervisor took for others
/// (ns), from `/proc/stat` in steps of the kernel's tick. Work that the kernel does on
/// nobody's account (journal, write-back, loop devices) is in the first.
pub fn machine_cpu() -> Option<(CpuTime, u64)> {
    // SAFETY: no arguments but a constant.
    let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let hertz = u64::try_from(hertz).ok().filter(|h| *h > 0)?;
    of_stat(
        &fs::read_to_string("/proc/stat").ok()?,
        1_000_000_000 / hertz,
    )
}

fn of_stat(text: &str, tick_ns: u64) -> Option<(CpuTime, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; guests are in user and nice.
    let &[user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks.as_slice() else {
        return None;
    };
    let busy = CpuTime {
        user_ns: (user + nice) * tick_ns,
        system_ns: (system + irq + softirq) * tick_ns,
    };
    Some((busy, steal * tick_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_all_but_idle_and_stolen() {
        let text = "cpu  10 1 5 1000 7 2 3 4 0 0\ncpu0 5 0 2 500 3 1 1 2 0 0\n";
        let (busy, steal) = of_stat(text, 10).unwrap();
        assert_eq!((busy.user_ns, busy.system_ns, steal), (110, 100, 40));
        assert!(machine_cpu().is_some());
    }
}
