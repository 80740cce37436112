//! Verdicts: what may be said about a difference, in words.

use super::estimate::{Better, Estimate, Interval, Unit};
use super::power::{rounds_needed, smallest_of};
use super::rule::Rule;

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Better than the baseline, by at least the threshold as far as can be estimated.
    Faster,
    /// Worse than the baseline, by at least the threshold as far as can be estimated.
    Slower,
    /// Nearer to the baseline than this fraction: nobody needs to care.
    Equivalent {
        /// The practical threshold, as a fraction.
        within: f64,
    },
    /// The rounds do not say.
    Undecided {
        /// About how many in all would decide; `None` when more than anybody would
        /// run, so that the noise has to come down first.
        needs: Option<usize>,
        /// Of what: rounds, or runs a side.
        unit: Unit,
    },
    /// There is nothing to say, and why.
    NotComparable(String),
}

/// Runs a side, on other days or boots, below which two runs give no verdict: what one
/// boot has in common (where files lie, what else runs) stands in every round of it, and
/// rounds cannot show it.
pub const LEAST_RUNS: usize = 3;

/// A verdict with what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The estimate it was made from.
    pub estimate: Estimate,
    /// The interval it was made from, corrected for comparisons and looks: the one to
    /// print, because the verdict can be checked against it. `None` where there is no
    /// verdict.
    pub interval: Option<Interval>,
    /// The rule it was made by.
    pub rule: Rule,
}

impl Judgement {
    /// The smallest difference, as a fraction, that these rounds would have shown in
    /// four of five cases, given the noise that they had. `None` with one round.
    pub fn smallest_difference(&self) -> Option<f64> {
        self.interval?;
        smallest_of(&self.estimate, &self.rule)
    }
}

/// Judges an estimate. With the corrected interval of the ratio:
///
/// * **Faster, Slower**: the interval does not contain 1, and the estimate itself is
///   at least the threshold away from it. So the direction is sure (with the rule's
///   confidence for the whole family), and the size is worth a word as far as can be
///   told; how large it may be is what the interval says. To demand the whole interval
///   beyond the threshold would answer "surely at least 2 %?" instead, at a price that
///   nobody pays: at a standard deviation of 2.8 %, ten rounds would find a planted 5 %
///   in 82 % of runs instead of 99.8 %, and a 3 % would need 70 rounds instead of 10.
///   Who wants that answer has [`Interval::at_least`].
/// * **Equivalent**: the whole interval is nearer to 1 than the threshold. This is the
///   test of two one-sided hypotheses (Schuirmann, 1987) with half the error that it
///   may take (TOST reads the 90 % interval), so that one interval stands behind
///   all verdicts. A small difference that is surely there is Equivalent too.
/// * otherwise **Undecided**, with the rounds needed. A difference of just the
///   threshold stays there longest, as it should.
///
/// No verdict with one round, or with fewer than [`LEAST_RUNS`] runs a side.
pub fn judge(estimate: &Estimate, rule: &Rule) -> Judgement {
    let enough = estimate.unit() == Unit::Round || estimate.count() >= LEAST_RUNS;
    let interval = estimate.interval(rule).filter(|_| enough);
    let verdict = match interval {
        None => Verdict::NotComparable(match estimate.unit() {
            Unit::Round => "one round gives no verdict".into(),
            Unit::Run => "single run".into(),
        }),
        Some(interval) => decide(estimate, &interval, rule),
    };
    Judgement {
        verdict,
        estimate: *estimate,
        interval,
        rule: *rule,
    }
}

