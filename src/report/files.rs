//! The tables of workloads without a server: trees of files and bare sync calls.

use std::io::{self, Write};

use super::index::Index;
use super::{sync, tree};
use crate::compare::Marks;
use crate::measure::stats::median;
use crate::record::{CaseRecord, KeyRecord, Outcome, PhaseRecord, Results};
use crate::units::Bytes;

/// True for the key of a workload on files alone.
pub(super) fn is(key: &KeyRecord) -> bool {
    key.engine.starts_with("files ")
}

/// One workload with its settings on every target.
pub(super) struct Block<'r> {
    pub key: &'r KeyRecord,
    /// Labels with the cases of each round.
    pub targets: Vec<(&'r str, Vec<&'r CaseRecord>)>,
}

/// Writes the tables, each followed by what is to be said about it; `full` with every
/// column and every shape.
///
/// # Errors
/// When `out` cannot be written.
pub(super) fn write(out: &mut dyn Write, results: &Results, full: bool) -> io::Result<()> {
    for block in blocks(results) {
        writeln!(out)?;
        writeln!(out, "{}", block.title())?;
        match block.key.workload.as_str() {
            crate::workload::sync::WORKLOAD => sync::write(out, &block, full)?,
            _ => tree::write(out, &block, full)?,
        }
    }
    Ok(())
}

/// The workloads without a server, in the order of the plan.
pub(super) fn blocks(results: &Results) -> Vec<Block<'_>> {
    let index = Index::new(results);
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let keys = results.run.plan.cases.iter();
    for key in keys.filter(|k| is(k) && k.replicate == 0) {
        let target = (key.target.as_str(), index.rounds(key).to_vec());
        match blocks.iter_mut().find(|b| same(b.key, key)) {
            Some(block) => block.targets.push(target),
            None => blocks.push(Block {
                key,
                targets: vec![target],
            }),
        }
    }
    blocks
}

fn same(a: &KeyRecord, b: &KeyRecord) -> bool {
    let mut a = a.clone();
    a.target.clone_from(&b.target);
    a == *b
}

impl Block<'_> {
    /// What its cases have in common.
    pub fn title(&self) -> String {
        let key = self.key;
        let mut title = format!("{}, {}, cpus {}", key.workload, key.engine, key.cpus);
        for (name, value) in &key.settings {
            title.push_str(&format!(", {name}={value}"));
        }
        if let Some(bytes) = key.memory_bytes {
            title.push_str(&format!(", {} of memory", Bytes(bytes).human()));
        }
        title
    }
}

/// The label of a target with what must be said of it, marked when it could not be made
/// cold.
pub(super) fn label(target: &str, cases: &[&CaseRecord]) -> String {
    let warm = measured(cases).any(|c| c.target.as_ref().is_some_and(|t| !t.cold));
    let marks = Marks::of(cases.iter().copied());
    format!("{target}{marks}{}", if warm { " (warm)" } else { "" })
}

/// The cases with figures.
pub(super) fn measured<'c>(cases: &'c [&'c CaseRecord]) -> impl Iterator<Item = &'c CaseRecord> {
    let mut measured = cases.iter().copied();
    std::iter::from_fn(move || measured.find(|c| c.outcome == Outcome::Measured))
}

/// The median over the rounds of what `pick` finds in the phase called `name`.
pub(super) fn of_phase(
    cases: &[&CaseRecord],
    name: &str,
    pick: impl Fn(&PhaseRecord) -> Option<f64>,
) -> Option<f64> {
    let phases = measured(cases).filter_map(|c| c.phases.iter().find(|p| p.name == name));
    median(&phases.filter_map(pick).collect::<Vec<f64>>())
}

/// In a word why a target has no figures.
pub(super) fn absent(cases: &[&CaseRecord]) -> &'static str {
    match cases.first().map(|c| &c.outcome) {
        Some(Outcome::Failed { .. }) => "failed",
        Some(Outcome::Skipped { .. }) => "skipped",
        Some(Outcome::Interrupted { .. }) => "interrupted",
        _ => "–",
    }
}
