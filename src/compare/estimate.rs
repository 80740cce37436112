//! Estimates: the ratio of two sides, from paired rounds or from runs that know nothing
//! of each other, with its interval.

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

/// What an estimate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Rounds of one run, each with both sides: paired.
    Round,
    /// Runs on other days or boots, as many on each side: unpaired.
    Run,
}

/// Taken off Welch's degrees of freedom, never below those of the smaller side. They are
/// themselves estimated, and at the small levels of many comparisons that misses too often
/// where one side is the louder one: with five runs a side, five comparisons and three
/// times the noise on one side, a false verdict in 6.7 % of simulated families instead of
/// 5.9 %.
const HALF_LESS: f64 = 0.5;

/// The estimated ratio of two sides, on the log scale, where a half is as far away as
/// a double, and which fits run times, which are skewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    metric: Metric,
    unit: Unit,
    count: usize,
    mean: f64,
    sd: Option<f64>,
    df: f64,
}

impl Estimate {
    /// From the rounds that have both sides, in any order; the result does not depend
    /// on it, to the last bit: mean and standard deviation of the paired log ratios
    /// `d_i = ln(new_i / base_i)`. Pairing takes out what both sides of a round share
    /// (drift, a slow hour).
    ///
    /// # Errors
    /// [`Invalid::NoPairs`] without pairs, [`Invalid::Figure`] when a figure is zero,
    /// negative, infinite or not a number, or so small that the ratio overflows.
    pub fn new(metric: Metric, pairs: &[Pair]) -> Result<Self, Invalid> {
        let mut logs = Vec::with_capacity(pairs.len());
        for (i, pair) in pairs.iter().enumerate() {
            log(i, pair.base)?;
            log(i, pair.new)?;
            let ratio = (pair.new / pair.base).ln();
            if !ratio.is_finite() {
                return Err(Invalid::Figure {
                    round: i + 1,
                    value: pair.base.min(pair.new),
                });
            }
            logs.push(ratio);
        }
        // Sums of floats depend on the order: bring them into one.
        logs.sort_by(f64::total_cmp);
        Ok(Estimate {
            metric,
            unit: Unit::Round,
            count: logs.len(),
            mean: stats::mean(&logs).ok_or(Invalid::NoPairs)?,
            sd: stats::standard_deviation(&logs),
            df: logs.len() as f64 - 1.0,
        })
    }

    /// From one figure a run on each side, in any order. Nothing pairs two runs, so the
    /// error is that of both sides, `sqrt(s₁²/n₁ + s₂²/n₂)`, with the degrees of
    /// freedom of Welch (Biometrika 34, 1947) and Satterthwaite (Biometrics Bulletin 2,
    /// 1946), less half a one: the sides need not be equally noisy.
    ///
    /// # Errors
    /// [`Invalid::NoPairs`] when a side is empty, [`Invalid::Figure`] as in
    /// [`Estimate::new`].
    pub fn unpaired(metric: Metric, base: &[f64], new: &[f64]) -> Result<Self, Invalid> {
        let (base, new) = (logs(base)?, logs(new)?);
        let mean = |logs: &[f64]| stats::mean(logs).ok_or(Invalid::NoPairs);
        let count = base.len().min(new.len());
        let errors = [&base, &new].map(|logs| {
            let variance = stats::standard_deviation(logs)?.powi(2);
            Some((variance / logs.len() as f64, logs.len() as f64 - 1.0))
        });
        let (sd, df) = match errors {
            [Some((a, df_a)), Some((b, df_b))] => {
                let welch = (a + b).powi(2) / (a * a / df_a + b * b / df_b);
                // `max` also settles 0 / 0, where neither side varies.
                let df = (welch - HALF_LESS).max(df_a.min(df_b));
                (Some(((a + b) * count as f64).sqrt()), df)
            }
            _ => (None, 0.0),
        };
        Ok(Estimate {
            metric,
            unit: Unit::Run,
            count,
            mean: mean(&new)? - mean(&base)?,
            sd,
            df,
        })
    }

