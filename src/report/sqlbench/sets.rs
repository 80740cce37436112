//! Which cases make one RUN file.

use std::collections::BTreeMap;

use crate::record::{CaseRecord, KeyRecord, Results};
use crate::units::Bytes;
use crate::workload::sqlbench::PHASES;

/// Workload of an imported summary's operations that belong to several phases.
const WHOLE: &str = "sql-bench";

/// The cases that differ in their phase alone, by phase.
pub(super) struct CaseSet<'r> {
    /// The key of the first; its workload does not count.
    pub key: &'r KeyRecord,
    cases: BTreeMap<&'r str, Vec<&'r CaseRecord>>,
}

impl<'r> CaseSet<'r> {
    /// The phases it has, in the suite's order, each with its rounds.
    pub fn phases(&self) -> impl Iterator<Item = (&'static str, &[&'r CaseRecord])> {
        let phases = PHASES.iter().copied();
        phases.filter_map(|name| Some((name, self.cases.get(name)?.as_slice())))
    }

    /// The cases of no phase.
    pub fn rest(&self) -> &[&'r CaseRecord] {
        self.cases.get(WHOLE).map_or(&[], Vec::as_slice)
    }

    /// True where it was imported from a summary, which does not tell which operation
    /// belongs to which phase.
    pub fn is_summary(&self) -> bool {
        !self.rest().is_empty()
    }

    /// All its cases.
    pub fn cases(&self) -> impl Iterator<Item = &'r CaseRecord> {
        self.cases.values().flatten().copied()
    }
}

fn is_phase(key: &KeyRecord) -> bool {
    key.workload == WHOLE || PHASES.contains(&key.workload.as_str())
}

fn same(a: &KeyRecord, b: &KeyRecord) -> bool {
    a.target == b.target
        && a.engine == b.engine
        && a.settings == b.settings
        && a.memory_bytes == b.memory_bytes
        && a.cpus == b.cpus
}

/// The sets of a run, in the order of its plan; the second of an A/A pair is left out.
pub(super) fn of(results: &Results) -> Vec<CaseSet<'_>> {
    let mut sets: Vec<CaseSet<'_>> = Vec::new();
    let keys = results.run.plan.cases.iter();
    for key in keys.filter(|k| k.replicate == 0 && is_phase(k)) {
        if !sets.iter().any(|set| same(set.key, key)) {
            sets.push(CaseSet {
                key,
                cases: BTreeMap::new(),
            });
        }
    }
    let cases = results.cases.iter();
    for case in cases.filter(|c| c.case.replicate == 0 && is_phase(&c.case)) {
        if let Some(set) = sets.iter_mut().find(|set| same(set.key, &case.case)) {
            let rounds = set.cases.entry(&case.case.workload).or_default();
            rounds.push(case);
        }
    }
    sets.retain(|set| !set.cases.is_empty());
    sets
}

/// A tag for each set, safe in a file name and unlike any other: the engine, what else
/// varies between sets of that engine, and the target.
pub(super) fn tags(sets: &[CaseSet<'_>]) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for set in sets {
        let tag = format!("{}-{}", safe(&server(set, sets)), safe(&set.key.target));
        let mut unique = tag.clone();
        // Two labels may be alike once they are safe; a disk may not know upper case.
        let taken = |t: &str| tags.iter().any(|other| other.eq_ignore_ascii_case(t));
        for number in 2.. {
            if !taken(&unique) {
                break;
            }
            unique = format!("{tag}_{number}");
        }
        tags.push(unique);
    }
    tags
}

fn server(set: &CaseSet<'_>, sets: &[CaseSet<'_>]) -> String {
    let kind = kind(&set.key.engine);
    let alike: Vec<&KeyRecord> = sets
        .iter()
        .map(|s| s.key)
        .filter(|k| self::kind(&k.engine) == kind)
        .collect();
    let mut name = kind.to_string();
    if alike.iter().any(|k| k.engine != set.key.engine) {
        name = set.key.engine.clone();
    }
    for (setting, value) in &set.key.settings {
        if alike.iter().any(|k| k.settings.get(setting) != Some(value)) {
            name.push_str(&format!("_{setting}={value}"));
        }
    }
    if alike.iter().any(|k| k.memory_bytes != set.key.memory_bytes) {
        let memory = set.key.memory_bytes.map(|b| Bytes(b).to_string());
        name.push_str(&format!("_{}", memory.as_deref().unwrap_or("all")));
    }
    if alike.iter().any(|k| k.cpus != set.key.cpus) {
        name.push_str(&format!("_{}", set.key.cpus));
    }
    name
}

/// The kind of an engine build: `sqlite` of `sqlite 3.53.2`.
pub(super) fn kind(engine: &str) -> &str {
    engine.split(' ').next().unwrap_or(engine)
}

/// As the suite does with the name of a machine: what a file name or a tag would not
/// bear becomes an underscore.
fn safe(text: &str) -> String {
    let bears = |c: char| c.is_ascii_alphanumeric() || "._=+,".contains(c);
    let text: String = text
        .chars()
        .map(|c| if bears(c) { c } else { '_' })
        .collect();
    // No file name of 255 bytes or more, whatever the path of a directory.
    text.chars().take(100).collect()
}
