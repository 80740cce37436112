//! Axes multiply into cases.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::case::{Case, CaseKey, Cpus, no_engine};
use crate::engine::{self, Settings};
use crate::error::{Result, ensure, usage};
use crate::target;
use crate::units::Bytes;
use crate::workload::{load, sqlbench};

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
    /// CPU placements; none: that of each workload.
    pub cpus: Vec<Cpus>,
    /// Clients and databases of the load.
    pub loads: Vec<load::Cell>,
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
    /// What the loads are, where there are any.
    pub load: Option<load::Options>,
    /// Size of the loop image.
    pub image_size: Bytes,
    /// Where the loop image is made.
    pub image_dir: PathBuf,
    /// Block devices for made targets, instead of an image. Cases measured in turn all
    /// use the first.
    pub devices: Vec<PathBuf>,
    /// A name that the user gave the run.
    pub label: Option<String>,
    /// Label of the target that the others are compared with, where one was named.
    pub baseline: Option<String>,
    /// The smallest difference worth telling, as a fraction.
    pub threshold: f64,
    /// Adds rounds until intervals are narrow.
    pub until_sure: Option<UntilSure>,
    /// Servers are told to fit each memory limit, and not the smallest.
    pub tune_memory: bool,
    /// Slice of a duet; `None`: one case after the other.
    pub slice: Option<Duration>,
    /// What is measured at a time: indices of one case, or of the two of a duet, the
    /// baseline first. Every case stands in one at least.
    pub units: Vec<Vec<usize>>,
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
                for memory in &self.memory {
                    for (workload, cpus, load) in self.kinds() {
                        for target in &self.targets {
                            cases.push(Case {
                                key: CaseKey {
                                    target: target.label(),
                                    engine: build.clone(),
                                    settings: settings.clone(),
                                    memory: *memory,
                                    cpus,
                                    workload: workload.to_string(),
                                    load,
                                    replicate: 0,
                                },
                                target: target.clone(),
                                engine: Some(engine.clone()),
                                fitted: None,
                            });
                        }
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

    /// Each workload on files alone is a cell a target and memory, whatever the engines.
    fn without_engine(&self) -> Vec<Case> {
        let usual = [Cpus::Same];
        let cpus = match self.cpus.as_slice() {
            [] => usual.as_slice(),
            given => given,
        };
        let mut cases = Vec::new();
        for (memory, cpus) in product(&self.memory, cpus) {
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
                            load: None,
                            replicate: 0,
                        },
                        target: target.clone(),
                        engine: None,
                        fitted: None,
                    });
                }
            }
        }
        cases
    }

    /// Workloads with their placements and, for the load, its cells.
    fn kinds(&self) -> Vec<(&str, Cpus, Option<load::Cell>)> {
        let mut kinds = Vec::new();
        let given: Vec<Option<Cpus>> = match self.cpus.is_empty() {
            true => vec![None],
            false => self.cpus.iter().copied().map(Some).collect(),
        };
        for cpus in given {
            for workload in &self.workloads {
                let usual = cpus.unwrap_or_else(|| Cpus::usual(workload));
                match workload == load::NAME {
                    true => {
                        let cells = self.loads.iter();
                        kinds.extend(cells.map(|c| (workload.as_str(), usual, Some(*c))));
                    }
                    false => kinds.push((workload.as_str(), usual, None)),
                }
            }
        }
        kinds
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
        if let (Some(cell), true) = (
            key.load,
            varies(&|k| k.load.is_some() && k.load != key.load),
        ) {
            name.push_str(&format!(", {cell}"));
        }
        let same_workload = |k: &CaseKey| k.workload == key.workload;
        if varies(&|k| same_workload(k) && k.cpus != key.cpus) {
            name.push_str(&format!(", cpus {}", key.cpus));
        }
        if key.replicate > 0 {
            name.push_str(" (A/A)");
        }
        name
    }

    /// The short name of the first case whose key is the one meant.
    pub fn name_of(&self, is_meant: impl Fn(&CaseKey) -> bool) -> String {
        let mut keys = self.cases.iter().map(|case| &case.key);
        keys.find(|key| is_meant(key))
            .map_or_else(String::new, |key| self.name(key))
    }

    /// A short name of what is measured at a time.
    pub fn unit_name(&self, unit: &[usize]) -> String {
        let names: Vec<String> = unit
            .iter()
            .map(|i| self.name(&self.cases[*i].key))
            .collect();
        match names.as_slice() {
            [base, new] => format!("{new}, in duet with {base}"),
            names => names.concat(),
        }
    }

    /// For each unit the index of the one that holds the other of its A/A pair, where
    /// both are measured alone.
    pub fn twins(&self) -> Vec<Option<usize>> {
        let twin = |unit: &Vec<usize>| {
            let [case] = unit.as_slice() else {
                return None;
            };
            let mut key = self.cases[*case].key.clone();
            key.replicate = 1 - key.replicate;
            self.units
                .iter()
                .position(|other| matches!(other[..], [i] if self.cases[i].key == key))
        };
        self.units.iter().map(twin).collect()
    }

    /// Cases that are measured at the same time, at most.
    pub fn lanes(&self) -> usize {
        self.units.iter().map(Vec::len).max().unwrap_or(1)
    }

    /// Measurements to be made.
    pub fn measurements(&self) -> usize {
        self.per_round() * self.rounds as usize
    }

    /// Measurements of one round.
    pub fn per_round(&self) -> usize {
        self.units.iter().map(Vec::len).sum()
    }

    /// True when some case has a memory limit.
    pub fn limits_memory(&self) -> bool {
        self.cases.iter().any(|case| case.key.memory.is_some())
    }

    /// True when a loop image is needed: some target is made, is not in memory, and there
    /// is no device for it.
    pub fn needs_image(&self) -> bool {
        let on_device = |case: &Case| match &case.target {
            target::Spec::Made(made) => made.fs.needs_device(),
            target::Spec::Directory(_) => false,
        };
        self.devices.is_empty() && self.cases.iter().any(on_device)
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
            loads: Vec::new(),
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
