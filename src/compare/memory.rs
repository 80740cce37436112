//! What memory does: cases that differ in their memory limit, side by side, as the
//! published tables have them.

use std::collections::BTreeMap;
use std::fmt;

use super::{Axis, Comparison, Comparisons, Figure, Marks};
use crate::measure::stats::median;
use crate::record::{CaseRecord, KeyRecord, MemoryRecord, Outcome, Results};

/// Where the data of a case were to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whereabouts {
    /// All fit into what the engine itself keeps (shared buffers, pools).
    Cached,
    /// They fit into the memory that the limit leaves to the page cache.
    PageCache,
    /// They do not: some must be read from the device again and again.
    Device,
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Whereabouts::Cached => "cached",
            Whereabouts::PageCache => "page cache",
            Whereabouts::Device => "device",
        })
    }
}

/// Whether a limit made itself felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Felt {
    /// It was never reached: the data fit.
    Never,
    /// It was reached, but next to nothing that had to go was wanted again.
    Reached,
    /// Files were read again, or processes waited for memory.
    Felt,
}

impl fmt::Display for Felt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Felt::Never => "never reached",
            Felt::Reached => "reached",
            Felt::Felt => "felt",
        })
    }
}

/// From this share on of the limit read again, or of the time waited, a limit was felt.
const NOTICEABLE: f64 = 0.01;

/// Where the data of `case` were; `None` where their amount is not known.
pub fn whereabouts(case: &CaseRecord) -> Option<Whereabouts> {
    let memory = case.memory.as_ref()?;
    let data = memory.data_bytes?;
    let left = memory.limit_bytes.saturating_sub(memory.own_bytes);
    Some(match () {
        () if memory.cache_bytes.is_some_and(|cache| data <= cache) => Whereabouts::Cached,
        () if data <= left && !past_the_cache(case) => Whereabouts::PageCache,
        () => Whereabouts::Device,
    })
}

/// Whether the engine reads its data past the page cache.
fn past_the_cache(case: &CaseRecord) -> bool {
    let engine = case.engine.as_ref();
    let method = engine.and_then(|engine| engine.settings.get("innodb_flush_method"));
    method.is_some_and(|method| method.to_ascii_uppercase().starts_with("O_DIRECT"))
}

/// Whether the limit of `case` was felt; `None` without one.
pub fn felt(case: &CaseRecord) -> Option<Felt> {
    let memory = case.memory.as_ref()?;
    // With swap switched off by its own limit, some kernels do not count.
    let below = |peak: u64| peak < memory.limit_bytes;
    if memory.reached == 0 && memory.peak_bytes.is_none_or(below) {
        return Some(Felt::Never);
    }
    let ends = case.phases.iter().filter_map(|phase| phase.ends);
    let wall_ns: u64 = ends.map(|ends| ends.returned.wall_ns).sum();
    let share = |part: Option<u64>, whole: u64| {
        part.unwrap_or_default() as f64 >= NOTICEABLE * whole.max(1) as f64
    };
    let noticed =
        share(memory.refault_bytes, memory.limit_bytes) || share(memory.stalled_ns, wall_ns);
    Some(if noticed { Felt::Felt } else { Felt::Reached })
}

/// One size on one target, over all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryCell {
    /// The limit, bytes; `None` is the machine's.
    pub limit: Option<u64>,
    /// Median of the figure, in its unit.
    pub median: Option<f64>,
    /// The most data in any round, bytes.
    pub data_bytes: Option<u64>,
    /// Where they were, in the worst round.
    pub whereabouts: Option<Whereabouts>,
    /// Whether the limit was felt in any round.
    pub felt: Option<Felt>,
    /// Median of the bytes of files read again.
    pub refault_bytes: Option<f64>,
    /// Median of the time waited for memory, ns.
    pub stalled_ns: Option<f64>,
    /// Why there is no figure: the outcome of the first round, where it was not measured.
    pub without: Option<Outcome>,
}

/// One target in all sizes.
#[derive(Clone, Debug)]
pub struct MemoryRow {
    /// Label of the target.
    pub target: String,
    /// What must be said of it whenever it stands beside others.
    pub marks: Marks,
    /// A cell for each size of the table.
    pub cells: Vec<MemoryCell>,
    /// The smallest size against the largest.
    pub comparison: Option<Comparison>,
}

