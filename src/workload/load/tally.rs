//! What is counted while a load runs: per thread and without locks, or in atomics that
//! one thread writes and the watcher reads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::measure::Latency;

/// Counters of one thread that the watcher may read at any time.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Pulse {
    committed: AtomicU64,
    latency_us: AtomicU64,
    latency_us_squared: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    retried: AtomicU64,
}

/// The sums of all pulses at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beat {
    pub committed: u64,
    pub latency_us: u64,
    pub latency_us_squared: u64,
    pub failed: u64,
    pub skipped: u64,
    pub retried: u64,
}

impl Beat {
    /// What has been counted since `earlier`.
    pub fn since(self, earlier: Beat) -> Beat {
        Beat {
            committed: self.committed.wrapping_sub(earlier.committed),
            latency_us: self.latency_us.wrapping_sub(earlier.latency_us),
            latency_us_squared: self
                .latency_us_squared
                .wrapping_sub(earlier.latency_us_squared),
            failed: self.failed - earlier.failed,
            skipped: self.skipped - earlier.skipped,
            retried: self.retried - earlier.retried,
        }
    }
}

/// Only the owning thread writes: no locked addition is needed.
#[inline]
fn add(counter: &AtomicU64, value: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(value),
        Ordering::Relaxed,
    );
}

impl Pulse {
    #[inline]
    pub fn commit(&self, latency_ns: u64) {
        let us = latency_ns / 1000;
        add(&self.committed, 1);
        add(&self.latency_us, us);
        add(&self.latency_us_squared, us.wrapping_mul(us));
    }

    pub fn fail(&self) {
        add(&self.failed, 1);
    }

    pub fn skip(&self) {
        add(&self.skipped, 1);
    }

    pub fn retry(&self) {
        add(&self.retried, 1);
    }

    /// The sums over `pulses`.
    pub fn beat(pulses: &[Pulse]) -> Beat {
        let sum = |pick: fn(&Pulse) -> &AtomicU64| {
            let values = pulses.iter().map(|p| pick(p).load(Ordering::Relaxed));
            values.fold(0u64, u64::wrapping_add)
        };
        Beat {
            committed: sum(|p| &p.committed),
            latency_us: sum(|p| &p.latency_us),
            latency_us_squared: sum(|p| &p.latency_us_squared),
            failed: sum(|p| &p.failed),
            skipped: sum(|p| &p.skipped),
            retried: sum(|p| &p.retried),
        }
    }
}

/// What the clients of one thread count in one period; merged at its end.
pub(super) struct Tally {
    /// Transactions that were due: committed, failed or skipped.
    pub attempted: u64,
    pub committed: u64,
    /// Given up after the last try.
    pub failed: u64,
    /// Not begun, because they would have been later than the limit.
    pub skipped: u64,
    /// Committed, but later than the limit.
    pub late: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Transactions that needed more than one try.
    pub retried: u64,
    /// Errors that led to another try or a failure, by code.
    pub errors: BTreeMap<String, u64>,
    /// Statements sent.
    pub statements: u64,
    /// Times an answer was waited for.
    pub round_trips: u64,
    /// Connections made.
    pub connects: u64,
    /// From the start (with a schedule: the scheduled start) to the last answer.
    pub latency: Latency,
    /// From the scheduled start to the real one.
    pub lag: Option<Latency>,
    /// From the real start to the last answer, where there is a schedule.
    pub service: Option<Latency>,
    /// Of each statement, by its number in the mix.
    pub statement_latency: Vec<Latency>,
    /// Committed transactions by database.
    pub by_database: Vec<u64>,
    /// Committed transactions by script of the mix.
    pub by_script: Vec<u64>,
}

impl Tally {
    pub fn new(shape: Shape) -> Self {
        Tally {
            attempted: 0,
            committed: 0,
            failed: 0,
            skipped: 0,
            late: 0,
            retries: 0,
            retried: 0,
            errors: BTreeMap::new(),
            statements: 0,
            round_trips: 0,
            connects: 0,
            latency: Latency::new(),
            lag: shape.scheduled.then(Latency::new),
            service: shape.scheduled.then(Latency::new),
            statement_latency: (0..shape.timed_statements)
                .map(|_| Latency::coarse())
                .collect(),
            by_database: vec![0; shape.databases],
            by_script: vec![0; shape.scripts],
        }
    }

