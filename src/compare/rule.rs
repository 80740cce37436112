//! What has to be so before a difference is called one.

use crate::measure::stats::student_upper;

/// Figures or settings that no statistics can be made of.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// No round has both sides.
    #[error("no round has a figure on both sides")]
    NoPairs,
    /// A figure that has no logarithm, and the round it stands in, counted from 1
    /// among the pairs given.
    #[error("round {round}: {value} cannot be compared; a figure must be above zero")]
    Figure {
        /// Position among the pairs, from 1.
        round: usize,
        /// The figure itself.
        value: f64,
    },
    /// A setting out of its range.
    #[error("{what} of {value} is out of range; give {range}")]
    Setting {
        /// The setting's name.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What could be given.
        range: &'static str,
    },
}

/// Whether anybody looked at the results before the number of rounds was settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Looking {
    /// The number of rounds was fixed beforehand.
    #[default]
    Once,
    /// Rounds were added until the intervals were narrow enough ([`super::UntilSure`]).
    UntilNarrow,
}

/// The demands on a verdict: threshold, confidence, size of the family of comparisons.
///
/// **Correction for many comparisons: Bonferroni.** Each of m intervals has the level
/// `1 - α/m` (Dunn, JASA 56, 1961), so all m cover their truths together with at
/// least `1 - α`, whatever the dependence between them (comparisons with one baseline
/// are dependent). Every verdict is a statement about its interval, so while all
/// intervals cover no verdict is false: the same α bounds false Faster, Slower and
/// Equivalent of the whole family together. Holm's and Hochberg's steps find a little
/// more, but give no intervals that a reader could check the verdict against, no number
/// of rounds needed, and no width to stop at. Dunnett's intervals are narrower because
/// they pool the noise of all cases, which file systems do not have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    error: f64,
    threshold: f64,
    comparisons: usize,
    looking: Looking,
}

impl Default for Rule {
    /// Threshold 2 %, confidence 95 %, one comparison, rounds fixed beforehand.
    fn default() -> Self {
        Rule {
            error: 0.05,
            threshold: 0.02,
            comparisons: 1,
            looking: Looking::Once,
        }
    }
}

impl Rule {
    /// With another practical threshold, as a fraction: 0.02 says that a ratio between
    /// 1/1.02 and 1.02 makes no difference to anybody. Above 0, at most 1.
    pub fn with_threshold(self, threshold: f64) -> Result<Self, Invalid> {
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(Invalid::Setting {
                what: "a threshold",
                value: threshold,
                range: "a fraction above 0 and up to 1",
            });
        }
        Ok(Rule { threshold, ..self })
    }

    /// With another confidence, as a fraction from 0.5 to 0.9999.
    pub fn with_confidence(self, confidence: f64) -> Result<Self, Invalid> {
        if !(0.5..=0.9999).contains(&confidence) {
            return Err(Invalid::Setting {
                what: "a confidence",
                value: confidence,
                range: "a fraction from 0.5 to 0.9999",
            });
        }
        Ok(Rule {
            error: 1.0 - confidence,
            ..self
        })
    }

    /// For a family of this many comparisons: all those whose verdicts are shown
    /// together. Zero counts as one.
    pub fn for_comparisons(self, comparisons: usize) -> Self {
        Rule {
            comparisons: comparisons.max(1),
            ..self
        }
    }

    /// With the way in which the number of rounds came about.
    pub fn with_looking(self, looking: Looking) -> Self {
        Rule { looking, ..self }
    }

    /// The practical threshold, as a fraction.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The confidence of the whole family, as a fraction.
    pub fn confidence(&self) -> f64 {
        1.0 - self.error
    }

    /// The number of comparisons allowed for.
    pub fn comparisons(&self) -> usize {
        self.comparisons
    }

    /// How the number of rounds came about.
    pub fn looking(&self) -> Looking {
        self.looking
    }

    /// The threshold on the log scale, where faster and slower mirror each other.
    pub(super) fn log_threshold(&self) -> f64 {
        self.threshold.ln_1p()
    }

    /// The share of intervals of one comparison that may miss: `α' = α/m`, and when
    /// rounds were added until the interval was narrow, `0.58 α' (α'/0.05)^(1/6)`.
    ///
    /// Why: stopping on width stops when the standard deviation happens to look small
    /// (Chow and Robbins, 1965; Starr, 1966), so the interval misses more often than
    /// it says: from five rounds on, in up to 7.8 % instead of 5 %, and at the small
    /// levels of many comparisons up to three times as often. Under normal noise the
    /// stopping depends on standard deviations alone, which are independent of
    /// the mean; so the rate is `E[2 Φ(-t s_N/σ)]`. Simulated for the worst σ (100,000
    /// runs, α' from 0.1 to 0.0005), the formula brings it to between 0.87 α' and
    /// 1.00 α'; at the other σ it is as low as the formula itself. The price is an
    /// interval wider by 15 % at ten rounds (20 % at five, 13 % at twenty).
    fn miss(&self) -> f64 {
        let each = self.error / self.comparisons as f64;
        match self.looking {
            Looking::Once => each,
            Looking::UntilNarrow => 0.58 * each * (each / 0.05).powf(1.0 / 6.0),
        }
    }

    /// Half the width of the interval, in standard errors of the mean, after this many
    /// rounds. `None` below two.
    pub fn critical(&self, rounds: usize) -> Option<f64> {
        self.critical_at(rounds as f64 - 1.0)
    }

    /// The same at so many degrees of freedom; `None` below one.
    pub(super) fn critical_at(&self, df: f64) -> Option<f64> {
        (df >= 1.0).then(|| student_upper(self.miss() / 2.0, df))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_range_are_refused() {
        for bad in [0.0, -0.02, 2.0, f64::NAN] {
            let error = Rule::default().with_threshold(bad).unwrap_err();
            assert!(error.to_string().starts_with("a threshold of"), "{error}");
        }
        assert!(Rule::default().with_confidence(95.0).is_err());
        assert!(Rule::default().with_confidence(f64::NAN).is_err());
        assert_eq!(Rule::default().for_comparisons(0).comparisons(), 1);
    }

    #[test]
    fn more_comparisons_and_looking_widen_the_interval() {
        let one = Rule::default();
        assert_eq!(one.critical(1), None);
        let at_ten = |rule: Rule| rule.critical(10).unwrap();
        assert!((at_ten(one) - 2.26216).abs() < 1e-4);
        assert!((at_ten(one.for_comparisons(5)) - 3.24984).abs() < 1e-4);
        let widened = at_ten(one.with_looking(Looking::UntilNarrow)) / at_ten(one);
        assert!((1.1..1.25).contains(&widened), "{widened}");
    }
}
