//! Random numbers of one client. The sequence belongs to the seed: it must never change
//! between versions, or old and new records would not have met the same keys.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng};

/// The smallest parameter of [`Rng::gaussian`].
pub(super) const GAUSSIAN_LEAST: f64 = 2.0;
/// The bounds of the parameter of [`Rng::zipfian`].
pub(super) const ZIPFIAN: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// A generator (xoshiro256++) with pgbench's distributions.
#[derive(Clone, Debug)]
pub(super) struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The generator number `stream` of a run with this seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut first = Xoshiro256PlusPlus::seed_from_u64(seed);
        let base = first.next_u64();
        let salt = stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Rng(Xoshiro256PlusPlus::seed_from_u64(base ^ salt))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// In `0..n`, all alike; `n` is not 0. (Lemire, "Fast random integer generation in
    /// an interval", 2019.)
    pub fn below(&mut self, n: u64) -> u64 {
        let mut wide = u128::from(self.next()) * u128::from(n);
        if (wide as u64) < n {
            let unfair = n.wrapping_neg() % n;
            while (wide as u64) < unfair {
                wide = u128::from(self.next()) * u128::from(n);
            }
        }
        (wide >> 64) as u64
    }

    /// In `[0, 1)`, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// In `min..=min + count - 1`, all alike.
    pub fn uniform(&mut self, min: i64, count: i64) -> i64 {
        min + self.below(count as u64) as i64
    }

    /// Quickly falling from `min` on: an exponential distribution cut at `parameter` and
    /// spread over the range. The inverse of its cumulative function at a uniform number.
    pub fn exponential(&mut self, min: i64, count: i64, parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        let uniform = 1.0 - self.unit();
        let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
        at(min, count, share)
    }

    /// A bell over the range: a normal distribution cut at `parameter` deviations on both
    /// sides. Pairs outside are drawn again (Box and Muller, 1958).
    pub fn gaussian(&mut self, min: i64, count: i64, parameter: f64) -> i64 {
        loop {
            let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
            let deviation = radius * (std::f64::consts::TAU * self.unit()).sin();
            if (-parameter..parameter).contains(&deviation) {
                let share = (deviation + parameter) / (2.0 * parameter);
                return at(min, count, share);
            }
        }
    }

    /// The k-th of the range with a weight of `k^-parameter`. (Devroye, "Non-uniform
    /// random variate generation", 1986, p. 550: rejection from a Pareto distribution.)
    pub fn zipfian(&mut self, min: i64, count: i64, parameter: f64) -> i64 {
        if count <= 1 {
            return min;
        }
        let slope = parameter - 1.0;
        let base = slope.exp2();
        loop {
            let uniform = 1.0 - self.unit();
            let accept = self.unit();
            let k = uniform.powf(-1.0 / slope).floor();
            let t = (1.0 + 1.0 / k).powf(slope);
            if k <= count as f64 && accept * k * (t - 1.0) / (base - 1.0) <= t / base {
                return min + (k as i64 - 1).clamp(0, count - 1);
            }
        }
    }
}

/// The value of a range at `share` of it, in `[0, 1)` but for rounding.
fn at(min: i64, count: i64, share: f64) -> i64 {
    min + ((count as f64 * share) as i64).clamp(0, count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

    const DRAWS: usize = 200_000;

    /// The chance to see counts as far from `expected` (probabilities) or farther.
    fn p_value(counts: &[u64], expected: &[f64]) -> f64 {
        let chi: f64 = counts
            .iter()
            .zip(expected)
            .map(|(n, p)| {
                let mean = p * DRAWS as f64;
                (*n as f64 - mean).powi(2) / mean
            })
            .sum();
        let distribution = ChiSquared::new(counts.len() as f64 - 1.0).expect("freedom");
        1.0 - distribution.cdf(chi)
    }

    fn fits(expected: &[f64], mut draw: impl FnMut(&mut Rng, i64, i64) -> i64) {
        let sum: f64 = expected.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "the formula sums to {sum}");
        let mut rng = Rng::new(7, 3);
        let mut counts = vec![0; expected.len()];
        for _ in 0..DRAWS {
            let drawn = draw(&mut rng, 11, expected.len() as i64);
            counts[usize::try_from(drawn - 11).expect("at or above the least")] += 1;
        }
        let p = p_value(&counts, expected);
        assert!(p > 1e-4, "p {p}: {counts:?}");
    }

    #[test]
    fn uniform_is_flat() {
        fits(&[0.05; 20], Rng::uniform);
    }

    #[test]
    fn exponential_follows_its_formula() {
        for parameter in [0.5, 2.5, 5.0] {
            let n = 20.0;
            let f = |x: f64| (-parameter * x / n).exp() / (1.0 - (-parameter).exp());
            let expected: Vec<f64> = (0..20)
                .map(|i| f(f64::from(i)) - f(f64::from(i) + 1.0))
                .collect();
            fits(&expected, |rng, min, n| rng.exponential(min, n, parameter));
        }
    }

    #[test]
    fn gaussian_follows_its_formula() {
        let phi = Normal::new(0.0, 1.0).expect("a distribution");
        for parameter in [2.0, 3.5] {
            let (n, mean) = (21.0, 10.0);
            let f = |x: f64| {
                phi.cdf(2.0 * parameter * (x - mean) / n) / (2.0 * phi.cdf(parameter) - 1.0)
            };
            let expected: Vec<f64> = (0..21)
                .map(|i| f(f64::from(i) + 0.5) - f(f64::from(i) - 0.5))
                .collect();
            fits(&expected, |rng, min, n| rng.gaussian(min, n, parameter));
        }
    }

    #[test]
    fn zipfian_follows_its_formula() {
        for parameter in [1.07, 1.5, 2.5] {
            let weights: Vec<f64> = (1..=15).map(|k| f64::from(k).powf(-parameter)).collect();
            let sum: f64 = weights.iter().sum();
            let expected: Vec<f64> = weights.iter().map(|w| w / sum).collect();
            fits(&expected, |rng, min, n| rng.zipfian(min, n, parameter));
        }
    }

    #[test]
    fn the_sequence_is_fixed_for_ever() {
        let mut rng = Rng::new(42, 0);
        let drawn: Vec<i64> = (0..6).map(|_| rng.uniform(1, 100_000)).collect();
        assert_eq!(drawn, SEQUENCE);
        let mut other = Rng::new(42, 1);
        assert_ne!(other.uniform(1, 100_000), SEQUENCE[0]);
    }

    const SEQUENCE: [i64; 6] = [31146, 79672, 90458, 51010, 37239, 7233];

    #[test]
    fn the_widest_ranges_stay_inside() {
        let mut rng = Rng::new(1, 1);
        for _ in 0..1000 {
            for (min, count) in [(i64::MIN, i64::MAX), (0, i64::MAX), (5, 1)] {
                let max = min + (count - 1);
                let drawn = [
                    rng.uniform(min, count),
                    rng.exponential(min, count, 0.001),
                    rng.gaussian(min, count, 2.0),
                    rng.zipfian(min, count, 1.001),
                ];
                assert!(drawn.iter().all(|d| (min..=max).contains(d)), "{drawn:?}");
            }
        }
    }
}
