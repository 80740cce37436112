//! Hash functions, equal to pgbench's, and a pseudorandom permutation.

/// FNV-1a over the eight bytes of `value`, lowest first.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = value.to_le_bytes();
    let hash = bytes.iter().fold(BASIS ^ seed as u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    });
    hash as i64
}

/// MurmurHash2 (64A) of the one word `value`.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const LENGTH: u64 = 8;
    let fold = |x: u64| x ^ (x >> 47);
    let word = fold((value as u64).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    let start = seed as u64 ^ LENGTH.wrapping_mul(FACTOR);
    let mixed = fold((start ^ word).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    fold(mixed) as i64
}

/// Where `index` (as an unsigned number, modulo `size`) goes in the permutation of `0..size` that `seed`
/// chooses. `size` is above 0.
///
/// A Feistel network permutes the next larger range whose number of bits is even; a value
/// that falls outside `0..size` is permuted again until it falls inside, which keeps the
/// whole a bijection (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
/// pgbench's own permutation differs between its versions; only the properties are equal.
pub(super) fn permute(index: i64, size: i64, seed: i64) -> i64 {
    let size = size as u64;
    let bits = u64::BITS - (size - 1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mut at = index as u64 % size;
    loop {
        at = feistel(at, half, seed);
        if at < size {
            return at as i64;
        }
    }
}

const ROUNDS: i64 = 6;

fn feistel(value: u64, half: u32, seed: i64) -> u64 {
    let mask = (1u64 << half) - 1;
    let (mut left, mut right) = (value >> half, value & mask);
    for round in 0..ROUNDS {
        let key = murmur2(round, seed);
        let mixed = murmur2(right as i64, key) as u64;
        (left, right) = (right, left ^ ((mixed ^ (mixed >> 32)) & mask));
    }
    (left << half) | right
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The values printed in pgbench's manual.
    #[test]
    fn hashes_are_those_of_the_manual() {
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
    }

    #[test]
    fn permute_spreads_neighbours_and_depends_on_the_seed() {
        let size = 1000;
        let fixed = (0..size).filter(|i| permute(*i, size, 1) == *i).count();
        assert!(fixed < 10, "{fixed} stay in place");
        let same = (0..size)
            .filter(|i| permute(*i, size, 1) == permute(*i, size, 2))
            .count();
        assert!(same < 10, "{same} are equal under two seeds");
        let steps: i64 = (1..size)
            .map(|i| (permute(i, size, 5) - permute(i - 1, size, 5)).abs())
            .sum();
        let mean = steps / (size - 1);
        assert!((280..390).contains(&mean), "mean distance {mean}");
    }

    proptest! {
        #[test]
        fn permute_is_a_bijection(size in 1i64..3000, seed in any::<i64>()) {
            let mut seen = vec![false; size as usize];
            for i in 0..size {
                seen[permute(i, size, seed) as usize] = true;
            }
            prop_assert!(seen.iter().all(|s| *s));
        }

        #[test]
        fn permute_stays_inside(
            index in any::<i64>(), size in 1i64..=i64::MAX, seed in any::<i64>()
        ) {
            let at = permute(index, size, seed);
            prop_assert!((0..size).contains(&at));
            let inside = (index as u64 % size as u64) as i64;
            prop_assert_eq!(at, permute(inside, size, seed));
        }
    }
}
