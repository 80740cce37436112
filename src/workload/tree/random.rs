//! The numbers that generated archives are made from: fixed by what stands here, so that
//! an archive is the same in every version and its hash can be pinned.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// At least `from`, below `to`, which is greater.
    pub fn range(&mut self, from: u64, to: u64) -> u64 {
        let scaled = u128::from(self.next()) * u128::from(to - from);
        from + (scaled >> 64) as u64
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.range(0, n) == 0
    }

    /// One of them.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.range(0, of.len() as u64) as usize]
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.range(0, i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(1).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        let mut random = Random::new(2);
        assert!((0..1000).all(|_| (3..5).contains(&random.range(3, 5))));
    }
}