    /// Adds another client's.
    pub fn merge(&mut self, other: &Tally) {
        self.attempted += other.attempted;
        self.committed += other.committed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.late += other.late;
        self.retries += other.retries;
        self.retried += other.retried;
        for (code, count) in &other.errors {
            *self.errors.entry(code.clone()).or_default() += count;
        }
        self.statements += other.statements;
        self.round_trips += other.round_trips;
        self.connects += other.connects;
        self.latency.merge(&other.latency);
        merge_some(&mut self.lag, &other.lag);
        merge_some(&mut self.service, &other.service);
        for (own, others) in self
            .statement_latency
            .iter_mut()
            .zip(&other.statement_latency)
        {
            own.merge(others);
        }
        for (own, others) in self.by_database.iter_mut().zip(&other.by_database) {
            *own += others;
        }
        for (own, others) in self.by_script.iter_mut().zip(&other.by_script) {
            *own += others;
        }
    }

    /// What must hold of counters that lost nothing; in words if it does not.
    pub fn inconsistency(&self) -> Option<String> {
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        let rules = [
            (
                "attempted = committed + failed + skipped",
                self.attempted,
                self.committed + self.failed + self.skipped,
            ),
            (
                "latencies = committed",
                self.latency.histogram().len(),
                self.committed,
            ),
            (
                "sum over databases = committed",
                sum(&self.by_database),
                self.committed,
            ),
            (
                "sum over scripts = committed",
                sum(&self.by_script),
                self.committed,
            ),
        ];
        rules
            .iter()
            .find(|(_, left, right)| left != right)
            .map(|(rule, left, right)| format!("{rule} does not hold: {left} and {right}"))
    }
}

fn merge_some(own: &mut Option<Latency>, other: &Option<Latency>) {
    if let (Some(own), Some(other)) = (own, other) {
        own.merge(other);
    }
}

/// How large the parts of a tally are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub scheduled: bool,
    pub timed_statements: usize,
    pub databases: usize,
    pub scripts: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Fate {
        Commit { ns: u64, database: usize },
        Fail,
        Skip,
    }

    fn fates() -> impl Strategy<Value = Vec<Fate>> {
        let fate = prop_oneof![
            (1u64..1_000_000, 0usize..3).prop_map(|(ns, database)| Fate::Commit { ns, database }),
            Just(Fate::Fail),
            Just(Fate::Skip),
        ];
        proptest::collection::vec(fate, 0..100)
    }

    fn tally(fates: &[Fate]) -> Tally {
        let mut tally = Tally::new(Shape {
            databases: 3,
            scripts: 1,
            scheduled: true,
            timed_statements: 2,
        });
        for fate in fates {
            tally.attempted += 1;
            match *fate {
                Fate::Commit { ns, database } => {
                    tally.committed += 1;
                    tally.latency.record(ns);
                    tally.by_database[database] += 1;
                    tally.by_script[0] += 1;
                }
                Fate::Fail => {
                    tally.failed += 1;
                    *tally.errors.entry("40001".to_string()).or_default() += 1;
                }
                Fate::Skip => tally.skipped += 1,
            }
        }
        tally
    }

    proptest! {
        /// Merging loses nothing, whoever did what and in whatever order it is merged.
        #[test]
        fn merged_tallies_add_up(all in fates(), cut in 0usize..100) {
            let (a, b) = all.split_at(cut.min(all.len()));
            let mut merged = tally(b);
            merged.merge(&tally(a));
            let whole = tally(&all);
            prop_assert_eq!(merged.inconsistency(), None);
            prop_assert_eq!(merged.attempted, all.len() as u64);
            prop_assert_eq!(merged.committed, whole.committed);
            prop_assert_eq!(merged.failed, whole.failed);
            prop_assert_eq!(&merged.errors, &whole.errors);
            prop_assert_eq!(&merged.by_database, &whole.by_database);
            prop_assert_eq!(merged.latency.histogram(), whole.latency.histogram());
        }
    }

    #[test]
    fn a_lost_transaction_is_noticed() {
        let mut tally = tally(&[Fate::Skip, Fate::Fail]);
        tally.failed = 0;
        let words = tally.inconsistency().unwrap();
        assert!(
            words.contains("attempted = committed + failed + skipped"),
            "{words}"
        );
    }

    #[test]
    fn pulses_are_summed() {
        let pulses = [Pulse::default(), Pulse::default()];
        pulses[0].commit(5_000);
        pulses[1].commit(7_000);
        pulses[1].skip();
        let beat = Pulse::beat(&pulses);
        assert_eq!((beat.committed, beat.latency_us, beat.skipped), (2, 12, 1));
        assert_eq!(beat.latency_us_squared, 74);
    }
}
