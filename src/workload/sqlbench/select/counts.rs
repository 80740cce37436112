//! Loop counts of the phase.

use super::super::{Options, Profile};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Rows, and the main loop count.
    pub loops: u64,
    pub medium: u64,
    pub small: u64,
    pub regions: u64,
    pub groups: u64,
}

impl Counts {
    pub fn new(options: &Options) -> Self {
        let (loops, medium, small, groups) = match options.profile {
            Profile::Original => (10_000, 1_000, 10, 100),
            Profile::Mariadb => (10_000, 7_000, 10, 100),
            Profile::SmallTest => (1_000, 100, 1, 10),
            Profile::Short => (1_000, 200, 2, 20),
        };
        let regions = 6;
        Counts {
            loops: options.scaled(loops).max(regions),
            medium,
            small,
            regions,
            groups,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::profile;
    use super::*;

    #[test]
    fn counts_are_those_of_the_suite() {
        let counts = |p| {
            let c = Counts::new(&profile(p));
            [c.loops, c.medium, c.small, c.regions, c.groups]
        };
        assert_eq!(counts(Profile::Original), [10_000, 1_000, 10, 6, 100]);
        assert_eq!(counts(Profile::Mariadb), [10_000, 7_000, 10, 6, 100]);
        assert_eq!(counts(Profile::SmallTest), [1_000, 100, 1, 6, 10]);
    }
}
