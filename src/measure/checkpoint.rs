//! Checkpoints: the time at which the N-th transaction was committed, over all clients.

use std::sync::atomic::{AtomicU64, Ordering};

/// Marks a slot that has not been reached; no elapsed time is that long.
const NOT_REACHED: u64 = u64::MAX;

/// One counter that all clients share, and a slot for each checkpoint, made beforehand.
/// Counting is one atomic addition; a slot is written by the one client whose
/// transaction was the N-th.
pub struct Checkpoints {
    count: AtomicU64,
    /// The next checkpoint that some client may reach: spares the search.
    next: AtomicU64,
    /// Count and elapsed ns, ascending by count.
    slots: Vec<(u64, AtomicU64)>,
}

impl Checkpoints {
    /// With a slot for each of `counts`, in any order.
    pub fn new(counts: &[u64]) -> Self {
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        counts.dedup();
        Checkpoints {
            count: AtomicU64::new(0),
            next: AtomicU64::new(counts.first().copied().unwrap_or(NOT_REACHED)),
            slots: counts
                .into_iter()
                .map(|count| (count, AtomicU64::new(NOT_REACHED)))
                .collect(),
        }
    }

    /// Counts one transaction that was committed `elapsed_ns` after the start.
    #[inline]
    pub fn count(&self, elapsed_ns: u64) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if count >= self.next.load(Ordering::Relaxed) {
            self.mark(count, elapsed_ns);
        }
    }

    #[cold]
    fn mark(&self, count: u64, elapsed_ns: u64) {
        let at = self.slots.partition_point(|(slot, _)| *slot < count);
        if let Some((slot, time)) = self.slots.get(at)
            && *slot == count
        {
            time.store(elapsed_ns, Ordering::Relaxed);
            let next = self
                .slots
                .get(at + 1)
                .map_or(NOT_REACHED, |(slot, _)| *slot);
            self.next.fetch_max(next, Ordering::Relaxed);
        }
    }

    /// Transactions so far.
    pub fn counted(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Count and elapsed ns of the checkpoints that were reached, ascending.
    pub fn reached(&self) -> Vec<(u64, u64)> {
        let times = self
            .slots
            .iter()
            .map(|(count, time)| (*count, time.load(Ordering::Relaxed)));
        times.filter(|(_, time)| *time != NOT_REACHED).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_checkpoint_is_taken_once_whoever_reaches_it() {
        let checkpoints = Checkpoints::new(&[1000, 1, 4000, 4001, 3999]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|n| checkpoints.count(n)));
            }
        });
        assert_eq!(checkpoints.counted(), 4000);
        let counts: Vec<u64> = checkpoints.reached().iter().map(|(c, _)| *c).collect();
        assert_eq!(counts, [1, 1000, 3999, 4000]);
    }

    proptest! {
        #[test]
        fn times_are_those_of_the_nth(
            mut counts in proptest::collection::vec(1u64..300, 0..20),
            total in 0u64..300,
        ) {
            let checkpoints = Checkpoints::new(&counts);
            (1..=total).for_each(|n| checkpoints.count(n * 10));
            counts.sort_unstable();
            counts.dedup();
            counts.retain(|c| *c <= total);
            let expected: Vec<(u64, u64)> = counts.iter().map(|c| (*c, c * 10)).collect();
            prop_assert_eq!(checkpoints.reached(), expected);
        }
    }
}
