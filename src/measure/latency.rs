//! Latency of a repeated statement: an HDR histogram of nanoseconds.

use hdrhistogram::Histogram;

/// Nanoseconds from 1 ns to one hour; longer is counted as one hour.
pub struct Latency {
    histogram: Histogram<u64>,
}

const LONGEST_NS: u64 = 3_600_000_000_000;

impl Latency {
    /// Empty, at three significant digits, with its counters allocated for the whole
    /// range, so that recording never allocates.
    pub fn new() -> Self {
        Self::with_digits(3)
    }

    /// As [`new`](Self::new) at two significant digits and a tenth of the memory: for
    /// histograms of which there are many.
    pub fn coarse() -> Self {
        Self::with_digits(2)
    }

    fn with_digits(digits: u8) -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, digits)
            .expect("1 ns to one hour at two or three digits are bounds the library takes");
        Latency { histogram }
    }

    /// Counts one statement that took `ns` nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
    }

    /// Adds the counts of another of the same digits.
    pub fn merge(&mut self, other: &Latency) {
        self.histogram
            .add(&other.histogram)
            .expect("both have the same bounds");
    }

    /// The counts.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.histogram.reset();
    }
}

impl Default for Latency {
    fn default() -> Self {
        Latency::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Latency {
        let mut latency = Latency::new();
        values.iter().for_each(|v| latency.record(*v));
        latency
    }

    proptest! {
        /// Merging loses nothing and does not depend on how the values were spread.
        #[test]
        fn parts_merge_into_the_whole(
            values in proptest::collection::vec(0u64..10_000_000_000, 0..200),
            cut in 0usize..200,
        ) {
            let (a, b) = values.split_at(cut.min(values.len()));
            let mut merged = of(b);
            merged.merge(&of(a));
            let whole = of(&values);
            prop_assert_eq!(merged.histogram(), whole.histogram());
            prop_assert_eq!(merged.histogram().len(), values.len() as u64);
        }
    }
}
