//! A run with what its sections share.

use std::collections::HashMap;

use super::table::Budget;
use crate::compare::{Axis, Choice, Comparisons, Figure, Marks, within};
use crate::measure::stats::median;
use crate::record::{CaseRecord, KeyRecord, Outcome, Results};
use crate::report::files;
use crate::report::index::Index;

/// A run, judged and ordered once for all sections.
pub(super) struct Run<'r> {
    pub results: &'r Results,
    pub choice: &'r Choice,
    pub comparisons: Comparisons,
    /// On which the cases differ.
    pub axes: Vec<Axis>,
    pub index: Index<'r>,
    pub budget: &'r Budget,
    /// Before every id, where several runs share a page.
    pub prefix: String,
    targets: HashMap<&'r str, usize>,
}

impl<'r> Run<'r> {
    pub fn new(
        results: &'r Results,
        choice: &'r Choice,
        prefix: String,
        budget: &'r Budget,
    ) -> Self {
        let keys: Vec<&KeyRecord> = results.run.plan.cases.iter().collect();
        let mut targets = HashMap::new();
        for key in &keys {
            let next = targets.len();
            targets.entry(key.target.as_str()).or_insert(next);
        }
        Run {
            results,
            choice,
            comparisons: within(results, choice),
            axes: Axis::of(&keys),
            index: Index::new(results),
            budget,
            prefix,
            targets,
        }
    }

    /// The colour of a target, the same in all charts.
    pub fn color(&self, target: &str) -> usize {
        self.targets.get(target).copied().unwrap_or(0)
    }

    /// The figure that verdicts on a group stand on.
    pub fn figure(&self, group: &Group<'_>) -> Figure {
        let key = group.members.first().map(|member| member.key);
        key.map_or_else(
            || self.choice.figure.clone(),
            |key| self.choice.figure.for_key(key),
        )
    }

    /// An id of this run alone.
    pub fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// Cases that stand beside each other: they differ in target and settings alone.
pub(super) struct Group<'r> {
    pub title: String,
    pub members: Vec<Member<'r>>,
}

/// A case with all its rounds.
pub(super) struct Member<'r> {
    pub key: &'r KeyRecord,
    /// The target and the settings that vary.
    pub name: String,
    pub marks: Marks,
    /// The number of its colour.
    pub color: usize,
    pub cases: &'r [&'r CaseRecord],
    /// What it does without, where it is a negative control.
    pub control: Option<&'static str>,
}

impl Member<'_> {
    /// Its name with its marks.
    pub fn marked(&self) -> String {
        format!("{}{}", self.name, self.marks)
    }

    /// What `pick` finds in each measured round.
    pub fn values(&self, pick: impl Fn(&CaseRecord) -> Option<f64>) -> Vec<f64> {
        files::measured(self.cases).filter_map(pick).collect()
    }

    /// The median of it.
    pub fn median(&self, pick: impl Fn(&CaseRecord) -> Option<f64>) -> Option<f64> {
        median(&self.values(pick))
    }
}

/// The groups of a run with the cases that `wanted` takes.
pub(super) fn groups<'r>(run: &'r Run<'r>, wanted: impl Fn(&KeyRecord) -> bool) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut known: HashMap<KeyRecord, usize> = HashMap::new();
    let (own, common): (Vec<&Axis>, Vec<&Axis>) = run
        .axes
        .iter()
        .partition(|axis| matches!(axis, Axis::Target | Axis::Setting(_)));
    let keys = run.results.run.plan.cases.iter();
    for key in keys.filter(|k| k.replicate == 0 && wanted(k)) {
        let mut rest = key.clone();
        rest.target.clear();
        rest.settings.clear();
        let at = *known.entry(rest).or_insert_with(|| {
            let mut title = vec![key.workload.clone()];
            title.extend(common.iter().map(|axis| axis.named(&axis.value(key))));
            groups.push(Group {
                title: title.join(", "),
                members: Vec::new(),
            });
            groups.len() - 1
        });
        let cases = run.index.rounds(key);
        groups[at].members.push(Member {
            key,
            name: name(&own, key),
            marks: Marks::of(cases.iter().copied()),
            color: run.color(&key.target),
            cases,
            control: control(cases),
        });
    }
    groups.iter_mut().for_each(distinct_colors);
    groups
}

/// The target, and the settings that vary and that the key has.
fn name(axes: &[&Axis], key: &KeyRecord) -> String {
    let of = |axis: &&Axis| match axis {
        Axis::Setting(name) => key.settings.get(name).map(|value| axis.named(value)),
        _ => None,
    };
    let mut parts: Vec<String> = axes.iter().filter_map(of).collect();
    if parts.is_empty() || axes.iter().any(|axis| **axis == Axis::Target) {
        parts.insert(0, key.target.clone());
    }
    parts.join(", ")
}

/// Where all are on one target, colours tell the settings.
fn distinct_colors(group: &mut Group<'_>) {
    let first = group.members.first().map(|m| m.color);
    if group.members.iter().all(|m| Some(m.color) == first) {
        for (number, member) in group.members.iter_mut().enumerate() {
            member.color = number;
        }
    }
}

/// What a case does without, where that shows what the disk costs the others: a negative
/// control. Memory in place of a file system on a device, or a server that never waits for
/// one.
pub(super) fn control(cases: &[&CaseRecord]) -> Option<&'static str> {
    let mut measured = cases.iter().filter(|c| c.outcome == Outcome::Measured);
    let case = measured.next()?;
    if case
        .target
        .as_ref()
        .is_some_and(|t| t.filesystem == "tmpfs")
    {
        return Some("in memory (tmpfs)");
    }
    let engine = case.engine.as_ref()?;
    let of = |name: &str| engine.settings.get(name).map(|v| v.to_ascii_lowercase());
    match engine.kind.as_str() {
        "postgres" if of("fsync").as_deref() == Some("off") => Some("fsync off"),
        "mysql" | "mariadb" if of("innodb_flush_method").as_deref() == Some("nosync") => {
            Some("nosync")
        }
        "sqlite" if matches!(of("synchronous").as_deref(), Some("off" | "0")) => {
            Some("synchronous off")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{EngineRecord, TargetRecord, load};

    fn case(filesystem: &str, kind: &str, name: &str, value: &str) -> CaseRecord {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
        let mut case = load(&dir).unwrap().cases.remove(0);
        case.target = Some(TargetRecord {
            filesystem: filesystem.into(),
            ..TargetRecord::default()
        });
        case.engine = Some(EngineRecord {
            kind: kind.into(),
            settings: [(name.to_string(), value.to_string())].into(),
            ..EngineRecord::default()
        });
        case
    }

    #[test]
    fn what_never_waits_for_a_disk_is_a_control() {
        for (filesystem, kind, name, value, expected) in [
            ("ext4", "postgres", "fsync", "on", None),
            ("ext4", "postgres", "fsync", "off", Some("fsync off")),
            (
                "ext4",
                "sqlite",
                "synchronous",
                "OFF",
                Some("synchronous off"),
            ),
            ("ext4", "sqlite", "synchronous", "full", None),
            (
                "ext4",
                "mariadb",
                "innodb_flush_method",
                "nosync",
                Some("nosync"),
            ),
            ("ext4", "null", "fsync", "off", None),
            (
                "tmpfs",
                "postgres",
                "fsync",
                "on",
                Some("in memory (tmpfs)"),
            ),
        ] {
            let case = case(filesystem, kind, name, value);
            assert_eq!(control(&[&case]), expected, "{filesystem} {kind} {value}");
        }
    }
}
