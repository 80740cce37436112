//! A run beside published figures: today's ratios next to those of the study. Seconds of old
//! hardware say nothing today; what a study found is in the ratios between its cells, and a
//! ratio of today that points the other way is news. The study has one run of each, so only
//! today's ratios have intervals.

use std::collections::BTreeSet;

use super::within::{Rounds, Sides, is_skipped, rounds, sides};
use super::{Axis, Estimate, Interval, Marks, Metric, Pair, Rule, Verdict, judge};
use crate::measure::stats::median;
use crate::record::{CaseRecord, Completeness, KeyRecord, Outcome, PublishedRecord, Results};

/// A run beside a study.
#[derive(Clone, Debug)]
pub struct Beside {
    /// What is to be known of the study.
    pub study: PublishedRecord,
    /// The tables, in the order of the study.
    pub tables: Vec<Table>,
    /// Targets of the study that the run did not measure.
    pub only_then: Vec<String>,
    /// Targets of the run that the study does not have.
    pub only_today: Vec<String>,
}

/// Ratios on one axis: file systems against one of them, or memory sizes against the largest.
#[derive(Clone, Debug)]
pub struct Table {
    /// The axis.
    pub axis: Axis,
    /// Workload, and step or checkpoint where there are several.
    pub what: String,
    /// What all its rows share and others of the run do not: engine, settings, memory.
    pub context: String,
    /// The metric of its figures.
    pub metric: Metric,
    /// Value on the axis that the others are set against, in today's spelling.
    pub baseline: String,
    /// On the memory axis the value that all rows have.
    pub value: Option<String>,
    /// The rows; on the target axis the baseline's is the first.
    pub rows: Vec<Row>,
}

/// One cell of today beside the same one of the study.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label of the target today.
    pub target: String,
    /// Its label in the study.
    pub target_then: String,
    /// Median of today's rounds, in the metric's unit.
    pub today: Option<f64>,
    /// Today's ratio to the baseline; `None` for the baseline itself.
    pub ratio: Option<f64>,
    /// Its interval, from two rounds on.
    pub interval: Option<Interval>,
    /// Whether today's interval leaves the direction open.
    pub direction: Direction,
    /// The figure of the study.
    pub then: Option<f64>,
    /// The study's ratio.
    pub ratio_then: Option<f64>,
    /// What must be said of today's figure.
    pub marks: Marks,
}

/// Whether today points the way of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The baseline itself, or a figure is missing.
    None,
    /// Today's interval leaves it open, or there is none.
    Open,
    /// Both are on the same side of one.
    Same,
    /// They are on different sides.
    Reversed,
    /// The study saw no difference worth telling, today there is one.
    OnlyToday,
}

/// What is set side by side: a figure that the study has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    /// Seconds until returned of a phase, or of several together, whose names have a plus
    /// sign between them.
    Seconds(String),
    /// Cumulative transactions a second at so many.
    Checkpoint(u64),
}

impl Item {
    fn metric(&self) -> Metric {
        match self {
            Item::Seconds(_) => Metric::SECONDS,
            Item::Checkpoint(_) => Metric::TRANSACTIONS_PER_SECOND,
        }
    }

    /// The figure of a case; `None` where it was not measured to its end.
    fn of(&self, case: &CaseRecord) -> Option<f64> {
        if case.outcome != Outcome::Measured {
            return None;
        }
        match self {
            Item::Seconds(names) => {
                let of_phase = |name: &str| {
                    let phase = case.phases.iter().find(|p| p.name == name)?;
                    let whole = phase.completeness == Completeness::Complete;
                    Some(phase.ends.filter(|_| whole)?.returned.wall_ns as f64 / 1e9)
                };
                of_phase(names).or_else(|| names.split('+').map(of_phase).sum())
            }
            Item::Checkpoint(n) => {
                let mut all = case.load.as_ref()?.checkpoints.iter();
                all.find(|c| c.transactions == *n).map(|c| c.tps())
            }
        }
    }

    fn all(study: &Results) -> Vec<(&str, Item)> {
        let mut items = Vec::new();
        for case in &study.cases {
            let workload = case.case.workload.as_str();
            let mut checkpoints: Vec<u64> = case
                .load
                .iter()
                .flat_map(|load| &load.checkpoints)
                .map(|c| c.transactions)
                .collect();
            checkpoints.sort_unstable();
            // The seconds of a load are those of its own number of transactions.
            let phases = case.phases.iter().filter(|_| case.load.is_none());
            let phases = phases.map(|p| Item::Seconds(p.name.clone()));
            for item in checkpoints.into_iter().map(Item::Checkpoint).chain(phases) {
                if !items.contains(&(workload, item.clone())) {
                    items.push((workload, item));
                }
            }
        }
        items
    }

    fn name(&self, workload: &str) -> String {
        match self {
            Item::Seconds(name) if name == workload => name.clone(),
            Item::Seconds(name) => format!("{workload}, {name}"),
            Item::Checkpoint(n) => format!("{workload} at {n}"),
        }
    }
}

