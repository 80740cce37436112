//! Axes multiply into cases.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::case::{Case, CaseKey, Cpus, no_engine};
use crate::engine::{self, Settings};
use crate::error::{Result, ensure, usage};
use crate::target;
use crate::units::Bytes;
use crate::workload::sqlbench;

/// The axes of a plan, each with at least one value.
#[derive(Clone, Debug, Default)]
pub struct Axes {
    /// Workloads or phases that need an engine.
    pub workloads: Vec<String>,
    /// Workloads on files alone, each with the settings of its cells: no axis of the
    /// engines applies to them.
    pub files: Vec<(String, Vec<Settings>)>,
    /// Targets, in the order of the table.
    pub targets: Vec<target::Spec>,
    /// Engines with the label of their build and the settings of each cell.
    pub engines: Vec<(engine::Spec, String, Vec<Settings>)>,
    /// Memory limits; `None` is the machine's.
    pub memory: Vec<Option<Bytes>>,
    /// CPU placements.
    pub cpus: Vec<Cpus>,
}

/// Everything that is to be measured and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cells, in the order of the table.
    pub cases: Vec<Case>,
    /// Passes over all cases.
    pub rounds: u32,
    /// Seed of the order and of generated data.
    pub seed: u64,
    /// Loop counts of the sql-bench phases.
    pub sqlbench: sqlbench::Options,
    /// Size of the loop image.
    pub image_size: Bytes,
    /// Where the loop image is made.
    pub image_dir: PathBuf,
    /// A name that the user gave the run.
    pub label: Option<String>,
    /// Label of the target that the others are compared with, where one was named.
    pub baseline: Option<String>,
    /// The smallest difference worth telling, as a fraction.
    pub threshold: f64,
    /// Adds rounds until intervals are narrow.
    pub until_sure: Option<UntilSure>,
}

/// Rounds are added until intervals are narrow or there are too many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UntilSure {
    /// Full width of every interval, as a fraction.
    pub width: f64,
    /// Rounds at most.
    pub most: u32,
}

impl Axes {
    /// All cells: for each engine, settings, memory, placement and workload, the targets;
    /// then the workloads without an engine.
    ///
    /// # Errors
    /// When a cell stands twice: an axis value was given twice.
    pub fn cases(&self) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for (engine, build, settings) in &self.engines {
            for settings in settings {
                for (memory, cpus) in product(&self.memory, &self.cpus) {
                    for (workload, target) in product(&self.workloads, &self.targets) {
                        cases.push(Case {
                            key: CaseKey {
                                target: target.label(),
                                engine: build.clone(),
                                settings: settings.clone(),
                                memory: *memory,
                                cpus: *cpus,
                                workload: workload.clone(),
                                replicate: 0,
                            },
                            target: target.clone(),
                            engine: Some(engine.clone()),
                        });
                    }
                }
            }
        }
        cases.extend(self.without_engine());
        let mut keys = BTreeSet::new();
        for case in &cases {
            ensure!(
                keys.insert(&case.key),
                usage(format!("the case '{}' is named twice", case.key))
            );
        }
        Ok(cases)
    }

    fn without_engine(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for (memory, cpus) in product(&self.memory, &self.cpus) {
            for (workload, cells) in &self.files {
                for (settings, target) in product(cells, &self.targets) {
                    cases.push(Case {
                        key: CaseKey {
                            target: target.label(),
                            engine: no_engine(),
                            settings: settings.clone(),
                            memory: *memory,
                            cpus: *cpus,
                            workload: workload.clone(),
                            replicate: 0,
                        },
                        target: target.clone(),
                        engine: None,
                    });
                }
            }
        }
        cases
    }
}

fn product<'a, A, B>(a: &'a [A], b: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    a.iter().flat_map(move |x| b.iter().map(move |y| (x, y)))
}

