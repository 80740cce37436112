//! Adding rounds until the intervals are narrow.

use super::estimate::Estimate;
use super::rule::{Invalid, Looking, Rule};

/// The rule of `--until-sure WIDTH`: stops on width only, never on significance, which
/// would find a difference in 21 % of A/A runs when looked for after each of ten
/// rounds. The intervals allow for the looking (see [`Looking::UntilNarrow`]): judge
/// with [`UntilSure::rule`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UntilSure {
    width: f64,
    most: usize,
    rule: Rule,
}

/// What to do after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run another round.
    Another,
    /// Stop: every interval is narrow enough.
    Narrow,
    /// Stop: the limit is reached, and some interval is still wider.
    Limit,
}

impl UntilSure {
    /// No stop before this many rounds: a standard deviation from fewer says too
    /// little about itself.
    pub const LEAST: usize = 5;

    /// Until all intervals are at most `width` wide (a fraction: 0.02 from 0.99 to
    /// 1.01, see [`super::Interval::width`]), but no more than `most` rounds.
    ///
    /// # Errors
    /// [`Invalid::Setting`] when the width is not above zero or the limit below
    /// [`UntilSure::LEAST`].
    pub fn new(width: f64, most: usize, rule: Rule) -> Result<Self, Invalid> {
        if !(width > 0.0 && width.is_finite()) {
            return Err(Invalid::Setting {
                what: "a width",
                value: width,
                range: "a fraction above 0",
            });
        }
        if most < Self::LEAST {
            return Err(Invalid::Setting {
                what: "a limit",
                value: most as f64,
                range: "at least 5 rounds",
            });
        }
        Ok(UntilSure {
            width,
            most,
            rule: rule.with_looking(Looking::UntilNarrow),
        })
    }

    /// The rule to judge with, whether it stopped at the width or at the limit.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Whether to go on after `rounds` rounds, given the estimates of **all**
    /// comparisons of the family. One with fewer rounds of its own than
    /// [`UntilSure::LEAST`] (because cases failed) is not narrow. Without estimates there
    /// is nothing to wait for.
    pub fn next(&self, rounds: usize, estimates: &[Estimate]) -> Next {
        let narrow = |estimate: &Estimate| {
            estimate.count() >= Self::LEAST
                && estimate
                    .interval(&self.rule)
                    .is_some_and(|interval| interval.width() <= self.width)
        };
        if rounds >= Self::LEAST && estimates.iter().all(narrow) {
            Next::Narrow
        } else if rounds >= self.most {
            Next::Limit
        } else {
            Next::Another
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, Pair};
    use super::*;

    fn estimate(rounds: usize, sd: f64, log_ratio: f64) -> Estimate {
        let pair = |i: usize| Pair {
            base: 1.0,
            new: (log_ratio + if i.is_multiple_of(2) { sd } else { -sd }).exp(),
        };
        Estimate::new(
            Metric::SECONDS,
            &(0..rounds).map(pair).collect::<Vec<Pair>>(),
        )
        .unwrap()
    }

    #[test]
    fn five_rounds_at_least_and_the_limit_at_most() {
        let rule = UntilSure::new(0.02, 30, Rule::default()).unwrap();
        assert_eq!(rule.next(4, &[estimate(4, 0.0, 0.0)]), Next::Another);
        assert_eq!(rule.next(5, &[estimate(5, 0.0, 0.0)]), Next::Narrow);
        assert_eq!(rule.next(29, &[estimate(29, 0.2, 0.0)]), Next::Another);
        assert_eq!(rule.next(30, &[estimate(30, 0.2, 0.0)]), Next::Limit);
        assert_eq!(rule.next(30, &[estimate(3, 0.0, 0.0)]), Next::Limit);
    }

    #[test]
    fn the_widest_decides_and_the_difference_does_not() {
        let rule = UntilSure::new(0.02, 30, Rule::default().for_comparisons(2)).unwrap();
        let (quiet, loud) = (estimate(10, 0.001, 0.0), estimate(10, 0.1, 0.0));
        assert_eq!(rule.next(10, &[quiet, loud]), Next::Another);
        for log_ratio in [-1.0, -0.02, 0.0, 0.02, 1.0] {
            let shifted = estimate(10, 0.001, log_ratio);
            assert_eq!(rule.next(10, &[quiet, shifted]), Next::Narrow);
        }
    }

    #[test]
    fn senseless_settings_are_refused() {
        let rule = Rule::default();
        assert!(UntilSure::new(0.0, 30, rule).is_err());
        assert!(UntilSure::new(f64::NAN, 30, rule).is_err());
        assert_eq!(
            UntilSure::new(0.02, 4, rule).unwrap_err().to_string(),
            "a limit of 4 is out of range; give at least 5 rounds"
        );
    }
}
