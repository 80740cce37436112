//! Latency of a repeated statement: an HDR histogram of nanoseconds.

use hdrhistogram::Histogram;

/// Three significant digits from 1 ns to one hour; longer is counted as one hour.
pub struct Latency {
    histogram: Histogram<u64>,
}

const LONGEST_NS: u64 = 3_600_000_000_000;

impl Latency {
    /// Empty, with its counters allocated for the whole range, so that recording never
    /// allocates.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 3)
            .expect("1 ns to one hour at three digits are bounds the library takes");
        Latency { histogram }
    }

    /// Counts one statement that took `ns` nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
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
