//! Looks at the server's memory while the worker measures, from the orchestrating
//! process: at most ten times a second, and less often where a look is dear, so that the
//! looking takes a two-hundredth of the time at most.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

use crate::engine::ServerWatch;
use crate::measure::stats::median;
use crate::record::SampledRecord;
use crate::workload::Event;

/// The shortest time between two looks.
const INTERVAL: Duration = Duration::from_millis(100);
/// How many times its own CPU time passes before the next look.
const PAUSE: u32 = 200;
/// When there is nothing to look at.
const IDLE: Duration = Duration::from_secs(1);

/// Samples one case.
pub(super) struct Sampler {
    watch: Option<ServerWatch>,
    next: Instant,
    phase: Option<Phase>,
}

/// What has been seen of the present phase.
struct Phase {
    began: Instant,
    measuring: bool,
    memory: Vec<(Instant, u64)>,
    cpu: Duration,
}

impl Sampler {
    /// Of this server, if there is one.
    pub fn new(watch: Option<ServerWatch>) -> Self {
        Sampler {
            watch,
            next: Instant::now(),
            phase: None,
        }
    }

    /// Looks if it is time to; says how long it is until the next look.
    pub fn tick(&mut self) -> Duration {
        let (Some(watch), Some(phase)) = (&self.watch, &mut self.phase) else {
            return IDLE;
        };
        let now = Instant::now();
        if now < self.next {
            return self.next - now;
        }
        let before = own_cpu();
        if let Some(bytes) = watch.memory() {
            phase.memory.push((now, bytes));
        }
        let cost = own_cpu().saturating_sub(before);
        phase.cpu += cost;
        let pause = INTERVAL.max(cost * PAUSE);
        self.next = now + pause;
        pause
    }

    /// Follows the phases; at the end of one gives what was seen of it.
    pub fn hear(&mut self, event: &Event) -> Option<SampledRecord> {
        match event {
            Event::PhaseStarted { .. } => {
                self.phase = self.watch.as_ref().map(|_| Phase::new());
                None
            }
            Event::OperationStarted { .. } | Event::LoadProgress(_) => {
                if let Some(phase) = self.phase.as_mut().filter(|p| !p.measuring) {
                    phase.measuring = true;
                    phase.began = Instant::now();
                }
                None
            }
            Event::PhaseFinished(result) => {
                let pauses = result.duet.map_or(0, |duet| duet.paused_ns);
                let returned = Duration::from_nanos(result.ends.returned.wall_ns + pauses);
                Some(self.phase.take()?.until(returned))
            }
            _ => None,
        }
    }
}

impl Phase {
    fn new() -> Self {
        Phase {
            began: Instant::now(),
            measuring: false,
            memory: Vec::new(),
            cpu: Duration::ZERO,
        }
    }

    /// What was seen until the phase had returned. Stable is what the second half of that
    /// time settles on: its median.
    fn until(self, returned: Duration) -> SampledRecord {
        let half = self.began + returned / 2;
        let second_half: Vec<f64> = self
            .memory
            .iter()
            .filter(|(at, _)| (half..=self.began + returned).contains(at))
            .map(|(_, bytes)| *bytes as f64)
            .collect();
        SampledRecord {
            samples: self.memory.len() as u64,
            cpu_ns: self.cpu.as_nanos() as u64,
            server_memory_stable_bytes: median(&second_half).map(|bytes| bytes as u64),
        }
    }
}

/// CPU of this thread.
fn own_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_is_the_median_of_the_second_half_until_returned() {
        let began = Instant::now();
        let at = |ms: u64, bytes| (began + Duration::from_millis(ms), bytes);
        let phase = Phase {
            began,
            measuring: true,
            memory: vec![
                at(100, 1),
                at(600, 50),
                at(700, 60),
                at(800, 70),
                at(1100, 900),
            ],
            cpu: Duration::from_micros(5),
        };
        let seen = phase.until(Duration::from_secs(1));
        assert_eq!(seen.server_memory_stable_bytes, Some(60));
        assert_eq!((seen.samples, seen.cpu_ns), (5, 5000));
        let short = Phase::new().until(Duration::from_millis(1));
        assert_eq!(short.server_memory_stable_bytes, None);
    }

    #[test]
    fn without_a_server_nothing_is_looked_at() {
        let mut sampler = Sampler::new(None);
        assert!(
            sampler
                .hear(&Event::PhaseStarted { phase: "x".into() })
                .is_none()
        );
        assert_eq!(sampler.tick(), IDLE);
    }
}
