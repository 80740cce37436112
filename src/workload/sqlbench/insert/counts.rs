//! Loop counts of the phase.

use super::super::{Options, Profile};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// The main loop count; a multiple of 100.
    pub loops: u64,
    /// Loops over ranges.
    pub ranges: u64,
    /// Loops over the whole table.
    pub small: u64,
    /// Loops of the look-ups by key.
    pub read_keys: u64,
    /// Rows of the table with many keys.
    pub many_keys: u64,
}

impl Counts {
    pub fn new(options: &Options) -> Self {
        let (loops, ranges, read_keys, many_keys) = match options.profile {
            Profile::Original | Profile::Mariadb => (100_000, 500, 100_000, 100_000),
            Profile::SmallTest => (1_000, 10, 10, 100),
            Profile::Short => (800, 100, 5_000, 800),
        };
        // The steps of several operations are whole parts of it.
        let loops = (options.scaled(loops) / 100 * 100).max(100);
        Counts {
            loops,
            ranges: ranges.min(loops),
            small: 10,
            read_keys: options.read_key_loops.unwrap_or(read_keys).max(1),
            many_keys: options.many_keys_loops.unwrap_or(many_keys).clamp(1, loops),
        }
    }

    /// Rows of the table.
    pub fn rows(&self) -> u64 {
        3 * self.loops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(profile: Profile, factor: f64) -> [u64; 5] {
        let counts = Counts::new(&Options {
            profile,
            loops: factor,
            ..Options::default()
        });
        [
            counts.loops,
            counts.ranges,
            counts.small,
            counts.read_keys,
            counts.many_keys,
        ]
    }

    #[test]
    fn counts_are_those_of_the_suite() {
        use Profile::{Mariadb, Original, SmallTest};
        let original = [100_000, 500, 10, 100_000, 100_000];
        assert_eq!(counts(Original, 1.0), original);
        assert_eq!(counts(Mariadb, 1.0), original);
        assert_eq!(counts(SmallTest, 1.0), [1000, 10, 10, 10, 100]);
    }

    #[test]
    fn the_factor_changes_the_main_count_and_what_it_limits() {
        use Profile::{Original, Short, SmallTest};
        assert_eq!(counts(Original, 0.1), [10_000, 500, 10, 100_000, 10_000]);
        assert_eq!(counts(Original, 0.001), [100, 100, 10, 100_000, 100]);
        assert_eq!(counts(SmallTest, 0.01), [100, 10, 10, 10, 100]);
        assert_eq!(counts(Short, 0.37)[0] % 100, 0);
    }
}
