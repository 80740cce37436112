//! What the verdicts promise, measured with the code that makes them: 2,000 simulated
//! runs for each figure, fixed seeds. The rates are printed with `--nocapture` and told
//! in `docs/statistics.md`.

mod noise;
mod runs;
mod table;

use mountmark::compare::{
    Estimate, Judgement, Metric, Next, Pair, Rule, UntilSure, Verdict, chance_of_finding, judge,
};
use noise::{ALL, Noise, Run};

const RUNS: u64 = 2000;

/// Truths of five comparisons with a baseline (the first figure of a run): none has a
/// difference.
const NO_DIFFERENCE: [f64; 6] = [0.0; 6];

/// Truths that tempt to each of the false verdicts: none, just the threshold either
/// way, half of it, and 5 %.
fn mixed() -> [f64; 6] {
    let threshold = 1.02f64.ln() + 1e-9;
    [0.0, 0.0, threshold, -threshold, 0.01, 1.05f64.ln()]
}

fn estimates(rounds: &[Vec<f64>]) -> Vec<Estimate> {
    let against = |case: usize| {
        let pair = |r: &Vec<f64>| Pair {
            base: r[0],
            new: r[case],
        };
        let pairs: Vec<Pair> = rounds.iter().map(pair).collect();
        Estimate::new(Metric::SECONDS, &pairs).expect("simulated figures are above zero")
    };
    (1..rounds[0].len()).map(against).collect()
}

fn is_false(judgement: &Judgement, truth: f64) -> bool {
    match judgement.verdict {
        Verdict::Faster => truth >= 0.0,
        Verdict::Slower => truth <= 0.0,
        Verdict::Equivalent { .. } => truth.abs() >= 1.02f64.ln(),
        Verdict::Undecided { .. } | Verdict::NotComparable(_) => false,
    }
}

fn any_false(estimates: &[Estimate], truths: &[f64], rule: &Rule) -> bool {
    let judged = estimates.iter().map(|e| judge(e, rule));
    judged
        .zip(&truths[1..])
        .any(|(j, &truth)| is_false(&j, truth))
}

