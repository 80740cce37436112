//! When a measurement counts as disturbed by others: a fixed rule, so that nobody is
//! tempted to find a round disturbed because its figure does not please. Such rounds are
//! shown and never dropped.

use std::fmt;

use crate::host::Window;
use crate::units::{Bytes, CpuTime, DeviceCounters};

/// Steal above this share of the window's CPU time (elapsed times CPUs).
pub const STEAL_SHARE: f64 = 0.02;
/// User time of other processes above this share of it. Only user time: work done in
/// the kernel for the case (flushes, loop device, journal) cannot be told from that
/// of others.
pub const OTHERS_SHARE: f64 = 0.10;
/// Some task waiting for a CPU in more than this share of the time. A quiet machine shows
/// 20 to 25 %: loop device and journal work on the CPU of the worker that waits for them.
/// A server and its client wait for each other's CPU by nature, so this counts only
/// where the case is one process.
pub const STALLED_SHARE: f64 = 0.5;
/// CPU time below this is within the clock's ticks, whatever its share, ns.
pub const LEAST_CPU_NS: u64 = 50_000_000;
/// Other I/O on the disk that holds the image above this share of the case's own …
pub const IO_SHARE: f64 = 0.25;
/// … and above this many bytes: the holder's own metadata stay below.
pub const LEAST_IO_BYTES: u64 = 8 << 20;

/// What the case itself did in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// CPU of its server; that of the worker is in the window.
    pub server: CpuTime,
    /// What its own device did: the part of the disk's I/O that is not other people's.
    /// `None` where the disk is its device, so that nothing can be told apart.
    pub device: Option<DeviceCounters>,
    /// It has no server beside the worker.
    pub one_process: bool,
}

/// What disturbed a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disturbance {
    /// The hypervisor gave that share of the CPU time to others.
    Steal(f64),
    /// Other processes used that share of the CPU time.
    Others(f64),
    /// Tasks waited for a CPU in that share of the time.
    Stalled(f64),
    /// Others moved so many bytes on the disk below the image.
    Io(u64),
}

/// `steal (3 % of the CPU time)`: what, and in brackets how much.
impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| (share * 100.0).round();
        match *self {
            Disturbance::Steal(share) => {
                write!(f, "steal ({} % of the CPU time)", percent(share))
            }
            Disturbance::Others(share) => {
                write!(f, "other processes ({} % of the CPU time)", percent(share))
            }
            Disturbance::Stalled(share) => {
                write!(f, "waiting for a CPU ({} % of the time)", percent(share))
            }
            Disturbance::Io(bytes) => {
                write!(f, "other I/O on the disk ({})", Bytes(bytes).human())
            }
        }
    }
}

/// What disturbed the case in `window`, by the rule.
pub fn disturbances(window: &Window, own: &Own) -> Vec<Disturbance> {
    let elapsed = window.elapsed.as_nanos() as f64;
    let capacity = elapsed * f64::from(window.cpus);
    let mut found = Vec::new();
    let mut check = |ns: u64, of: f64, limit: f64, kind: fn(f64) -> Disturbance| {
        let share = ns as f64 / of;
        if ns >= LEAST_CPU_NS && share > limit {
            found.push(kind(share));
        }
    };
    check(window.steal_ns, capacity, STEAL_SHARE, Disturbance::Steal);
    let mine = window.own.user_ns + own.server.user_ns;
    let others = window.user_ns.saturating_sub(mine);
    check(others, capacity, OTHERS_SHARE, Disturbance::Others);
    if let (true, Some(stalled)) = (own.one_process, window.cpu_stalled_ns) {
        check(stalled, elapsed, STALLED_SHARE, Disturbance::Stalled);
    }
    if let (Some(disk), Some(device)) = (window.disk, own.device) {
        let bytes = |c: DeviceCounters| c.read_bytes + c.written_bytes;
        let others = bytes(disk).saturating_sub(bytes(device));
        if others > LEAST_IO_BYTES && others as f64 > IO_SHARE * bytes(device) as f64 {
            found.push(Disturbance::Io(others));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SECOND: u64 = 1_000_000_000;

    fn quiet() -> Window {
        Window {
            elapsed: Duration::from_secs(10),
            cpus: 2,
            user_ns: 5 * SECOND,
            system_ns: 4 * SECOND,
            own: CpuTime {
                user_ns: 4 * SECOND,
                system_ns: SECOND,
            },
            cpu_stalled_ns: Some(SECOND / 2),
            ..Window::default()
        }
    }

    fn words(window: &Window, own: &Own) -> Vec<String> {
        let found = disturbances(window, own);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_quiet_machine_disturbs_nobody() {
        assert_eq!(words(&quiet(), &Own::default()), Vec::<String>::new());
        assert_eq!(
            words(&Window::default(), &Own::default()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn steal_and_other_processes_count_by_their_share() {
        let mut window = quiet();
        window.steal_ns = SECOND / 2;
        window.user_ns = 9 * SECOND;
        assert_eq!(
            words(&window, &Own::default()),
            [
                "steal (3 % of the CPU time)",
                "other processes (25 % of the CPU time)"
            ]
        );
        let own = Own {
            server: CpuTime {
                user_ns: 4 * SECOND,
                system_ns: 0,
            },
            ..Own::default()
        };
        assert_eq!(words(&window, &own), ["steal (3 % of the CPU time)"]);
    }

    #[test]
    fn a_tick_in_a_short_window_is_no_disturbance() {
        let window = Window {
            elapsed: Duration::from_millis(20),
            cpus: 2,
            user_ns: 20_000_000,
            steal_ns: 10_000_000,
            ..Window::default()
        };
        assert_eq!(words(&window, &Own::default()), Vec::<String>::new());
    }

    #[test]
    fn waiting_for_a_cpu_counts_where_there_is_no_server() {
        let mut window = quiet();
        window.cpu_stalled_ns = Some(6 * SECOND);
        let mut own = Own::default();
        assert_eq!(words(&window, &own), Vec::<String>::new());
        own.one_process = true;
        assert_eq!(
            words(&window, &own),
            ["waiting for a CPU (60 % of the time)"]
        );
    }

    #[test]
    fn io_beyond_ones_own_counts_when_it_is_much() {
        let moved = |mib: u64| DeviceCounters {
            written_bytes: mib << 20,
            ..DeviceCounters::default()
        };
        let others = |disk, device| {
            let window = Window {
                disk: Some(moved(disk)),
                ..quiet()
            };
            let own = Own {
                device: Some(moved(device)),
                ..Own::default()
            };
            disturbances(&window, &own)
        };
        assert_eq!(others(107, 100), []);
        assert_eq!(others(120, 100), []);
        assert_eq!(others(7, 0), []);
        assert_eq!(others(140, 100), [Disturbance::Io(40 << 20)]);
        assert_eq!(others(90, 100), []);
    }
}