/// Settings of a study that name what the run cannot have: the machine.
const MACHINE: &str = "machine";

/// One cell of today with that of the study which is the same.
#[derive(Clone, Copy)]
struct Cell<'r> {
    today: &'r KeyRecord,
    then: &'r CaseRecord,
}

/// Sets `run` beside `study`, a run of published figures; `wanted` is the target that the
/// others are set against, else the run's own baseline, else ext2, else the first, where
/// the study has it. Intervals are corrected for the number of ratios.
pub fn beside(run: &Results, study: &Results, wanted: Option<&str>, rule: &Rule) -> Beside {
    let first = set_beside(run, study, wanted, rule);
    let rows = first.tables.iter().flat_map(|table| &table.rows);
    match rows.filter(|row| row.ratio.is_some()).count() {
        0 | 1 => first,
        ratios => set_beside(run, study, wanted, &rule.for_comparisons(ratios)),
    }
}

fn set_beside(run: &Results, study: &Results, wanted: Option<&str>, rule: &Rule) -> Beside {
    let published = study.run.published.clone().unwrap_or_default();
    let sides = sides(run);
    let keys: Vec<&KeyRecord> = run
        .run
        .plan
        .cases
        .iter()
        .filter(|k| k.replicate == 0 && !is_skipped(&sides, k))
        .collect();
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for today in &keys {
        let same = study
            .cases
            .iter()
            .filter(|c| is_same(&published, today, &c.case));
        cells.extend(same.map(|then| Cell { today, then }));
    }
    let wanted = wanted.or(run.run.plan.baseline.as_deref());
    let mut tables = Vec::new();
    for (workload, item) in Item::all(study) {
        let own = |c: &&Cell<'_>| c.today.workload == workload && item.of(c.then).is_some();
        let own: Vec<Cell<'_>> = cells.iter().filter(own).copied().collect();
        for axis in [Axis::Target, Axis::Memory] {
            for block in blocks(&axis, &own) {
                let table = Table {
                    context: context(&keys, &axis, &block[0]),
                    what: item.name(workload),
                    metric: item.metric(),
                    baseline: String::new(),
                    value: None,
                    rows: Vec::new(),
                    axis: axis.clone(),
                };
                tables.extend(table.filled(&sides, &item, &block, (wanted, rule)));
            }
        }
    }
    let labels = |keys: Vec<&KeyRecord>| -> BTreeSet<String> {
        keys.iter().map(|k| k.target.clone()).collect()
    };
    let today = labels(keys.clone());
    let measured: BTreeSet<&str> = today.iter().map(|t| published.label(t)).collect();
    let then = labels(study.cases.iter().map(|c| &c.case).collect());
    Beside {
        only_then: then
            .iter()
            .filter(|t| !measured.contains(t.as_str()))
            .cloned()
            .collect(),
        only_today: today
            .iter()
            .filter(|t| !then.contains(published.label(t)))
            .cloned()
            .collect(),
        study: published,
        tables,
    }
}

/// Whether the study's cell is what today's measures: all that the study tells is the same,
/// but for the engine, whose kin it may be, and for its machine.
fn is_same(published: &PublishedRecord, today: &KeyRecord, then: &KeyRecord) -> bool {
    let databases = |key: &KeyRecord| key.load.map(|load| load.databases);
    let settings = then.settings.iter().filter(|(name, _)| *name != MACHINE);
    today.workload == then.workload
        && published.label(&today.target) == then.target
        && (then.memory_bytes.is_none() || then.memory_bytes == today.memory_bytes)
        && databases(today) == databases(then)
        && settings
            .into_iter()
            .all(|(name, value)| today.settings.get(name) == Some(value))
}

/// Cells that share all but target (and, on the memory axis, memory), today and then, in the
/// order of the plan; on the memory axis those that have a partner of another size.
fn blocks<'r>(axis: &Axis, cells: &[Cell<'r>]) -> Vec<Vec<Cell<'r>>> {
    let memory = *axis == Axis::Memory;
    let plain = |key: &KeyRecord| KeyRecord {
        target: String::new(),
        memory_bytes: key.memory_bytes.filter(|_| !memory),
        ..key.clone()
    };
    let same = |a: &Cell<'_>, b: &Cell<'_>| {
        plain(a.today) == plain(b.today) && plain(&a.then.case) == plain(&b.then.case)
    };
    let has_partner = |cell: &Cell<'_>| {
        cells
            .iter()
            .any(|other| Axis::Memory.alone_differs(other.today, cell.today))
    };
    let mut blocks: Vec<Vec<Cell<'r>>> = Vec::new();
    for cell in cells.iter().filter(|cell| !memory || has_partner(cell)) {
        match blocks.iter_mut().find(|block| same(&block[0], cell)) {
            Some(block) => block.push(*cell),
            None => blocks.push(vec![*cell]),
        }
    }
    blocks.retain(|block| block.len() > 1);
    blocks
}

