//! Two sides of several runs each: nothing pairs them, and every boot has something of
//! its own in common to all its cases.

use mountmark::compare::{Estimate, Metric, Rule, Verdict, judge};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::noise::{exponential, normal, student3};
use super::{RUNS, percent, share};

/// How the runs of a side differ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Boots {
    /// Normal; both sides alike.
    Normal,
    /// Normal; the new side varies three times as much.
    Unequal,
    /// Student's t with 3 degrees of freedom.
    HeavyTailed,
    /// A floor and a long way up.
    Skewed,
}

const ALL: [Boots; 4] = [
    Boots::Normal,
    Boots::Unequal,
    Boots::HeavyTailed,
    Boots::Skewed,
];

impl Boots {
    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Boots::Normal | Boots::Unequal => normal(rng),
            Boots::HeavyTailed => student3(rng),
            Boots::Skewed => exponential(rng),
        }
    }

    /// One value a run and case: half of the variance is the boot's, half the case's.
    fn side(self, sd: f64, truths: &[f64], runs: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let mut side = vec![Vec::new(); truths.len()];
        for _ in 0..runs {
            let boot = self.draw(rng);
            for (values, truth) in side.iter_mut().zip(truths) {
                let noise = (boot + self.draw(rng)) / 2f64.sqrt();
                values.push(100.0 * (truth + sd * noise).exp());
            }
        }
        side
    }

    fn estimates(
        self,
        sd: f64,
        truths: &[f64],
        (base, new): (usize, usize),
        seed: u64,
    ) -> Vec<Estimate> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let zero = vec![0.0; truths.len()];
        let loud = if self == Boots::Unequal { 3.0 } else { 1.0 };
        let base = self.side(sd, &zero, base, &mut rng);
        let new = self.side(sd * loud, truths, new, &mut rng);
        let both = base.iter().zip(&new);
        both.map(|(b, n)| Estimate::unpaired(Metric::SECONDS, b, n).expect("above zero"))
            .collect()
    }
}

/// 95 ± 3, and half a per cent more upwards, where noise is not normal.
#[test]
fn intervals_between_runs_cover_as_often_as_they_say() {
    for boots in ALL {
        let mut rates = Vec::new();
        for runs in 3..=10 {
            let covered = share(|seed| {
                let truth = [1.05f64.ln()];
                let estimate = boots.estimates(0.02, &truth, (runs, runs), seed)[0];
                let interval = estimate.interval(&Rule::default());
                interval.expect("three runs or more").covers(1.05)
            });
            assert!(
                (0.92..=0.985).contains(&covered),
                "{boots:?} {runs}: {covered}"
            );
            rates.push(covered);
        }
        println!("between runs, coverage, {boots:?}, 3 to 10 a side: {rates:.3?}");
    }
}

#[test]
fn runs_of_unequal_number_are_covered_too() {
    for (base, new) in [(3, 10), (10, 3), (4, 6)] {
        let covered = share(|seed| {
            let estimate = Boots::Unequal.estimates(0.02, &[0.0], (base, new), seed)[0];
            let interval = estimate.interval(&Rule::default());
            interval.expect("three runs or more").covers(1.0)
        });
        println!(
            "between runs, coverage, {base} and {new}: {}",
            percent(covered)
        );
        assert!((0.92..=0.985).contains(&covered), "{base} {new}: {covered}");
    }
}

#[test]
fn verdicts_between_runs_keep_the_family_honest() {
    let threshold = 1.02f64.ln() + 1e-9;
    let none = [0.0; 5];
    let mixed = [0.0, threshold, -threshold, 0.01, 1.05f64.ln()];
    let rule = Rule::default().for_comparisons(5);
    for boots in ALL {
        for (sd, truths) in [(0.05, none), (0.005, mixed)] {
            let mut rates = Vec::new();
            for runs in 3..=10 {
                let rate = share(|seed| {
                    let found = boots.estimates(sd, &truths, (runs, runs), seed);
                    let mut judged = found.iter().map(|e| judge(e, &rule)).zip(truths);
                    judged.any(|(judgement, truth)| super::is_false(&judgement, truth))
                });
                assert!(rate <= 0.065, "{boots:?} {sd} {runs}: {rate}");
                rates.push(rate);
            }
            println!("between runs, false, {boots:?}, sd {sd}, 3 to 10 a side: {rates:.3?}");
        }
    }
}

#[test]
fn a_difference_between_runs_is_found() {
    for (runs, least) in [(3, 0.35), (5, 0.85), (10, 0.99)] {
        let rate = share(|seed| {
            let estimate = Boots::Normal.estimates(0.02, &[1.05f64.ln()], (runs, runs), seed)[0];
            judge(&estimate, &Rule::default()).verdict == Verdict::Slower
        });
        println!(
            "between runs, 5 % found with {runs} a side: {}",
            percent(rate)
        );
        assert!(rate >= least, "{runs}: {rate}");
    }
}

/// What a report calls the smallest difference is found four times in five.
#[test]
fn the_smallest_difference_between_runs_is_as_computed() {
    for (base, new) in [(3, 3), (5, 5), (4, 8)] {
        let mut smallest = 0.0;
        for seed in 0..RUNS {
            let estimate = Boots::Normal.estimates(0.02, &[0.0], (base, new), seed)[0];
            let judgement = judge(&estimate, &Rule::default());
            smallest += judgement.smallest_difference().expect("an interval") / RUNS as f64;
        }
        let found = share(|seed| {
            let truth = [f64::ln_1p(smallest)];
            let estimate = Boots::Normal.estimates(0.02, &truth, (base, new), seed + RUNS)[0];
            judge(&estimate, &Rule::default()).verdict == Verdict::Slower
        });
        println!(
            "between runs, {base} and {new}: {} found in {}",
            percent(smallest),
            percent(found)
        );
        assert!((0.70..0.92).contains(&found), "{base} {new}: {found}");
    }
}
