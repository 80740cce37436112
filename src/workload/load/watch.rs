//! What is looked at around and beside the measured period, by the main thread.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::crew::Watcher;
use super::result::{MachineCpu, Progress};
use super::tally::Beat;
use crate::engine::{Activity, Session, WalCheckpoint};
use crate::error::{Error, Result};
use crate::host::Reading;
use crate::workload::Bench;
use crate::workload::bench::Stamp;
use crate::workload::event::Event;
use crate::workload::gate::Gate;
use crate::workload::rest::Rest;

/// Throughput over time is taken that often.
const SECOND: Duration = Duration::from_secs(1);

/// The watcher of one load.
pub(super) struct Watch<'w, 'a> {
    pub bench: &'w mut Bench<'a>,
    /// A session of its own; it works only while the clients do not.
    pub keeper: &'w mut dyn Session,
    pub progress: Option<Duration>,
    pub seen: Seen,
}

/// What it saw.
#[derive(Default)]
pub(super) struct Seen {
    pub before: Option<Stamp>,
    pub after: Option<Stamp>,
    pub machine_before: Option<Reading>,
    pub machine: Option<MachineCpu>,
    pub server_memory_before: Option<u64>,
    pub server_memory: Option<u64>,
    activity_before: Activity,
    pub activity: BTreeMap<String, f64>,
    started_s: f64,
    pub wal_checkpoints: Option<Vec<WalCheckpoint>>,
    /// Pauses of a duet, by the clock: start since the period's, and length.
    pauses: Vec<(Duration, Duration)>,
    /// Elapsed ns and transactions committed.
    pub series: Vec<(u64, u64)>,
    told: (Duration, Beat),
}

impl Watcher for Watch<'_, '_> {
    fn arrive(&mut self, least: Duration) -> Option<Duration> {
        self.bench.gate.arrive();
        self.bench.gate.lead(least)
    }

    fn pause(&mut self, own: Duration, committed: u64, least: Duration) -> Option<Duration> {
        self.bench.gate.note_own(own);
        if let Some(before) = self.seen.before {
            self.bench.slices.cut(committed, own);
            let start = before.wall.elapsed();
            self.seen.pauses.push((start, self.bench.pause()));
        } else {
            self.bench.pause();
        }
        self.bench.gate.lead(least)
    }

    fn before(&mut self) -> Result<()> {
        self.bench.slices.clear();
        self.bench.rest = Rest::new(&self.bench.gate);
        let seen = &mut self.seen;
        seen.server_memory_before = self.bench.server_memory();
        seen.activity_before = self.keeper.activity().map_err(Error::new)?;
        seen.machine_before = self.bench.machine();
        seen.started_s = epoch_s();
        seen.before = Some(self.bench.stamp_before());
        Ok(())
    }

    fn sample(&mut self, elapsed: Duration, beat: Beat) -> Result<Duration> {
        let seen = &mut self.seen;
        seen.series
            .push((elapsed.as_nanos() as u64, beat.committed));
        if let Some(step) = self.progress
            && elapsed >= seen.told.0 + step
        {
            let event = progress(seen.told, (elapsed, beat));
            seen.told = (elapsed, beat);
            self.bench.tell(Event::LoadProgress(event))?;
        }
        let mut next = next_multiple(elapsed, SECOND);
        if let Some(step) = self.progress {
            next = next.min(seen.told.0 + step);
        }
        Ok(next)
    }

    fn returned(&mut self) -> Result<()> {
        let seen = &mut self.seen;
        seen.after = Some(self.bench.stamp_after());
        let machine = seen.machine_before.zip(self.bench.machine());
        // In a duet the rest of the machine is mostly the other case.
        let machine = machine.filter(|_| matches!(self.bench.gate, Gate::Open));
        seen.machine = machine.map(|(before, now)| before.until(&now).into());
        seen.server_memory = self.bench.server_memory();
        Ok(())
    }

    fn closed(&mut self) -> Result<()> {
        let seen = &mut self.seen;
        self.keeper.await_quiet().map_err(Error::new)?;
        let now = self.keeper.activity().map_err(Error::new)?;
        seen.activity = now.since(&seen.activity_before);
        let started = seen.started_s;
        seen.wal_checkpoints = self.keeper.wal_checkpoints().map(|all| {
            all.into_iter()
                .map(|c| WalCheckpoint {
                    started_s: own_time(c.started_s - started, &seen.pauses),
                    ended_s: c.ended_s.map(|end| own_time(end - started, &seen.pauses)),
                    ..c
                })
                .filter(|c| c.ended_s.is_none_or(|end| end >= 0.0))
                .collect()
        });
        Ok(())
    }
}

fn epoch_s() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// A time by the clock, s since the period's start, in own time: without the pauses.
fn own_time(clock_s: f64, pauses: &[(Duration, Duration)]) -> f64 {
    let before = pauses.iter().map(|(start, length)| {
        let since = clock_s - start.as_secs_f64();
        since.clamp(0.0, length.as_secs_f64())
    });
    clock_s - before.sum::<f64>()
}

/// The next whole multiple of `step` after `elapsed`.
fn next_multiple(elapsed: Duration, step: Duration) -> Duration {
    let whole = (elapsed.as_nanos() / step.as_nanos()) as u32 + 1;
    step * whole
}

fn progress((then, last): (Duration, Beat), (now, beat): (Duration, Beat)) -> Progress {
    let seconds = (now - then).as_secs_f64();
    let beat = beat.since(last);
    let mean = |sum: u64| match beat.committed {
        0 => 0.0,
        n => sum as f64 / n as f64,
    };
    let latency_us = mean(beat.latency_us);
    let square = mean(beat.latency_us_squared);
    Progress {
        elapsed_s: now.as_secs_f64(),
        tps: beat.committed as f64 / seconds,
        latency_ms: latency_us / 1e3,
        stddev_ms: (square - latency_us * latency_us).max(0.0).sqrt() / 1e3,
        failed: beat.failed,
        skipped: beat.skipped,
        retried: beat.retried,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_of_the_time_since_the_last() {
        let beat = |committed, latency_us, latency_us_squared| Beat {
            committed,
            latency_us,
            latency_us_squared,
            ..Beat::default()
        };
        let told = (Duration::from_secs(5), beat(10, 1_000, 100_000));
        // Two more, of 1 and 3 ms.
        let now = (Duration::from_secs(7), beat(12, 5_000, 10_100_000));
        let event = progress(told, now);
        assert_eq!((event.elapsed_s, event.tps), (7.0, 1.0));
        assert_eq!((event.latency_ms, event.stddev_ms), (2.0, 1.0));
        let idle = progress(told, (Duration::from_secs(6), told.1));
        assert_eq!((idle.tps, idle.latency_ms), (0.0, 0.0));
    }

    #[test]
    fn own_time_stands_still_in_a_pause() {
        let s = Duration::from_secs;
        let pauses = [(s(1), s(2)), (s(5), s(1))];
        let own = [-1.0, 0.5, 2.0, 3.0, 4.0, 5.5, 7.0].map(|t| own_time(t, &pauses));
        assert_eq!(own, [-1.0, 0.5, 1.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn samples_fall_on_whole_seconds() {
        let ms = Duration::from_millis;
        assert_eq!(next_multiple(ms(0), SECOND), ms(1000));
        assert_eq!(next_multiple(ms(1003), SECOND), ms(2000));
    }
}