    /// What is compared.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// What [`Estimate::count`] counts.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The number of rounds with both sides, or of runs on the side that has fewer; at
    /// least 1.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Degrees of freedom of the error; below `count` when paired, up to twice that
    /// when not.
    pub(super) fn df(&self) -> f64 {
        self.df
    }

    /// The geometric mean of new / base: 1.05 is 5 % more than the baseline.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The mean log ratio.
    pub fn log_ratio(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the log ratio of one round, or of two runs; 0.02 reads
    /// as 2 %. `None` with a single one.
    pub fn sd(&self) -> Option<f64> {
        self.sd
    }

    /// The t interval of the ratio under a rule: `mean ± t · sd / sqrt(n)` on the log
    /// scale, where t allows for the rule's comparisons and looks (Student, Biometrika
    /// 6, 1908). `None` with a single round or run: intervals come from repetition and
    /// from nothing else.
    pub fn interval(&self, rule: &Rule) -> Option<Interval> {
        let half = rule.critical_at(self.df)? * self.sd? / (self.count as f64).sqrt();
        Some(Interval {
            low: self.mean - half,
            high: self.mean + half,
        })
    }
}

/// The logarithm of the figure at `index`.
fn log(index: usize, value: f64) -> Result<f64, Invalid> {
    match value > 0.0 && value.is_finite() {
        true => Ok(value.ln()),
        false => Err(Invalid::Figure {
            round: index + 1,
            value,
        }),
    }
}

/// Sorted, as sums of floats depend on the order.
fn logs(values: &[f64]) -> Result<Vec<f64>, Invalid> {
    let logs = values.iter().enumerate().map(|(i, v)| log(i, *v));
    let mut logs = logs.collect::<Result<Vec<f64>, Invalid>>()?;
    logs.sort_by(f64::total_cmp);
    Ok(logs)
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

    /// Logs: base mean 2.32075, variance 0.04556; new mean 2.43758, variance
    /// 0.01275; difference 0.11684, error 0.13556, Welch's df 2.8443.
    #[test]
    fn unpaired_by_hand() {
        let base = [8.0, 12.0, 11.0];
        let new = [10.0, 11.0, 12.0, 13.0];
        let estimate = Estimate::unpaired(Metric::SECONDS, &base, &new).unwrap();
        assert!((estimate.log_ratio() - 0.11684).abs() < 1e-5);
        assert!((estimate.sd().unwrap() / 3f64.sqrt() - 0.13556).abs() < 1e-5);
        assert!((estimate.df() - (2.8443 - HALF_LESS)).abs() < 1e-4);
        assert_eq!((estimate.count(), estimate.unit()), (3, Unit::Run));
        let back = Estimate::unpaired(Metric::SECONDS, &new, &base).unwrap();
        assert!((back.log_ratio() + estimate.log_ratio()).abs() < 1e-15);
        assert!((back.df() - estimate.df()).abs() < 1e-12);
    }

    #[test]
    fn single_runs_have_a_ratio_and_no_interval() {
        let estimate = Estimate::unpaired(Metric::SECONDS, &[1.0], &[2.0, 2.0]).unwrap();
        assert!((estimate.ratio() - 2.0).abs() < 1e-12);
        assert_eq!(estimate.interval(&Rule::default()), None);
        let same = Estimate::unpaired(Metric::SECONDS, &[1.0; 3], &[1.0; 4]).unwrap();
        let interval = same.interval(&Rule::default()).unwrap();
        assert_eq!((interval.low(), interval.high()), (1.0, 1.0));
        assert!(Estimate::unpaired(Metric::SECONDS, &[], &[1.0]).is_err());
        assert!(Estimate::unpaired(Metric::SECONDS, &[1.0], &[0.0]).is_err());
    }

    #[test]
    fn one_round_has_no_interval() {
        let estimate = Estimate::new(Metric::SECONDS, &pairs(&[(1.0, 2.0)])).unwrap();
        assert!((estimate.ratio() - 2.0).abs() < 1e-12);
        assert_eq!(estimate.sd(), None);
        assert_eq!(estimate.interval(&Rule::default()), None);
    }
}
