//! The format of the original sql-bench: the output of each phase and the RUN summary, as
//! its run-all-tests writes them and its compare-results reads them.
//!
//! Here alone a time-limited operation is extrapolated, by the suite's own rule and with
//! its marks: the stored record keeps what was done.

mod figures;
mod header;
mod print;
mod quirks;
mod sets;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use figures::Phase;
use header::Header;
use sets::CaseSet;

use crate::record::Results;

/// What one engine did on one target: all that one RUN file holds.
#[derive(Clone, Debug)]
pub struct RunFile {
    /// Server and target, as the suite tags its files.
    pub tag: String,
    /// True where the operations are known phase by phase.
    pub has_phases: bool,
    header: Header,
    phases: Vec<Phase>,
    /// Operations of an imported summary that belong to several phases.
    rest: Vec<figures::Line>,
}

/// The RUN files of a run, one for each engine, setting and target, in the order of the
/// plan; none where it has no phase of sql-bench. With `compat`, lines, counts and timers
/// are as the original prints them, its slips included.
pub fn run_files(results: &Results, compat: bool) -> Vec<RunFile> {
    let sets = sets::of(results);
    let tags = sets::tags(&sets);
    let make = |(set, tag): (&CaseSet<'_>, String)| {
        let imported = !results.run.imported.is_empty();
        let mut phases = figures::phases(set);
        let mut rest = figures::rest(set);
        for phase in &mut phases {
            quirks::apply(phase, compat, imported);
        }
        quirks::shapes("", &mut rest, compat);
        RunFile {
            header: Header::of(results, set, &phases, compat),
            has_phases: !set.is_summary(),
            phases,
            rest,
            tag,
        }
    };
    sets.iter().zip(tags).map(make).collect()
}

impl RunFile {
    /// Writes the RUN summary.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        print::run(out, self)
    }

    /// Names of the phases whose output can be written.
    pub fn phases(&self) -> impl Iterator<Item = &str> {
        let phases = self.phases.iter().filter(|_| self.has_phases);
        phases.map(|p| p.name.as_str())
    }

    /// Writes the output of `phase`.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_phase(&self, out: &mut dyn Write, phase: &str) -> io::Result<()> {
        match self.phases.iter().find(|p| p.name == phase) {
            Some(phase) => print::phase(out, &self.header, phase),
            None => Ok(()),
        }
    }
}
