//! One cell of the matrix.

use std::fmt;
use std::str::FromStr;

use crate::engine::{self, Settings};
use crate::error::{Error, unknown};
use crate::target;
use crate::units::Bytes;
use crate::workload::load;

/// Where client and server run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cpus {
    /// On one CPU.
    Same,
    /// On a CPU each.
    Split,
    /// Wherever the kernel puts them.
    Free,
}

impl Cpus {
    const NAMES: [(&'static str, Cpus); 3] = [
        ("same", Cpus::Same),
        ("split", Cpus::Split),
        ("free", Cpus::Free),
    ];

    /// That of a workload where none is asked for: a round trip of one connection costs a
    /// tenth on one CPU, and many connections need them all.
    pub fn usual(workload: &str) -> Self {
        match workload {
            load::NAME => Cpus::Free,
            _ => Cpus::Same,
        }
    }

    /// The CPUs of the server and of the worker, out of those `allowed`; empty: all.
    pub fn place(self, allowed: &[usize]) -> (Vec<usize>, Vec<usize>) {
        match (self, allowed) {
            (Cpus::Free, _) | (_, []) => (Vec::new(), Vec::new()),
            (Cpus::Split, [.., client, server]) => (vec![*server], vec![*client]),
            (Cpus::Same | Cpus::Split, [.., last]) => (vec![*last], vec![*last]),
        }
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Cpus::NAMES.iter().find(|(_, c)| c == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Cpus {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Cpus::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, cpus)| *cpus)
            .ok_or_else(|| unknown("CPU placement", text, &Cpus::NAMES.map(|(n, _)| n)))
    }
}

/// What makes a case itself: two measurements with equal keys measured the same thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseKey {
    /// Label of the target.
    pub target: String,
    /// Engine build, `sqlite 3.50.2`.
    pub engine: String,
    /// Settings that the user or the plan asked for.
    pub settings: Settings,
    /// Memory limit; `None` is the machine's.
    pub memory: Option<Bytes>,
    /// CPU placement.
    pub cpus: Cpus,
    /// Workload or phase.
    pub workload: String,
    /// Clients and databases of a load.
    pub load: Option<load::Cell>,
    /// 0, or 1 for the second of an A/A pair.
    pub replicate: u8,
}

impl fmt::Display for CaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}, {}", self.workload, self.target, self.engine)?;
        for (name, value) in &self.settings {
            write!(f, ", {name}={value}")?;
        }
        if let Some(memory) = self.memory {
            write!(f, ", {memory}")?;
        }
        if let Some(cell) = self.load {
            write!(f, ", {cell}")?;
        }
        if self.replicate > 0 {
            write!(f, ", again")?;
        }
        Ok(())
    }
}

/// One cell of the matrix, with what is needed to measure it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its key.
    pub key: CaseKey,
    /// Where the data live.
    pub target: target::Spec,
    /// Which engine; `None` for a workload on files alone.
    pub engine: Option<engine::Spec>,
    /// What the server is told beside the settings of the key, to live within a memory
    /// limit.
    pub fitted: Option<Fitted>,
}

/// Settings that were chosen to fit a memory limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The limit that they fit: the smallest of the plan, or that of the case.
    pub to: Bytes,
    /// The settings; none that the user has set.
    pub settings: Settings,
}

impl Case {
    /// The settings that were chosen, where some were.
    pub fn fitted(&self) -> Option<&Settings> {
        self.fitted.as_ref().map(|fitted| &fitted.settings)
    }

    /// Chooses what the server is told to live within `limit`, and keeps what was asked for.
    pub fn fit(&mut self, limit: Bytes) {
        let Some(kind) = self.engine.as_ref().map(|spec| spec.kind) else {
            return;
        };
        let asked = &self.key.settings;
        let mut settings = kind.within(limit);
        settings.retain(|name, _| !asked.keys().any(|own| kind.same_setting(own, name)));
        if !settings.is_empty() {
            self.fitted = Some(Fitted {
                to: limit,
                settings,
            });
        }
    }
}

/// What stands for the engine in the key of a workload that has none: the version of
/// this program, which does the work.
pub fn no_engine() -> String {
    format!("files {}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placement_takes_the_last_cpus() {
        assert_eq!(Cpus::Same.place(&[0, 1]), (vec![1], vec![1]));
        assert_eq!(Cpus::Split.place(&[0, 1]), (vec![1], vec![0]));
        assert_eq!(Cpus::Split.place(&[3]), (vec![3], vec![3]));
        assert_eq!(Cpus::Free.place(&[0, 1]), (vec![], vec![]));
        assert_eq!("split".parse::<Cpus>().unwrap(), Cpus::Split);
        assert!("both".parse::<Cpus>().is_err());
    }
}
