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
}
