//! Estimates: the ratio of two sides from paired rounds, with its interval.

use super::rule::{Invalid, Rule};
use crate::measure::stats;

/// Which direction of a metric is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Better {
    /// Less is better: seconds, bytes written, flushes.
    Less,
    /// More is better: transactions a second.
    More,
}

/// What is compared. Whether more is better belongs to the metric, so that Faster
/// and Slower cannot be mixed up on the way to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Metric {
    /// Its name with the unit, for people.
    pub name: &'static str,
    /// Its good direction.
    pub better: Better,
}

impl Metric {
    /// Elapsed time of an operation, s.
    pub const SECONDS: Metric = Metric {
        name: "seconds",
        better: Better::Less,
    };
    /// Committed transactions a second.
    pub const TRANSACTIONS_PER_SECOND: Metric = Metric {
        name: "transactions/s",
        better: Better::More,
    };
}

/// The figures of both sides from one round, in the same unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The baseline's figure.
    pub base: f64,
    /// The other side's figure.
    pub new: f64,
}

/// The estimated ratio of two sides: mean and standard deviation of the paired log
/// ratios `d_i = ln(new_i / base_i)`, one a round. Pairing takes out what both sides
/// of a round share (drift, a slow hour); logarithms make a half as far away as a
/// double, and fit run times, which are skewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    metric: Metric,
    rounds: usize,
    mean: f64,
    sd: Option<f64>,
}

impl Estimate {
    /// From the rounds that have both sides, in any order; the result does not depend
    /// on it, to the last bit.
    ///
    /// # Errors
    /// [`Invalid::NoPairs`] without pairs, [`Invalid::Figure`] when a figure is zero,
    /// negative, infinite or not a number, or so small that the ratio overflows.
    pub fn new(metric: Metric, pairs: &[Pair]) -> Result<Self, Invalid> {
        let mut logs = Vec::with_capacity(pairs.len());
        for (i, pair) in pairs.iter().enumerate() {
            let bad = |value| Invalid::Figure {
                round: i + 1,
                value,
            };
            for value in [pair.base, pair.new] {
                if !(value > 0.0 && value.is_finite()) {
                    return Err(bad(value));
                }
            }
            let log = (pair.new / pair.base).ln();
            if !log.is_finite() {
                return Err(bad(pair.base.min(pair.new)));
            }
            logs.push(log);
        }
        // Sums of floats depend on the order: bring them into one.
        logs.sort_by(f64::total_cmp);
        Ok(Estimate {
            metric,
            rounds: logs.len(),
            mean: stats::mean(&logs).ok_or(Invalid::NoPairs)?,
            sd: stats::standard_deviation(&logs),
        })
    }

    /// What is compared.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The number of rounds with both sides; at least 1.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The geometric mean of new / base: 1.05 is 5 % more than the baseline.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The mean log ratio.
    pub fn log_ratio(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the log ratio over rounds; 0.02 reads as 2 % a
    /// round. `None` with one round.
    pub fn sd(&self) -> Option<f64> {
        self.sd
    }

    /// The t interval of the ratio under a rule: `mean ± t · sd / sqrt(n)` on the log
    /// scale, where t allows for the rule's comparisons and looks (Student, Biometrika
    /// 6, 1908). `None` with one round: intervals come from rounds and from nothing
    /// else.
    pub fn interval(&self, rule: &Rule) -> Option<Interval> {
        let half = rule.critical(self.rounds)? * self.sd? / (self.rounds as f64).sqrt();
        Some(Interval {
            low: self.mean - half,
            high: self.mean + half,
        })
    }
}

/// An interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// The low end, as a ratio.
    pub fn low(&self) -> f64 {
        self.low.exp()
    }

    /// The high end, as a ratio.
    pub fn high(&self) -> f64 {
        self.high.exp()
    }

    /// The width, as a fraction: high end over low end, less 1. From 0.99 to 1.01 is
    /// 0.0202.
    pub fn width(&self) -> f64 {
        (self.high - self.low).exp_m1()
    }

    /// The smallest difference, either way, that the interval allows, as a fraction: from
    /// 1.03 to 1.08 is at least 0.03; from 0.98 to 1.08 is at least 0.
    pub fn at_least(&self) -> f64 {
        self.low.max(-self.high).max(0.0).exp_m1()
    }

    /// Whether the ratio lies inside, ends included.
    pub fn covers(&self, ratio: f64) -> bool {
        let log = ratio.ln();
        self.low <= log && log <= self.high
    }

    /// Whether all of it is nearer to "no difference" than the threshold (a fraction):
    /// between 1 / (1 + threshold) and 1 + threshold.
    pub fn is_within(&self, threshold: f64) -> bool {
        let limit = threshold.ln_1p();
        -limit < self.low && self.high < limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: &[(f64, f64)]) -> Vec<Pair> {
        values
            .iter()
            .map(|&(base, new)| Pair { base, new })
            .collect()
    }

    #[test]
    fn by_hand() {
        // d = ln 1.1, ln 1.2, ln 1.3; mean 0.18000, sd 0.08356, t(2) = 4.30265.
        let given = pairs(&[(1.0, 1.1), (10.0, 12.0), (100.0, 130.0)]);
        let estimate = Estimate::new(Metric::SECONDS, &given).unwrap();
        assert!((estimate.log_ratio() - 0.18000).abs() < 1e-4);
        assert!((estimate.sd().unwrap() - 0.08356).abs() < 1e-4);
        let interval = estimate.interval(&Rule::default()).unwrap();
        assert!((interval.low().ln() - -0.02758).abs() < 1e-3);
        assert!((interval.high().ln() - 0.38758).abs() < 1e-3);
        assert!(interval.covers(1.0) && !interval.covers(0.9));
        assert_eq!(interval.at_least(), 0.0);
        let surely = |low, high| Interval { low, high }.at_least();
        assert!((surely(0.03, 0.08) - surely(-0.08, -0.03)).abs() < 1e-15);
        assert!((surely(0.03, 0.08) - 0.03f64.exp_m1()).abs() < 1e-15);
        assert!((interval.width() - 0.41516f64.exp_m1()).abs() < 1e-3);
    }

    #[test]
    fn figures_without_a_logarithm_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let given = pairs(&[(1.0, 1.0), (2.0, bad)]);
            let error = Estimate::new(Metric::SECONDS, &given).unwrap_err();
            assert!(matches!(error, Invalid::Figure { round: 2, .. }), "{error}");
        }
        assert_eq!(
            Estimate::new(Metric::SECONDS, &[]).unwrap_err(),
            Invalid::NoPairs
        );
        assert!(Estimate::new(Metric::SECONDS, &pairs(&[(1e-300, 1e300)])).is_err());
    }

    #[test]
    fn one_round_has_no_interval() {
        let estimate = Estimate::new(Metric::SECONDS, &pairs(&[(1.0, 2.0)])).unwrap();
        assert!((estimate.ratio() - 2.0).abs() < 1e-12);
        assert_eq!(estimate.sd(), None);
        assert_eq!(estimate.interval(&Rule::default()), None);
    }
}
