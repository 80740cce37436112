//! Power: what a number of rounds can show, and how many rounds would.

use super::estimate::Estimate;
use super::rule::Rule;
use crate::measure::stats::normal_cdf;

/// The chance at which a difference is said to be one that the rounds could have
/// shown, and a number of rounds to be enough: four of five, the usual one.
pub const USUAL_CHANCE: f64 = 0.8;

/// How far apart two cases usually are, on the log scale: some 10 %. Only
/// [`rounds_needed`] uses it, to ask wild noise for enough rounds; a verdict never does.
const USUAL_DIFFERENCE: f64 = 0.1;

/// More rounds than this are not asked of anybody.
const MOST_ROUNDS: usize = 1000;

/// The chance (0 to 1) that a true ratio of `1 + difference` (0 or more), or its
/// inverse, is found in its true direction by so many rounds whose log ratios are
/// normal with standard deviation `sd` (0.02 is 2 % a round). `None` below two rounds.
///
/// Mean and standard deviation s of a normal sample are independent, so the chance is
/// `E[Φ((δ - max(threshold, t s/√n)) / (σ/√n))]` over the χ distribution of s, by
/// Simpson's rule. This is the noncentral t probability, with the threshold added.
pub fn chance_of_finding(difference: f64, sd: f64, rounds: usize, rule: &Rule) -> Option<f64> {
    Noise::paired(sd, rounds).chance_of_finding(difference, rule)
}

/// The error of a mean, and how well it is known.
struct Noise {
    /// Standard error of the mean log ratio.
    error: f64,
    /// Its degrees of freedom.
    df: f64,
}

impl Noise {
    fn paired(sd: f64, rounds: usize) -> Self {
        Noise {
            error: sd / (rounds as f64).sqrt(),
            df: rounds as f64 - 1.0,
        }
    }

    fn chance_of_finding(&self, difference: f64, rule: &Rule) -> Option<f64> {
        let critical = rule.critical_at(self.df)?;
        let shift = difference.ln_1p().abs();
        let threshold = rule.log_threshold();
        if self.error <= 0.0 {
            return Some(f64::from(shift >= threshold));
        }
        Some(over_chi(self.df, |u| {
            normal_cdf(shift / self.error - (critical * u).max(threshold / self.error))
        }))
    }

    fn smallest_difference(&self, rule: &Rule, chance: f64) -> Option<f64> {
        let found = |log: f64| Some(self.chance_of_finding(log.exp_m1(), rule)? >= chance);
        let mut high = rule.log_threshold();
        while !found(high)? {
            if high > 100.0 {
                return Some(f64::INFINITY);
            }
            high *= 2.0;
        }
        let mut low = rule.log_threshold().min(high / 2.0);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if found(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high.exp_m1())
    }
}

