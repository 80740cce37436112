//! Comparisons: from figures of two sides, paired by round, to an estimate with an
//! interval, and to a verdict that may well be "undecided"; and which cases of a run
//! ([`within`]) or of two ([`between`]) are compared. Pure: no I/O and no clock.
//!
//! ```
//! use mountmark::compare::{Estimate, Metric, Pair, Rule, judge};
//!
//! let rounds = [(10.0, 11.1), (10.2, 11.3), (9.9, 10.8), (10.1, 11.2), (10.0, 11.0)];
//! let pairs: Vec<Pair> = rounds.iter().map(|&(base, new)| Pair { base, new }).collect();
//! let rule = Rule::default().for_comparisons(3);
//! let judgement = judge(&Estimate::new(Metric::SECONDS, &pairs)?, &rule);
//! assert_eq!(judgement.verdict.to_string(), "slower");
//! # Ok::<(), mountmark::compare::Invalid>(())
//! ```
//!
//! The method, its error rates and its limits are told in `docs/statistics.md`; they
//! are held by `tests/statistics`.

mod aspect;
mod axis;
pub mod beside;
mod between;
mod circumstances;
mod disturbed;
pub mod duet;
mod estimate;
mod figure;
mod marks;
mod matching;
mod memory;
mod noise;
mod power;
mod reach;
mod rule;
mod until_sure;
mod verdict;
mod within;
mod words;

pub use aspect::Aspect;
pub use axis::Axis;
pub use between::{Between, Matched, Measured, Question, between};
pub use circumstances::{Difference, Fact};
pub use disturbed::{Disturbance, Own, disturbances};
pub use estimate::{Better, Estimate, Interval, Metric, Pair, Unit};
pub use figure::Figure;
pub use marks::{IN_MEMORY, Marks, NOT_DURABLE, UNKNOWN, legend};
pub use memory::{
    Felt, FittedTo, MemoryBlock, MemoryCell, MemoryMethod, MemoryRow, MemoryTable, Whereabouts,
    felt, whereabouts,
};
pub use noise::NoiseFloor;
pub use power::{USUAL_CHANCE, chance_of_finding, rounds_needed, smallest_difference};
pub use reach::{Reach, faster_than_device, reach};
pub use rule::{Invalid, Looking, Rule};
pub use until_sure::{Next, UntilSure};
pub use verdict::{Judgement, LEAST_RUNS, Verdict, judge};
pub use within::{Choice, Comparison, Comparisons, matches, within};
