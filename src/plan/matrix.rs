//! Axes multiply into cases.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::case::{Case, CaseKey, Cpus};
use crate::engine::{self, Settings};
use crate::error::{Result, ensure, usage};
use crate::target;
use crate::units::Bytes;
use crate::workload::sqlbench;

/// The axes of a plan, each with at least one value.
#[derive(Clone, Debug, Default)]
pub struct Axes {
    /// Workloads or phases.
    pub workloads: Vec<String>,
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
}

impl Axes {
    /// All cells: for each engine, settings, memory, placement and workload, the targets.
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
                            engine: engine.clone(),
                        });
                    }
                }
            }
        }
        let mut keys = BTreeSet::new();
        for case in &cases {
            ensure!(
                keys.insert(&case.key),
                usage(format!("the case '{}' is named twice", case.key))
            );
        }
        Ok(cases)
    }
}

fn product<'a, A, B>(a: &'a [A], b: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    a.iter().flat_map(move |x| b.iter().map(move |y| (x, y)))
}

impl Plan {
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
    fn the_same_target_twice_is_refused() {
        let message = axes(&["ext2", "ext2"]).cases().unwrap_err().to_string();
        assert!(message.contains("twice"), "{message}");
    }
}