/// The mean of `f(u)` where `u = s/σ` has density proportional to
/// `u^(df-1) exp(-df u²/2)`.
fn over_chi(df: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 256;
    let reach = 9.0 / (2.0 * df).sqrt();
    let (from, to) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in 0..=STEPS {
        let u = from + (to - from) * f64::from(i) / f64::from(STEPS);
        let simpson = match i {
            0 | STEPS => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        // Divided by its value at u = 1, so that large df do not underflow.
        let density = u.powf(df - 1.0) * (-df * (u * u - 1.0) / 2.0).exp();
        sum += simpson * density * f(u);
        weights += simpson * density;
    }
    sum / weights
}

/// The smallest difference (a fraction: 0.05 is 5 %) that so many rounds of this
/// noise find with the given chance (0.5 to 1); every report states it. Never below the
/// threshold. `None` below two rounds.
pub fn smallest_difference(sd: f64, rounds: usize, rule: &Rule, chance: f64) -> Option<f64> {
    Noise::paired(sd, rounds).smallest_difference(rule, chance)
}

/// The same for the noise of an estimate, paired or not.
pub(super) fn smallest_of(estimate: &Estimate, rule: &Rule) -> Option<f64> {
    let noise = Noise {
        error: estimate.sd()? / (estimate.count() as f64).sqrt(),
        df: estimate.df(),
    };
    noise.smallest_difference(rule, USUAL_CHANCE)
}

/// About how many rounds in all (or runs a side, where the estimate counts those) would
/// give a verdict (any of the three) in four of five such cases: to two digits, and `None` when more than a thousand. The noise is
/// taken to stay as it was. The true difference is not taken to be as estimated, but
/// to lie about there, with the error that the estimate has, and pulled towards none
/// when that error is large ([`USUAL_DIFFERENCE`]). So it is a forecast of what further
/// rounds may bring (assurance: O'Hagan, Stevens and Campbell, Pharmaceutical
/// Statistics 4, 2005). `None` also with one round, which knows no noise.
pub fn rounds_needed(estimate: &Estimate, rule: &Rule) -> Option<usize> {
    estimate.sd()?;
    // So many rounds that t is normal: the start of the expansion in `chance_of_deciding`.
    let z = rule.critical(1_000_000)?;
    let enough = |n: usize| chance_of_deciding(estimate, rule, z, n) >= Some(USUAL_CHANCE);
    let mut low = estimate.count();
    let mut high = low + 1;
    while !enough(high) {
        if high >= MOST_ROUNDS {
            return None;
        }
        low = high;
        high = (high * 2).min(MOST_ROUNDS);
    }
    while high - low > 1 + high / 20 {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let step = if high >= 100 { 10 } else { 1 };
    Some(high.next_multiple_of(step))
}

/// The chance of a verdict after `total` rounds, given those so far. With the truth
/// beforehand normal about 0 with standard deviation τ, it is afterwards normal about
/// `m = d v n / sd²` with variance `v = 1 / (1/τ² + n/sd²)`. So the mean of all N rounds
/// is foreseen at `(n d + (N - n) m) / N` with standard deviation
/// `(N - n)/N · sqrt(v + sd²/(N - n))`. It decides outside `max(threshold, t sd/√N)` and
/// inside `threshold - t sd/√N`. Here t is expanded from the normal quantile z
/// (Abramowitz and Stegun 26.7.5, two terms), which a forecast can afford: many are
/// made, and the exact quantile is an iteration each time.
fn chance_of_deciding(estimate: &Estimate, rule: &Rule, z: f64, total: usize) -> Option<f64> {
    let (sd, mean) = (estimate.sd()?, estimate.log_ratio().abs());
    let (n, all) = (estimate.count() as f64, total as f64);
    if sd <= 0.0 || all <= n {
        return Some(f64::from(sd <= 0.0));
    }
    let seen = n / sd.powi(2);
    let variance = 1.0 / (USUAL_DIFFERENCE.powi(-2) + seen);
    let foreseen = (n * mean + (all - n) * mean * variance * seen) / all;
    let error = (all - n) / all * (variance + sd.powi(2) / (all - n)).sqrt();
    let below = |limit: f64| normal_cdf((limit - foreseen) / error);
    let df = (all - 1.0) * estimate.df() / (n - 1.0);
    let t = z
        + (z.powi(3) + z) / (4.0 * df)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * df * df);
    let half = t * sd / all.sqrt();
    let threshold = rule.log_threshold();
    let outer = half.max(threshold);
    let inner = (threshold - half).max(0.0);
    Some(1.0 - below(outer) + below(-outer) + below(inner) - below(-inner))
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, Pair};
    use super::*;

    /// Without a threshold worth the name, this is the power of the t test: ncp
    /// 0.05/(0.05/√10) = 3.1623, df 9, two-sided 5 %: 0.8031 (R: power.t.test(10, 1, 1,
    /// type = "one.sample", strict = FALSE)).
    #[test]
    fn agrees_with_the_power_of_the_t_test() {
        let rule = Rule::default().with_threshold(1e-9).unwrap();
        let chance = chance_of_finding(0.05f64.exp_m1(), 0.05, 10, &rule).unwrap();
        assert!((chance - 0.8031).abs() < 5e-4, "{chance}");
    }

    #[test]
    fn the_smallest_difference_is_found_with_the_chance_asked_for() {
        for (sd, rounds) in [(0.01, 3), (0.05, 10), (0.25, 20), (0.1, 2), (0.01, 500)] {
            let rule = Rule::default().for_comparisons(4);
            let smallest = smallest_difference(sd, rounds, &rule, 0.8).unwrap();
            let chance = chance_of_finding(smallest, sd, rounds, &rule).unwrap();
            assert!((chance - 0.8).abs() < 1e-6, "{sd} {rounds}: {chance}");
            assert!(smallest >= rule.threshold());
        }
        assert_eq!(smallest_difference(0.05, 1, &Rule::default(), 0.8), None);
        let quiet = smallest_difference(0.0, 5, &Rule::default(), 0.8).unwrap();
        assert!((quiet - 0.02).abs() < 1e-9, "{quiet}");
    }

    fn estimate(log_ratio: f64, sd: f64) -> Estimate {
        let wobble = sd * 0.9f64.sqrt();
        let pair = |i: i32| Pair {
            base: 1.0,
            new: (log_ratio + if i % 2 == 0 { wobble } else { -wobble }).exp(),
        };
        let pairs: Vec<Pair> = (0..10).map(pair).collect();
        Estimate::new(Metric::SECONDS, &pairs).unwrap()
    }

    #[test]
    fn noise_asks_for_rounds() {
        let needed = |log, sd| rounds_needed(&estimate(log, sd), &Rule::default());
        let quiet = needed(0.0, 0.03).unwrap();
        let loud = needed(0.0, 0.09).unwrap();
        assert!((11..60).contains(&quiet), "{quiet}");
        assert!(loud > quiet && loud % 10 == 0, "{loud}");
        assert_eq!(needed(0.0, 0.9), None);
    }
}