fn share(mut hit: impl FnMut(u64) -> bool) -> f64 {
    (0..RUNS).filter(|&seed| hit(seed)).count() as f64 / RUNS as f64
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Quiet enough for Equivalent to be a temptation, and so loud that the threshold is no
/// protection against Faster and Slower.
const QUIET: f64 = 0.01;
const LOUD: f64 = 0.05;

fn rate_of_false_verdicts(rounds: usize) {
    let rule = Rule::default().for_comparisons(5);
    for noise in ALL {
        for (sd, truths) in [(LOUD, NO_DIFFERENCE), (QUIET, mixed())] {
            let rate = share(|seed| {
                let mut run = Run::new(noise, sd, &truths, seed);
                let rounds: Vec<_> = (0..rounds).map(|_| run.round()).collect();
                any_false(&estimates(&rounds), &truths, &rule)
            });
            println!(
                "false: {noise:?}, sd {sd}, {rounds} rounds: {}",
                percent(rate)
            );
            assert!(rate <= 0.065, "{noise:?} {sd} {rounds}: {rate}");
        }
    }
}

#[test]
fn three_rounds_keep_the_family_honest() {
    rate_of_false_verdicts(3);
}

#[test]
fn ten_rounds_keep_the_family_honest() {
    rate_of_false_verdicts(10);
}

/// 95 ± 3. Upwards there are two exceptions, both on the careful side: differences of
/// skewed noise have a sharp peak, and a rare stall widens the interval by more than
/// it moves the mean.
fn is_honest(noise: Noise, coverage: f64) -> bool {
    let most = match noise {
        Noise::Skewed | Noise::Stalls => 1.0,
        _ => 0.98,
    };
    (0.92..=most).contains(&coverage)
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let truths = [0.0, 1.05f64.ln()];
    let rule = Rule::default();
    for noise in ALL {
        // One run of twenty rounds serves all numbers of rounds.
        let mut covered = [0u64; 21];
        for seed in 0..RUNS {
            let mut run = Run::new(noise, 0.02, &truths, seed);
            let mut rounds = vec![run.round(), run.round()];
            for count in covered.iter_mut().skip(3) {
                rounds.push(run.round());
                let interval = estimates(&rounds)[0].interval(&rule).unwrap();
                *count += u64::from(interval.covers(1.05));
            }
        }
        let rates: Vec<f64> = covered[3..]
            .iter()
            .map(|&n| n as f64 / RUNS as f64)
            .collect();
        println!("coverage, {noise:?}, 3 to 20 rounds: {rates:.3?}");
        for (i, rate) in rates.iter().enumerate() {
            assert!(is_honest(noise, *rate), "{noise:?} {}: {rate}", i + 3);
        }
    }
}

/// The harder reading of "a standard deviation of 2 %": each side has it, so the
/// paired log ratio has 2.83 %.
#[test]
fn a_planted_difference_is_found() {
    let found = |noise, ratio: f64, sd, verdict: Verdict, comparisons| {
        let rule = Rule::default().for_comparisons(comparisons);
        share(|seed| {
            let mut run = Run::new(noise, sd, &[0.0, ratio.ln()], seed);
            let rounds: Vec<_> = (0..10).map(|_| run.round()).collect();
            judge(&estimates(&rounds)[0], &rule).verdict == verdict
        })
    };
    for comparisons in [1, 5] {
        for (ratio, verdict) in [(1.05, Verdict::Slower), (1.0 / 1.05, Verdict::Faster)] {
            let rate = found(Noise::Normal, ratio, 0.02, verdict, comparisons);
            println!(
                "found, {ratio:.3}, {comparisons} comparisons: {}",
                percent(rate)
            );
            assert!(rate >= 0.95, "{ratio} {comparisons}: {rate}");
        }
    }
    for noise in ALL {
        let rate = found(noise, 1.05, 0.02, Verdict::Slower, 1);
        println!("found, {noise:?}: {}", percent(rate));
        assert!(rate >= 0.25, "{noise:?}: {rate}");
    }
}

#[test]
fn the_power_is_as_computed() {
    let rule = Rule::default();
    for (difference, sd, count) in [(0.05, 0.02, 5), (0.02, 0.01, 10), (0.10, 0.05, 3)] {
        let rate = share(|seed| {
            let mut run = Run::new(Noise::Normal, sd, &[0.0, f64::ln_1p(difference)], seed);
            let rounds: Vec<_> = (0..count).map(|_| run.round()).collect();
            judge(&estimates(&rounds)[0], &rule).verdict == Verdict::Slower
        });
        let computed = chance_of_finding(difference, sd * 2f64.sqrt(), count, &rule).unwrap();
        println!("power: computed {computed:.3}, simulated {rate:.3}");
        assert!((rate - computed).abs() < 0.035, "{difference} {sd} {count}");
    }
}

/// Runs until narrow enough; the rounds it took and the estimates.
fn until_sure(noise: Noise, sd: f64, truths: &[f64], seed: u64, rule: &UntilSure) -> Stopped {
    let mut run = Run::new(noise, sd, truths, seed);
    let mut rounds = Vec::new();
    loop {
        rounds.push(run.round());
        if rounds.len() < UntilSure::LEAST {
            continue;
        }
        let estimates = estimates(&rounds);
        if rule.next(rounds.len(), &estimates) != Next::Another {
            return Stopped {
                rounds: rounds.len(),
                estimates,
            };
        }
    }
}

struct Stopped {
    rounds: usize,
    estimates: Vec<Estimate>,
}

#[test]
fn until_sure_intervals_cover_as_often_as_they_say() {
    let truths = [0.0, 1.05f64.ln()];
    for noise in ALL {
        // From "five rounds are enough" through the worst case to "the limit".
        for width in [0.10, 0.055, 0.03] {
            let rule = UntilSure::new(width, 30, Rule::default()).unwrap();
            let mut rounds = 0;
            let rate = share(|seed| {
                let stopped = until_sure(noise, 0.02, &truths, seed, &rule);
                rounds += stopped.rounds;
                let interval = stopped.estimates[0].interval(rule.rule()).unwrap();
                interval.covers(1.05)
            });
            let mean = rounds as f64 / RUNS as f64;
            println!(
                "until sure, {noise:?}, width {width}: {mean:.1} rounds, covers {}",
                percent(rate)
            );
            assert!(is_honest(noise, rate), "{noise:?} {width}: {rate}");
        }
    }
}

#[test]
fn until_sure_keeps_the_family_honest() {
    let family = Rule::default().for_comparisons(3);
    let (none, mixed) = (&NO_DIFFERENCE[..4], &mixed()[..4]);
    for noise in ALL {
        for (sd, width, truths) in [(LOUD, 0.25, none), (QUIET, 0.05, mixed)] {
            let rule = UntilSure::new(width, 20, family).unwrap();
            let mut rounds = 0;
            let rate = share(|seed| {
                let stopped = until_sure(noise, sd, truths, seed, &rule);
                rounds += stopped.rounds;
                any_false(&stopped.estimates, truths, rule.rule())
            });
            let mean = rounds as f64 / RUNS as f64;
            println!(
                "until sure, false: {noise:?}, sd {sd}, {mean:.1} rounds: {}",
                percent(rate)
            );
            assert!(rate <= 0.065, "{noise:?} {sd}: {rate}");
        }
    }
}

/// "Needs about N rounds" is a forecast: with N rounds, most such runs are decided.
#[test]
fn the_rounds_asked_for_decide_most_runs() {
    for (truth, sd) in [(0.0, 0.02), (0.0, 0.05), (1.05f64.ln(), 0.05), (0.01, 0.03)] {
        let rule = Rule::default();
        let (mut asked, mut decided) = (0, 0);
        for seed in 0..RUNS / 5 {
            let mut run = Run::new(Noise::Normal, sd, &[0.0, truth], seed);
            let mut rounds: Vec<_> = (0..5).map(|_| run.round()).collect();
            let first = judge(&estimates(&rounds)[0], &rule).verdict;
            if let Verdict::Undecided { needs: Some(n), .. } = first {
                asked += 1;
                rounds.extend((rounds.len()..n).map(|_| run.round()));
                let then = judge(&estimates(&rounds)[0], &rule).verdict;
                decided += u32::from(!matches!(then, Verdict::Undecided { .. }));
            }
        }
        let rate = f64::from(decided) / f64::from(asked);
        println!("decided after the rounds asked for, {truth:.3}, {sd}: {rate:.2} of {asked}");
        assert!(rate > 0.5, "{truth} {sd}: {rate}");
    }
}
