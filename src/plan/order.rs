//! The order of the cases within each round.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Shuffles tried until no A/A pair is adjacent.
const TRIES: u32 = 1000;

/// The orders in which the cases are measured, round by round: shuffles that `seed`
/// alone decides, so that no case always comes first and a record can be checked. The
/// orders of the first rounds do not depend on how many follow.
///
/// `twins` gives for each case the index of the other of its A/A pair: the two are
/// never measured one after the other, also not across the border of two rounds, unless
/// there are too few cases to put between them.
pub fn orders(twins: &[Option<usize>], rounds: u32, seed: u64) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for round in 0..rounds {
        let last = found.last().and_then(|order| order.last()).copied();
        found.push(order(twins, round, seed, last));
    }
    found
}

fn order(twins: &[Option<usize>], round: u32, seed: u64, last: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..twins.len()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(round));
    for _ in 0..TRIES {
        order.shuffle(&mut random);
        let adjacent = |a: usize, b: usize| twins[a] == Some(b);
        let inside = order.windows(2).any(|w| adjacent(w[0], w[1]));
        let border = last.is_some_and(|last| order.first().is_some_and(|o| adjacent(last, *o)));
        if !inside && !border {
            break;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_case_once_and_the_same_every_time(n in 0usize..40, rounds in 1u32..6, seed: u64) {
            let twins = vec![None; n];
            let first = orders(&twins, rounds, seed);
            prop_assert_eq!(&first, &orders(&twins, rounds, seed));
            prop_assert_eq!(&first[..], &orders(&twins, rounds + 3, seed)[..rounds as usize]);
            for order in first {
                let mut sorted = order;
                sorted.sort_unstable();
                prop_assert!(sorted.into_iter().eq(0..n));
            }
        }

        #[test]
        fn twins_are_never_neighbours(pairs in 2usize..8, others in 1usize..8, seed: u64) {
            let mut twins: Vec<Option<usize>> = (0..2 * pairs).map(|i| Some(i ^ 1)).collect();
            twins.extend(std::iter::repeat_n(None, others));
            let all: Vec<usize> = orders(&twins, 5, seed).concat();
            prop_assert!(all.windows(2).all(|w| twins[w[0]] != Some(w[1])));
        }
    }

    #[test]
    fn rounds_and_seeds_differ() {
        let twins = vec![None; 20];
        let two = orders(&twins, 2, 1);
        assert_ne!(two[0], two[1]);
        assert_ne!(two[0], orders(&twins, 1, 2)[0]);
    }

    #[test]
    fn a_pair_alone_is_measured_all_the_same() {
        assert_eq!(orders(&[Some(1), Some(0)], 3, 1).len(), 3);
    }
}