/// One workload; what else varies in the plan is alike in it.
#[derive(Clone, Debug)]
pub struct MemoryBlock {
    /// Workload, and the values of the other axes that vary.
    pub name: String,
    /// The targets, in the order of the plan.
    pub rows: Vec<MemoryRow>,
}

/// Workloads down, then targets; a column for each size.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    /// The sizes, the smallest first; `None`, the machine's, last.
    pub sizes: Vec<Option<u64>>,
    /// The workloads, in the order of the plan.
    pub blocks: Vec<MemoryBlock>,
}

impl MemoryTable {
    /// Of a run; `None` where no case has a memory limit.
    pub fn of(results: &Results, comparisons: &Comparisons, figure: &Figure) -> Option<Self> {
        let planned = results.run.plan.cases.iter();
        let keys: Vec<&KeyRecord> = planned.filter(|key| key.replicate == 0).collect();
        if keys.iter().all(|key| key.memory_bytes.is_none()) {
            return None;
        }
        let mut sizes: Vec<Option<u64>> = keys.iter().map(|key| key.memory_bytes).collect();
        sizes.sort_by_key(|size| size.unwrap_or(u64::MAX));
        sizes.dedup();
        let named = |axis: &Axis| !matches!(axis, Axis::Target | Axis::Memory);
        let axes: Vec<Axis> = Axis::of(&keys).into_iter().filter(named).collect();
        let mut groups: Vec<(KeyRecord, MemoryBlock)> = Vec::new();
        for key in &keys {
            let rest = rest(key);
            let at = groups.iter().position(|(other, _)| *other == rest);
            let at = at.unwrap_or_else(|| {
                let others = axes.iter().map(|axis| axis.named(&axis.value(key)));
                let name = std::iter::once(key.workload.clone()).chain(others);
                let name = name.collect::<Vec<_>>().join(", ");
                let rows = Vec::new();
                groups.push((rest, MemoryBlock { name, rows }));
                groups.len() - 1
            });
            let rows = &mut groups[at].1.rows;
            if rows.iter().all(|row| row.target != key.target) {
                rows.push(row(results, comparisons, figure, (key, &sizes)));
            }
        }
        Some(MemoryTable {
            sizes,
            blocks: groups.into_iter().map(|(_, block)| block).collect(),
        })
    }
}

/// What the cases of a block have in common.
fn rest(key: &KeyRecord) -> KeyRecord {
    KeyRecord {
        target: String::new(),
        memory_bytes: None,
        ..key.clone()
    }
}

fn row(
    results: &Results,
    comparisons: &Comparisons,
    figure: &Figure,
    (like, sizes): (&KeyRecord, &[Option<u64>]),
) -> MemoryRow {
    let of_size = |size: &Option<u64>| -> Vec<&CaseRecord> {
        let key = KeyRecord {
            memory_bytes: *size,
            ..like.clone()
        };
        results
            .cases
            .iter()
            .filter(|case| case.case == key)
            .collect()
    };
    let compared = |c: &&Comparison| {
        c.axis == Axis::Memory
            && c.new.memory_bytes == sizes[0]
            && c.new.target == like.target
            && rest(&c.new) == rest(like)
    };
    let figure = figure.for_key(like);
    MemoryRow {
        target: like.target.clone(),
        marks: Marks::of(sizes.iter().flat_map(of_size)),
        cells: sizes
            .iter()
            .map(|size| cell(*size, &of_size(size), &figure))
            .collect(),
        comparison: comparisons.list.iter().find(compared).cloned(),
    }
}

fn cell(limit: Option<u64>, cases: &[&CaseRecord], figure: &Figure) -> MemoryCell {
    let measured = || {
        cases
            .iter()
            .filter(|case| case.outcome == Outcome::Measured)
    };
    let memory = || measured().filter_map(|case| case.memory.as_ref());
    let of = |pick: fn(&MemoryRecord) -> Option<u64>| -> Option<f64> {
        let values: Vec<f64> = memory()
            .filter_map(pick)
            .map(|value| value as f64)
            .collect();
        median(&values)
    };
    let figures: Vec<f64> = cases.iter().filter_map(|case| figure.of(case)).collect();
    MemoryCell {
        limit,
        median: median(&figures),
        data_bytes: memory().filter_map(|m| m.data_bytes).max(),
        whereabouts: measured().filter_map(|case| whereabouts(case)).max(),
        felt: measured().filter_map(|case| felt(case)).max(),
        refault_bytes: of(|m| m.refault_bytes),
        stalled_ns: of(|m| m.stalled_ns),
        without: cases
            .first()
            .map(|case| case.outcome.clone())
            .filter(|outcome| *outcome != Outcome::Measured),
    }
}