fn decide(estimate: &Estimate, interval: &Interval, rule: &Rule) -> Verdict {
    let log = estimate.log_ratio();
    if interval.is_within(rule.threshold()) {
        Verdict::Equivalent {
            within: rule.threshold(),
        }
    } else if !interval.covers(1.0) && log.abs() >= rule.log_threshold() {
        match (estimate.metric().better, log < 0.0) {
            (Better::Less, true) | (Better::More, false) => Verdict::Faster,
            (Better::Less, false) | (Better::More, true) => Verdict::Slower,
        }
    } else {
        Verdict::Undecided {
            needs: rounds_needed(estimate, rule),
            unit: estimate.unit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, Pair};
    use super::*;
    use proptest::prelude::*;

    fn judged(metric: Metric, pairs: &[Pair]) -> Verdict {
        judge(&Estimate::new(metric, pairs).unwrap(), &Rule::default()).verdict
    }

    fn around(ratio: f64, wobble: f64, rounds: usize) -> Vec<Pair> {
        let new = |i: usize| {
            100.0
                * ratio
                * if i.is_multiple_of(2) {
                    wobble
                } else {
                    1.0 / wobble
                }
        };
        (0..rounds)
            .map(|i| Pair {
                base: 100.0,
                new: new(i),
            })
            .collect()
    }

    #[test]
    fn each_verdict_has_its_case() {
        let less = Metric::SECONDS;
        let more = Metric::TRANSACTIONS_PER_SECOND;
        assert_eq!(judged(less, &around(1.05, 1.01, 10)), Verdict::Slower);
        assert_eq!(judged(more, &around(1.05, 1.01, 10)), Verdict::Faster);
        assert_eq!(judged(less, &around(0.95, 1.01, 10)), Verdict::Faster);
        assert_eq!(judged(more, &around(0.95, 1.01, 10)), Verdict::Slower);
        assert_eq!(
            judged(less, &around(1.01, 1.005, 10)),
            Verdict::Equivalent { within: 0.02 }
        );
        assert!(matches!(
            judged(less, &around(1.0, 1.2, 10)),
            Verdict::Undecided { .. }
        ));
        assert_eq!(
            judged(less, &around(1.5, 1.0, 1)).to_string(),
            "not comparable (one round gives no verdict)"
        );
    }

    #[test]
    fn two_rounds_say_something_only_about_the_obvious() {
        assert!(matches!(
            judged(Metric::SECONDS, &around(1.10, 1.01, 2)),
            Verdict::Undecided { .. }
        ));
        assert_eq!(
            judged(Metric::SECONDS, &around(2.0, 1.01, 2)),
            Verdict::Slower
        );
    }

    #[test]
    fn a_sure_but_small_difference_is_equivalent() {
        let given = around(1.01, 1.002, 20);
        let estimate = Estimate::new(Metric::SECONDS, &given).unwrap();
        let judgement = judge(&estimate, &Rule::default());
        assert!(!judgement.interval.unwrap().covers(1.0));
        assert_eq!(judgement.verdict, Verdict::Equivalent { within: 0.02 });
    }

    #[test]
    fn in_words() {
        let words = |v: Verdict| v.to_string();
        assert_eq!(
            words(Verdict::Equivalent { within: 0.025 }),
            "equivalent (±2.5 %)"
        );
        assert_eq!(
            words(Verdict::Equivalent { within: 0.02 }),
            "equivalent (±2 %)"
        );
        assert_eq!(
            words(Verdict::Undecided {
                needs: Some(40),
                unit: Unit::Round
            }),
            "undecided (needs about 40 rounds)"
        );
        assert_eq!(
            words(Verdict::Undecided {
                needs: None,
                unit: Unit::Run
            }),
            "undecided (needs more than 1000 runs a side, or less noise)"
        );
        let estimate = Estimate::new(Metric::SECONDS, &around(1.05, 1.01, 10)).unwrap();
        assert_eq!(
            judge(&estimate, &Rule::default()).to_string(),
            "slower: 1.050 times the baseline (1.042 to 1.058)"
        );
    }

    fn pairs() -> impl Strategy<Value = Vec<Pair>> {
        let side = |base: f64, sd: f64| move |x: f64, shift: f64| base * (shift + sd * x).exp();
        (1.0..100.0f64, -0.3..0.3f64, 0.0..0.1f64).prop_flat_map(move |(base, shift, sd)| {
            let side = side(base, sd);
            let pair = (-1.0..1.0f64, -1.0..1.0f64).prop_map(move |(a, b)| Pair {
                base: side(a, 0.0),
                new: side(b, shift),
            });
            proptest::collection::vec(pair, 2..25)
        })
    }

    fn swapped(pairs: &[Pair]) -> Vec<Pair> {
        let swap = |p: &Pair| Pair {
            base: p.new,
            new: p.base,
        };
        pairs.iter().map(swap).collect()
    }

    fn kind(verdict: &Verdict) -> &'static str {
        match verdict {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equivalent { .. } => "equivalent",
            Verdict::Undecided { .. } => "undecided",
            Verdict::NotComparable(_) => "not comparable",
        }
    }

    proptest! {
        #[test]
        fn the_order_of_rounds_does_not_matter(
            (one, other) in pairs().prop_flat_map(|p| (Just(p.clone()), Just(p).prop_shuffle()))
        ) {
            let of = |p: &[Pair]| judge(&Estimate::new(Metric::SECONDS, p).unwrap(), &Rule::default());
            prop_assert_eq!(of(&one), of(&other));
        }

        #[test]
        fn swapping_sides_mirrors_the_verdict(given in pairs()) {
            let there = judged(Metric::SECONDS, &given);
            let back = judged(Metric::SECONDS, &swapped(&given));
            let mirrored = match kind(&there) {
                "faster" => "slower",
                "slower" => "faster",
                same => same,
            };
            prop_assert_eq!(kind(&back), mirrored);
            let rate = judged(Metric::TRANSACTIONS_PER_SECOND, &swapped(&given));
            prop_assert_eq!(kind(&rate), kind(&there));
        }

        #[test]
        fn a_side_against_itself_is_equivalent(
            values in proptest::collection::vec(1e-6..1e6f64, 2..25)
        ) {
            let given: Vec<Pair> = values.iter().map(|&v| Pair { base: v, new: v }).collect();
            for metric in [Metric::SECONDS, Metric::TRANSACTIONS_PER_SECOND] {
                prop_assert_eq!(judged(metric, &given), Verdict::Equivalent { within: 0.02 });
            }
        }

        #[test]
        fn runs_against_themselves_are_never_faster_nor_slower(
            values in proptest::collection::vec(1e-6..1e6f64, 1..12),
            order in any::<u64>(),
        ) {
            let mut other = values.clone();
            let at = order as usize % other.len();
            other.rotate_left(at);
            for metric in [Metric::SECONDS, Metric::TRANSACTIONS_PER_SECOND] {
                let estimate = Estimate::unpaired(metric, &values, &other).unwrap();
                prop_assert_eq!(estimate.log_ratio(), 0.0);
                let verdict = judge(&estimate, &Rule::default()).verdict;
                prop_assert!(!matches!(verdict, Verdict::Faster | Verdict::Slower));
                let single = matches!(verdict, Verdict::NotComparable(_));
                prop_assert_eq!(single, values.len() < LEAST_RUNS);
            }
        }

        #[test]
        fn the_unit_does_not_matter(given in pairs(), unit in 1e-6..1e6f64) {
            let scale = |p: &Pair| Pair { base: p.base * unit, new: p.new * unit };
            let scaled: Vec<Pair> = given.iter().map(scale).collect();
            let (a, b) = (judged(Metric::SECONDS, &given), judged(Metric::SECONDS, &scaled));
            prop_assert_eq!(kind(&a), kind(&b));
        }

        #[test]
        fn an_undecided_one_needs_more_rounds_than_it_had(given in pairs()) {
            if let Verdict::Undecided { needs: Some(n), .. } = judged(Metric::SECONDS, &given) {
                prop_assert!(n > given.len());
            }
        }
    }
}
