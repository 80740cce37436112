//! What holds for all runs.

use mountmark::compare::Verdict;
use mountmark::record::Results;
use proptest::prelude::*;

use super::{compared, run};

fn side(first_boot: usize) -> impl Strategy<Value = Vec<Results>> {
    let rounds = || proptest::collection::vec(0.5..2.0f64, 1..5);
    proptest::collection::vec((rounds(), rounds()), 1..5).prop_map(move |runs| {
        let of = |(i, (a, b)): (usize, (Vec<f64>, Vec<f64>))| run(first_boot + i, [&a, &b]);
        runs.into_iter().enumerate().map(of).collect()
    })
}

fn shuffled(side: Vec<Results>) -> impl Strategy<Value = Vec<Results>> {
    Just(side).prop_shuffle().prop_flat_map(|runs| {
        let shuffle = |run: Results| {
            Just(run.cases.clone())
                .prop_shuffle()
                .prop_map(move |cases| Results {
                    cases,
                    ..run.clone()
                })
        };
        runs.into_iter().map(shuffle).collect::<Vec<_>>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_runs_and_records_does_not_matter(
        (base, other, new) in (side(0), side(10))
            .prop_flat_map(|(base, new)| (Just(base.clone()), shuffled(base), Just(new)))
    ) {
        let (a, b) = (compared(&base, &new, &[]), compared(&other, &new, &[]));
        prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
        let (a, b) = (compared(&new, &base, &[]), compared(&new, &other, &[]));
        prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }

    #[test]
    fn merging_runs_loses_nothing(base in side(0), new in side(10)) {
        let found = compared(&base, &new, &[]);
        let rounds: usize = found.list.iter().map(|m| m.base.rounds + m.new.rounds).sum();
        let stored: usize = base.iter().chain(&new).map(|r| r.cases.len()).sum();
        prop_assert_eq!(rounds, stored);
        let twice = [base.clone(), base.clone()].concat();
        let again = compared(&twice, &new, &[]);
        prop_assert_eq!(format!("{found:?}"), format!("{again:?}"));
    }

    /// A run cut in two of one boot says the same as the whole.
    #[test]
    fn runs_of_one_boot_are_one(base in side(0), new in side(10)) {
        let mut halves = Vec::new();
        for run in &new {
            for parity in [0, 1] {
                let mut half = run.clone();
                half.run.id.push_str(&format!("-{parity}"));
                half.cases.retain(|c| c.round % 2 == parity);
                halves.push(half);
            }
        }
        let (whole, halves) = (compared(&base, &new, &[]), compared(&base, &halves, &[]));
        for (a, b) in whole.list.iter().zip(&halves.list) {
            prop_assert_eq!(&a.verdict, &b.verdict);
            prop_assert_eq!(&a.judgement, &b.judgement);
            prop_assert_eq!(&a.new.units, &b.new.units);
        }
    }

    #[test]
    fn a_side_against_itself_is_never_faster_nor_slower(side in side(0)) {
        for matched in compared(&side, &side, &[]).list {
            prop_assert!(!matches!(matched.verdict, Verdict::Faster | Verdict::Slower));
            prop_assert!(matched.differences.is_empty());
        }
    }
}
