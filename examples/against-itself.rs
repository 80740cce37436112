//! What a run says of cases against themselves (its A/A pairs): the standard deviation of
//! the log ratio over rounds, and, taking so many rounds together as one comparison, how
//! many of these are called different though nothing differs.
//!
//! ```text
//! cargo run --release --example against-itself -- RUN-DIRECTORY… [ROUNDS]
//! ```
//!
//! A hundred comparisons of three rounds, in duet, on images in memory:
//!
//! ```text
//! mountmark run create --on ext4 --rounds 300 --duet on --loops 0.3 \
//!     --image-dir /dev/shm --image-size 64M --results /tmp/aa
//! cargo run --release --example against-itself -- /tmp/aa/* 3
//! ```

#![expect(clippy::print_stdout, reason = "a tool run by hand")]

use std::path::Path;

use mountmark::compare::{Estimate, Figure, Pair, Rule, Verdict, judge};
use mountmark::error::Result;
use mountmark::record::{CaseRecord, KeyRecord, Results, load};

fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = args.last().and_then(|last| last.parse().ok());
    if rounds.is_some() {
        args.pop();
    }
    for dir in args {
        let results = load(Path::new(&dir))?;
        for twin in results.run.plan.cases.iter().filter(|k| k.replicate == 1) {
            let pairs = pairs(&results, twin);
            println!(
                "{dir}: {} on {}, {}",
                twin.workload, twin.target, twin.engine
            );
            tell(&pairs, &Figure::usual(&results.cases).for_key(twin), rounds);
        }
    }
    Ok(())
}

/// Both cases of an A/A pair in each round that has them, from duets with each other where
/// there are any.
fn pairs(results: &Results, twin: &KeyRecord) -> Vec<Pair> {
    let figure = Figure::usual(&results.cases).for_key(twin);
    let first = KeyRecord {
        replicate: 0,
        ..twin.clone()
    };
    let beside = |case: &CaseRecord, other: &KeyRecord| match &case.duet {
        None => true,
        Some(duet) => duet.partner == *other,
    };
    let find = |key: &KeyRecord, other: &KeyRecord, round| {
        let mut cases = results.cases.iter();
        let case = cases.find(|c| c.case == *key && c.round == round && beside(c, other))?;
        figure.of(case)
    };
    (0..results.run.plan.rounds)
        .filter_map(|round| {
            Some(Pair {
                base: find(&first, twin, round)?,
                new: find(twin, &first, round)?,
            })
        })
        .collect()
}

fn tell(pairs: &[Pair], figure: &Figure, rounds: Option<usize>) {
    let logs: Vec<f64> = pairs.iter().map(|p| (p.new / p.base).ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let squares = logs.iter().map(|d| (d - mean).powi(2)).sum::<f64>();
    println!(
        "  {} rounds of {}: log ratio mean {mean:+.4}, sd {:.4}",
        logs.len(),
        figure.name(),
        (squares / (n - 1.0)).sqrt()
    );
    let Some(rounds) = rounds else {
        return;
    };
    let verdicts: Vec<Verdict> = pairs
        .chunks_exact(rounds)
        .filter_map(|group| Estimate::new(figure.metric(), group).ok())
        .map(|estimate| judge(&estimate, &Rule::default()).verdict)
        .collect();
    let count = |test: fn(&Verdict) -> bool| verdicts.iter().filter(|v| test(v)).count();
    println!(
        "  {} comparisons of {rounds} rounds: {} called different, {} equivalent, {} undecided",
        verdicts.len(),
        count(|v| matches!(v, Verdict::Faster | Verdict::Slower)),
        count(|v| matches!(v, Verdict::Equivalent { .. })),
        count(|v| matches!(v, Verdict::Undecided { .. })),
    );
}