impl Plan {
    /// Adds the second of an A/A pair to every block of cases that differ in their target
    /// alone: the baseline once more, so that a run shows its own noise. A run of one
    /// round has no use for it.
    pub fn with_twins(mut self) -> Self {
        if self.rounds < 2 {
            return self;
        }
        let mut blocks: Vec<(CaseKey, Vec<usize>)> = Vec::new();
        for (index, case) in self.cases.iter().enumerate() {
            let mut block = case.key.clone();
            block.target.clear();
            match blocks.iter_mut().find(|(key, _)| *key == block) {
                Some((_, members)) => members.push(index),
                None => blocks.push((block, vec![index])),
            }
        }
        for (_, members) in blocks {
            let mut case = self.cases[self.baseline_of(&members)].clone();
            case.key.replicate = 1;
            self.cases.push(case);
        }
        self
    }

    fn baseline_of(&self, members: &[usize]) -> usize {
        let of = |label: &str| {
            let mut found = members.iter().copied();
            found.find(|i| self.cases[*i].key.target == label)
        };
        let named = self.baseline.as_deref().and_then(of);
        named.or_else(|| of("ext2_defaults")).unwrap_or(members[0])
    }

    /// A short name of a case: its workload and target, and what else the plan varies.
    pub fn name(&self, key: &CaseKey) -> String {
        let varies =
            |differs: &dyn Fn(&CaseKey) -> bool| self.cases.iter().any(|c| differs(&c.key));
        let mut name = format!("{} on {}", key.workload, key.target);
        if varies(&|k| k.engine != key.engine) {
            name.push_str(&format!(", {}", key.engine));
        }
        let own_engine = |k: &CaseKey| k.engine == key.engine;
        for (setting, value) in &key.settings {
            if varies(&|k| own_engine(k) && k.settings.get(setting) != Some(value)) {
                name.push_str(&format!(", {setting}={value}"));
            }
        }
        if let (Some(memory), true) = (key.memory, varies(&|k| k.memory != key.memory)) {
            name.push_str(&format!(", {memory}"));
        }
        if varies(&|k| k.cpus != key.cpus) {
            name.push_str(&format!(", cpus {}", key.cpus));
        }
        if key.replicate > 0 {
            name.push_str(" (A/A)");
        }
        name
    }

    /// For each case the index of the other of its A/A pair.
    pub fn twins(&self) -> Vec<Option<usize>> {
        let twin = |case: &Case| {
            let mut key = case.key.clone();
            key.replicate = 1 - key.replicate;
            self.cases.iter().position(|other| other.key == key)
        };
        self.cases.iter().map(twin).collect()
    }

    /// Measurements to be made.
    pub fn measurements(&self) -> usize {
        self.cases.len() * self.rounds as usize
    }

    /// True when a loop image is needed: some target is made and is not in memory.
    pub fn needs_image(&self) -> bool {
        self.cases.iter().any(|case| match &case.target {
            target::Spec::Made(made) => made.fs != target::FsType::Tmpfs,
            target::Spec::Directory(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(targets: &[&str]) -> Axes {
        Axes {
            workloads: vec!["create".into(), "insert".into()],
            files: Vec::new(),
            targets: targets.iter().map(|t| t.parse().unwrap()).collect(),
            engines: vec![(
                "sqlite".parse().unwrap(),
                "sqlite 3".into(),
                vec![Settings::new()],
            )],
            memory: vec![None],
            cpus: vec![Cpus::Same],
        }
    }

    #[test]
    fn axes_multiply_and_keys_are_unique() {
        let cases = axes(&["ext2", "ext4:data=journal", "/mnt/data"])
            .cases()
            .unwrap();
        assert_eq!(cases.len(), 6);
        let keys: BTreeSet<_> = cases.iter().map(|c| &c.key).collect();
        assert_eq!(keys.len(), 6);
    }

    #[test]
    fn files_stand_once_whatever_the_engines() {
        let mut axes = axes(&["ext2", "xfs"]);
        axes.files = vec![("small-files".into(), vec![Settings::new()])];
        let cases = axes.cases().unwrap();
        let files: Vec<_> = cases.iter().filter(|c| c.engine.is_none()).collect();
        assert_eq!((cases.len(), files.len()), (6, 2));
        assert!(files[0].key.engine.starts_with("files "));
    }

    #[test]
    fn the_same_target_twice_is_refused() {
        let message = axes(&["ext2", "ext2"]).cases().unwrap_err().to_string();
        assert!(message.contains("twice"), "{message}");
    }
}
