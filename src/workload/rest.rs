//! What happens to a case while the other of its duet plays.

use std::time::{Duration, Instant};

use super::bench::Probe;
use super::event::DuetResult;
use super::gate::Gate;
use crate::measure::{CpuTime, DeviceCounters};

/// The pauses of a phase.
#[derive(Clone, Copy, Default)]
pub(super) struct Rest {
    /// Their time, that of the reading of counters included.
    pub paused: Duration,
    device: Option<DeviceCounters>,
    server: Option<CpuTime>,
    /// What turns had cost before the phase.
    cost_before: (u64, u64),
}

impl Rest {
    /// From here on.
    pub fn new(gate: &Gate) -> Self {
        Rest {
            cost_before: gate.cost(),
            ..Rest::default()
        }
    }

    /// Lets the other case play, and watches what ours does meanwhile; how long that took,
    /// the watching included.
    #[cold]
    pub fn pause(&mut self, gate: &mut Gate, probe: &mut dyn Probe) -> Duration {
        let start = Instant::now();
        let (device, server) = (probe.device(), probe.server_cpu());
        gate.pause();
        let (device_now, server_now) = (probe.device(), probe.server_cpu());
        self.device = sum(self.device, device_now, device, DeviceCounters::since);
        self.server = sum(self.server, server_now, server, CpuTime::since);
        let paused = start.elapsed();
        self.paused += paused;
        paused
    }

    /// The figures; `None` where the case plays alone.
    pub fn result(&self, gate: &Gate) -> Option<DuetResult> {
        let ((turns, passing_ns), before) = (gate.cost(), self.cost_before);
        matches!(gate, Gate::Turns(_)).then(|| DuetResult {
            turns: turns - before.0,
            passing_ns: passing_ns - before.1,
            paused_ns: self.paused.as_nanos() as u64,
            resting_device: self.device,
            resting_server: self.server,
        })
    }
}

/// `sum` and what was added to a counter between two readings.
fn sum<T: Copy + std::ops::Add<Output = T>>(
    sum: Option<T>,
    now: Option<T>,
    before: Option<T>,
    since: fn(T, T) -> T,
) -> Option<T> {
    let more = since(now?, before?);
    Some(sum.map_or(more, |sum| sum + more))
}
