//! The noise floor: the baseline measured against itself.

use super::estimate::{Estimate, Metric, Pair};
use super::rule::{Invalid, Rule};

/// What A/A pairs (replicates 0 and 1 of the baseline in each round) say about the
/// noise of a run. Its verdicts do not use it: they have the noise of their own pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor {
    /// The root mean square of the log ratios, `sqrt(Σ d² / n)`: their standard
    /// deviation about the truth, which is known to be zero. 0.02 reads as 2 % a round.
    pub sd: f64,
    /// The largest |log ratio| of a round.
    pub largest: f64,
    /// Replicate 1 over replicate 0; its truth is 1.
    pub estimate: Estimate,
}

impl NoiseFloor {
    /// From A/A pairs of one metric.
    ///
    /// # Errors
    /// As [`Estimate::new`].
    pub fn new(metric: Metric, pairs: &[Pair]) -> Result<Self, Invalid> {
        let estimate = Estimate::new(metric, pairs)?;
        let mut logs: Vec<f64> = pairs.iter().map(|p| (p.new / p.base).ln().abs()).collect();
        logs.sort_by(f64::total_cmp);
        let squares: f64 = logs.iter().map(|d| d * d).sum();
        Ok(NoiseFloor {
            sd: (squares / logs.len() as f64).sqrt(),
            largest: logs.last().copied().unwrap_or(0.0),
            estimate,
        })
    }

    /// Whether the baseline would be judged different from itself: more than chance
    /// allows, and by the threshold or more. A sign that the run is not to be trusted
    /// (the order matters, or something outside keeps step with it). Happens to a good
    /// run less than once in twenty at 95 %.
    pub fn is_suspect(&self, rule: &Rule) -> bool {
        self.is_biased(rule) && self.estimate.ratio().ln().abs() >= rule.threshold().ln_1p()
    }

    /// Whether the baseline differs from itself by more than chance allows, be it ever so
    /// little.
    pub fn is_biased(&self, rule: &Rule) -> bool {
        let interval = self.estimate.interval(rule);
        interval.is_some_and(|interval| !interval.covers(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ratios: &[f64]) -> Vec<Pair> {
        let pair = |&r: &f64| Pair {
            base: 10.0,
            new: 10.0 * r,
        };
        ratios.iter().map(pair).collect()
    }

    #[test]
    fn spread_about_zero() {
        let up = 0.03f64.exp();
        let floor = NoiseFloor::new(Metric::SECONDS, &pairs(&[up, 1.0 / up, up, 1.0 / up]));
        let floor = floor.unwrap();
        assert!((floor.sd - 0.03).abs() < 1e-12);
        assert!((floor.largest - 0.03).abs() < 1e-12);
        assert!(!floor.is_suspect(&Rule::default()));
    }

    #[test]
    fn a_baseline_that_differs_from_itself_is_suspect() {
        let given = pairs(&[1.05, 1.06, 1.05, 1.04, 1.05]);
        let floor = NoiseFloor::new(Metric::SECONDS, &given).unwrap();
        assert!(floor.is_suspect(&Rule::default()));
        let small = pairs(&[1.006, 1.007, 1.006, 1.005, 1.006]);
        let floor = NoiseFloor::new(Metric::SECONDS, &small).unwrap();
        assert!(!floor.is_suspect(&Rule::default()) && floor.is_biased(&Rule::default()));
        let once = NoiseFloor::new(Metric::SECONDS, &pairs(&[1.05])).unwrap();
        assert!(!once.is_suspect(&Rule::default()));
    }
}