/// What else names a block of today, where the run has several.
fn context(keys: &[&KeyRecord], axis: &Axis, cell: &Cell<'_>) -> String {
    let left_out = |other: &Axis| other != axis && *other != Axis::Target;
    let mut parts: Vec<String> = Axis::of(keys)
        .iter()
        .filter(|other| left_out(other))
        .map(|other| other.named(&other.value(cell.today)))
        .filter(|name| !name.is_empty())
        .collect();
    parts.extend(
        cell.then
            .case
            .settings
            .get(MACHINE)
            .map(|m| format!("then on {m}")),
    );
    parts.join(", ")
}

impl Table {
    /// With its rows; `None` where nothing can be set against anything.
    fn filled(
        mut self,
        sides: &Sides<'_>,
        item: &Item,
        block: &[Cell<'_>],
        (wanted, rule): (Option<&str>, &Rule),
    ) -> Option<Table> {
        match self.axis {
            Axis::Memory => {
                let size = |c: &Cell<'_>| c.today.memory_bytes;
                let most = block.iter().map(size).max()?;
                let base = block.iter().find(|c| size(c) == most)?;
                self.baseline = self.axis.value(base.today);
                for cell in block.iter().filter(|c| size(c) != most) {
                    let same =
                        |c: &&Cell<'_>| size(c) == most && c.today.target == cell.today.target;
                    if let Some(base) = block.iter().find(same) {
                        self.value = Some(self.axis.value(cell.today));
                        self.rows.push(row(sides, item, (base, cell), rule));
                    }
                }
            }
            _ => {
                let named = |label: &str| block.iter().find(|c| c.today.target == label);
                let base = wanted.and_then(named).or_else(|| named("ext2_defaults"));
                let has_figure = |c: &&Cell<'_>| {
                    sides
                        .get(c.today)
                        .is_some_and(|s| s.iter().any(|c| item.of(c).is_some()))
                };
                let base = base.or_else(|| block.iter().find(has_figure))?;
                self.baseline.clone_from(&base.today.target);
                self.rows.push(row(sides, item, (base, base), rule));
                let others = block.iter().filter(|c| c.today.target != base.today.target);
                self.rows
                    .extend(others.map(|cell| row(sides, item, (base, cell), rule)));
            }
        }
        self.rows
            .iter()
            .any(|row| row.ratio.is_some())
            .then_some(self)
    }
}

fn row(sides: &Sides<'_>, item: &Item, (base, cell): (&Cell<'_>, &Cell<'_>), rule: &Rule) -> Row {
    let own = rounds(sides, cell.today, base.today);
    let of = |rounds: &Rounds<'_>| -> Vec<f64> {
        rounds.values().filter_map(|case| item.of(case)).collect()
    };
    let then = item.of(cell.then);
    // In duets a baseline has figures of its own beside each other case.
    let all = || {
        sides
            .get(cell.today)
            .into_iter()
            .flatten()
            .filter_map(|case| item.of(case))
    };
    let values = match base.today == cell.today {
        true => all().collect(),
        false => of(&own),
    };
    let mut row = Row {
        target: cell.today.target.clone(),
        target_then: cell.then.case.target.clone(),
        today: median(&values),
        ratio: None,
        interval: None,
        direction: Direction::None,
        then,
        ratio_then: None,
        marks: Marks::of(sides.get(cell.today).into_iter().flatten().copied()),
    };
    if base.today == cell.today {
        return row;
    }
    row.ratio_then = then.zip(item.of(base.then)).map(|(then, base)| then / base);
    let base_rounds = rounds(sides, base.today, cell.today);
    let pair = |(round, base): (&u32, &&CaseRecord)| {
        Some(Pair {
            base: item.of(base)?,
            new: item.of(own.get(round)?)?,
        })
    };
    let pairs: Vec<Pair> = base_rounds.iter().filter_map(pair).collect();
    if let Ok(estimate) = Estimate::new(item.metric(), &pairs) {
        let judgement = judge(&estimate, rule);
        row.ratio = Some(estimate.ratio());
        row.interval = judgement.interval;
        row.direction = direction(&judgement.verdict, estimate.ratio(), row.ratio_then, rule);
    }
    row
}

fn direction(verdict: &Verdict, today: f64, then: Option<f64>, rule: &Rule) -> Direction {
    let Some(then) = then else {
        return Direction::None;
    };
    match verdict {
        Verdict::Faster | Verdict::Slower if (then - 1.0).abs() < rule.threshold() => {
            Direction::OnlyToday
        }
        Verdict::Faster | Verdict::Slower if (today - 1.0) * (then - 1.0) > 0.0 => Direction::Same,
        Verdict::Faster | Verdict::Slower => Direction::Reversed,
        _ => Direction::Open,
    }
}

#[cfg(test)]
mod tests;
