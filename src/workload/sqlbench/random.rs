//! The suite's pseudo-random sequence.

/// The state that a phase carries through all its operations.
#[derive(Clone, Debug)]
pub struct Sequence {
    t: u64,
}

impl Sequence {
    /// Starts at `t`.
    pub fn new(t: u64) -> Self {
        Sequence { t }
    }

    /// `t = t xor (((t + 63 + i) * 3) mod m)`; returns the new `t`, which stays below
    /// the smallest power of two that is not below `m`.
    #[inline]
    pub fn step(&mut self, i: u64, m: u64) -> u64 {
        self.t ^= ((self.t + 63 + i) * 3) % m;
        self.t
    }
}

/// The keys of `insert`: a permutation of `l..2l`, shuffled by the sequence, and one
/// more slot that holds 0, which the prepared selects read.
pub fn keys(l: u64) -> (Vec<u64>, Sequence) {
    let mut keys: Vec<u64> = (l..2 * l).collect();
    let mut sequence = Sequence::new(1);
    for i in 0..l {
        let other = sequence.step(i, l) % l;
        keys.swap(i as usize, other as usize);
    }
    keys.push(0);
    (keys, sequence)
}

/// The `n`-th capital letter, A for 0; what follows Z in ASCII above 25.
pub fn letter(n: u64) -> char {
    char::from(b'A' + n as u8)
}

/// A permutation of `0..n`, the same everywhere: shuffled from the back (Fisher and
/// Yates) by SplitMix64, whose state starts at `seed`.
pub fn permutation(n: u64, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut values: Vec<u64> = (0..n).collect();
    for i in (1..n).rev() {
        values.swap(i as usize, (next() % (i + 1)) as usize);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_of_the_suite() {
        for (l, first, last, t) in [
            (100, [193, 119, 123, 118, 166], 149, 120),
            (1000, [1007, 1962, 1217, 1035, 1435], 1783, 56),
            (10000, [19607, 10962, 14043, 13025, 14993], 14709, 4056),
            (
                100_000,
                [104_566, 126_596, 108_393, 170_890, 161_058],
                167_151,
                55112,
            ),
        ] {
            let (keys, sequence) = keys(l);
            assert_eq!(keys[..5], first, "{l}");
            assert_eq!(keys[l as usize - 1], last, "{l}");
            assert_eq!(sequence.t, t, "{l}");
            let mut sorted = keys[..l as usize].to_vec();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(l..2 * l), "{l}");
        }
    }

    #[test]
    fn the_first_duplicate_keys_are_those_of_the_suite() {
        for (l, first) in [
            (10_000, [1773, 4970, 155, 524]),
            (100_000, [10429, 21066, 42475, 52748]),
        ] {
            let (_, mut sequence) = keys(l);
            let found: Vec<u64> = (0..4).map(|i| sequence.step(i, l) % (3 * l)).collect();
            assert_eq!(found, first, "{l}");
        }
    }

    #[test]
    fn a_permutation_has_everything_once_and_stays_the_same() {
        let found = permutation(1000, 1);
        assert_ne!(found, permutation(1000, 2));
        assert_eq!(found[..3], permutation(1000, 1)[..3]);
        let mut sorted = found;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
    }
}
