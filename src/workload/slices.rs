//! The slices of an operation in a duet, in bounded memory.

use std::time::Duration;

use super::event::Slice;
use super::gate::Gate;

/// More slices than this are merged two by two.
const MOST: usize = 512;

/// Slices of the operation that is running.
pub(super) struct Slices {
    slices: Vec<Slice>,
    /// Cuts made for one slice kept.
    every: u32,
    /// Cuts since the last slice kept.
    cuts: u32,
    /// Statements and own time up to the last slice kept.
    kept: (u64, Duration),
}

impl Slices {
    /// With its memory, where there will be slices.
    pub fn new(gate: &Gate) -> Self {
        let capacity = match gate {
            Gate::Open => 0,
            Gate::Turns(_) => MOST,
        };
        Slices {
            slices: Vec::with_capacity(capacity),
            every: 1,
            cuts: 0,
            kept: (0, Duration::ZERO),
        }
    }

    /// For a new operation.
    pub fn clear(&mut self) {
        self.slices.clear();
        self.every = 1;
        self.cuts = 0;
        self.kept = (0, Duration::ZERO);
    }

    /// A slice ends, with so many statements and so much own time since the operation's
    /// start.
    pub fn cut(&mut self, statements: u64, own: Duration) {
        self.cuts += 1;
        if self.cuts < self.every {
            return;
        }
        self.keep(statements, own);
        if self.slices.len() == MOST {
            for n in 0..MOST / 2 {
                let (a, b) = (self.slices[2 * n], self.slices[2 * n + 1]);
                self.slices[n] = Slice {
                    statements: a.statements + b.statements,
                    wall_ns: a.wall_ns + b.wall_ns,
                };
            }
            self.slices.truncate(MOST / 2);
            self.every *= 2;
        }
    }

    fn keep(&mut self, statements: u64, own: Duration) {
        self.slices.push(Slice {
            statements: (statements - self.kept.0) as u32,
            wall_ns: own.saturating_sub(self.kept.1).as_nanos() as u64,
        });
        self.kept = (statements, own);
        self.cuts = 0;
    }

    /// The operation ends: all its slices, none where it was never paused.
    pub fn finish(&mut self, statements: u64, own: Duration) -> Vec<Slice> {
        if self.slices.is_empty() && self.cuts == 0 {
            return Vec::new();
        }
        self.keep(statements, own);
        self.slices.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost_however_many(parts in proptest::collection::vec((0u32..50, 1u64..9_000_000), 1..3000)) {
            let mut slices = Slices::new(&Gate::Open);
            let (mut statements, mut own) = (0u64, Duration::ZERO);
            for (n, (more, ns)) in parts.iter().enumerate() {
                statements += u64::from(*more);
                own += Duration::from_nanos(*ns);
                if n + 1 < parts.len() {
                    slices.cut(statements, own);
                }
            }
            let cut = slices.finish(statements, own);
            prop_assert!(cut.len() <= MOST);
            if parts.len() == 1 {
                prop_assert!(cut.is_empty());
            } else {
                let sum: u64 = cut.iter().map(|s| u64::from(s.statements)).sum();
                let time: u64 = cut.iter().map(|s| s.wall_ns).sum();
                prop_assert_eq!(sum, statements);
                prop_assert_eq!(u128::from(time), own.as_nanos());
            }
        }
    }
}
