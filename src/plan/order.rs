//! The order of the cases within a round.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The order in which the `cases` are measured in round `round` (counted from 0): a
/// shuffle that `seed` and the round alone decide, so that no case always comes first
/// and a record can be checked.
pub fn order(cases: usize, round: u32, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cases).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(round));
    order.shuffle(&mut random);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_case_once_and_the_same_every_time(n in 0usize..50, round: u32, seed: u64) {
            let first = order(n, round, seed);
            prop_assert_eq!(&first, &order(n, round, seed));
            let mut sorted = first;
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..n));
        }
    }

    #[test]
    fn rounds_differ() {
        assert_ne!(order(20, 0, 1), order(20, 1, 1));
        assert_ne!(order(20, 0, 1), order(20, 0, 2));
    }
}