/// How the limits of a run were set, each way once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryMethod {
    /// `cgroup v1` or `cgroup v2`.
    pub methods: Vec<String>,
    /// How dirty data were limited, with the targets for which it was so.
    pub dirty: Vec<(String, Vec<String>)>,
    /// What the servers were told to fit.
    pub fitted: Vec<FittedTo>,
}

/// Settings that were chosen for an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedTo {
    /// The engine build.
    pub engine: String,
    /// The limit that they fit, bytes.
    pub limit: u64,
    /// Name to value.
    pub settings: BTreeMap<String, String>,
}

impl MemoryMethod {
    /// Of the cases of a run.
    pub fn of(results: &Results) -> Self {
        let mut found = MemoryMethod::default();
        for case in &results.cases {
            let Some(memory) = case.memory.as_ref().filter(|memory| !memory.of.is_empty()) else {
                continue;
            };
            add(&mut found.methods, memory.method.clone());
            let at = found
                .dirty
                .iter()
                .position(|(words, _)| *words == memory.dirty);
            let at = at.unwrap_or_else(|| {
                found.dirty.push((memory.dirty.clone(), Vec::new()));
                found.dirty.len() - 1
            });
            add(&mut found.dirty[at].1, case.case.target.clone());
            if let Some(limit) = memory.settings_for_bytes {
                let fitted = FittedTo {
                    engine: case.case.engine.clone(),
                    limit,
                    settings: memory.settings.clone(),
                };
                add(&mut found.fitted, fitted);
            }
        }
        found
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{EngineRecord, FORMAT};

    fn case(memory: MemoryRecord) -> CaseRecord {
        CaseRecord {
            format: FORMAT,
            case: KeyRecord {
                target: "ext4_defaults".into(),
                engine: "mariadb 10".into(),
                settings: Default::default(),
                memory_bytes: Some(64 << 20),
                cpus: "same".into(),
                workload: "insert".into(),
                load: None,
                replicate: 0,
            },
            round: 0,
            started: String::new(),
            outcome: Outcome::Measured,
            target: None,
            engine: Some(EngineRecord::default()),
            stages: Vec::new(),
            phases: Vec::new(),
            load: None,
            memory: Some(memory),
            durability: None,
            disturbed: Vec::new(),
            remarks: Vec::new(),
            duet: None,
        }
    }

    fn with(data_mib: u64) -> MemoryRecord {
        MemoryRecord {
            limit_bytes: 64 << 20,
            own_bytes: 24 << 20,
            cache_bytes: Some(16 << 20),
            data_bytes: Some(data_mib << 20),
            ..MemoryRecord::default()
        }
    }

    #[test]
    fn data_are_cached_in_the_page_cache_or_on_the_device() {
        let of = |mib| whereabouts(&case(with(mib))).unwrap();
        assert_eq!(of(16), Whereabouts::Cached);
        assert_eq!(of(40), Whereabouts::PageCache);
        assert_eq!(of(41), Whereabouts::Device);
        let mut direct = case(with(40));
        let settings = &mut direct.engine.as_mut().unwrap().settings;
        settings.insert("innodb_flush_method".into(), "O_DIRECT".into());
        assert_eq!(whereabouts(&direct), Some(Whereabouts::Device));
        let unknown = MemoryRecord {
            data_bytes: None,
            ..with(1)
        };
        assert_eq!(whereabouts(&case(unknown)), None);
    }

    #[test]
    fn a_limit_is_felt_when_files_are_read_again() {
        let of = |reached, refault_bytes| {
            felt(&case(MemoryRecord {
                reached,
                refault_bytes,
                ..with(40)
            }))
            .unwrap()
        };
        assert_eq!(of(0, Some(0)), Felt::Never);
        assert_eq!(of(9, Some(4096)), Felt::Reached);
        assert_eq!(of(9, None), Felt::Reached);
        assert_eq!(of(9, Some(10 << 20)), Felt::Felt);
    }
}
