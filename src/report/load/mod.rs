//! Loads in the report for a terminal: checkpoints and figures down, cases across.

pub(super) mod bare;
pub(super) mod figures;
mod rows;

use std::io::{self, Write};

use self::rows::{rows, statement_rows};
use super::grid::Grid;
use super::index::Index;
use crate::compare::{Axis, Marks};
use crate::record::{CaseRecord, KeyRecord, LoadPlanRecord, Results};
use crate::units::seconds;
use crate::workload::load::Progress;

/// Longer lines than this get numbered columns and a legend.
const WIDEST: usize = 110;

/// A progress line, worded as pgbench's.
pub(super) fn progress(p: &Progress) -> String {
    let mut line = format!(
        "progress: {:.1} s, {:.1} tps, lat {:.3} ms stddev {:.3}, {} failed",
        p.elapsed_s, p.tps, p.latency_ms, p.stddev_ms, p.failed
    );
    if p.skipped > 0 {
        line.push_str(&format!(", {} skipped", p.skipped));
    }
    if p.retried > 0 {
        line.push_str(&format!(", {} retried", p.retried));
    }
    line
}

/// The result of a load in a few words.
pub(super) fn outcome(record: &CaseRecord) -> String {
    let Some(load) = &record.load else {
        return "measured".to_string();
    };
    let mut words = format!(
        "{:.1} tps, {} transactions in {} s",
        load.tps(),
        load.committed,
        seconds(load.wall_ns as f64 / 1e9)
    );
    for (count, what) in [
        (load.failed, "failed"),
        (load.skipped, "skipped"),
        (load.retried, "retried"),
    ] {
        if count > 0 {
            words.push_str(&format!(", {count} {what}"));
        }
    }
    words
}

/// One case over its rounds: a column.
pub(super) struct Column<'r> {
    pub key: &'r KeyRecord,
    pub cases: Vec<&'r CaseRecord>,
}

impl Column<'_> {
    /// What must be said of it beside others.
    pub fn marks(&self) -> String {
        Marks::of(self.cases.iter().copied()).to_string()
    }
}

/// The loads of a run, as they are shown.
pub(super) struct Loads<'r> {
    plan: &'r LoadPlanRecord,
    imported: bool,
    /// The cases, in the order of the plan.
    pub columns: Vec<Column<'r>>,
    /// What they are called beside each other, without their marks.
    names: Vec<String>,
    marks: Vec<String>,
}

impl<'r> Loads<'r> {
    /// Of a run; `None` where there are none.
    pub fn of(results: &'r Results) -> Option<Self> {
        let plan = results.run.plan.load.as_ref()?;
        let columns = columns(results);
        let keys: Vec<&KeyRecord> = columns.iter().map(|c| c.key).collect();
        let names = names(&keys);
        (!columns.is_empty()).then(|| Loads {
            plan,
            imported: !results.run.imported.is_empty(),
            marks: columns.iter().map(Column::marks).collect(),
            columns,
            names,
        })
    }

    /// What was run, and what all have in common: a line each.
    pub fn title(&self) -> [String; 2] {
        let keys: Vec<&KeyRecord> = self.columns.iter().map(|c| c.key).collect();
        // Each imported load says by itself what it was, as far as that is known.
        let first = match self.imported {
            true => "load, imported".to_string(),
            false => format!("load {}", describe(self.plan)),
        };
        [first, common(&keys)]
    }

    /// That they played in duet, if they did.
    pub fn turns(&self) -> Option<String> {
        let mut cases = self.columns.iter().flat_map(|c| &c.cases);
        let duet = cases.find_map(|c| c.duet.as_ref())?;
        let ms = duet.slice_ns as f64 / 1e6;
        Some(format!(
            "in duet, in slices of {ms} ms or ten transactions: figures are of the case's own"
        ))
    }

    /// Their names with their marks.
    pub fn names(&self) -> Vec<String> {
        let marked = self.names.iter().zip(&self.marks);
        marked
            .map(|(name, marks)| format!("{name}{marks}"))
            .collect()
    }

    /// Checkpoints and figures down, cases across.
    pub fn table(&self, results: &Results, statements: bool) -> Grid {
        let mut grid = Grid::default();
        grid.row(header("transactions/s", &self.names()));
        rows(&mut grid, &self.columns, self.plan);
        bare::row(&mut grid, &self.columns, results);
        if statements {
            statement_rows(&mut grid, &self.columns);
        }
        grid
    }
}

/// Writes the loads of a run; nothing where there are none.
pub(super) fn write(out: &mut dyn Write, results: &Results, statements: bool) -> io::Result<()> {
    let Some(loads) = Loads::of(results) else {
        return Ok(());
    };
    let [first, second] = loads.title();
    writeln!(out)?;
    writeln!(out, "{first}")?;
    writeln!(out, "  {second}")?;
    if let Some(turns) = loads.turns() {
        writeln!(out, "  {turns}")?;
    }
    let mut grid = loads.table(results, statements);
    if grid.width() > WIDEST {
        for (number, name) in loads.names().iter().enumerate() {
            writeln!(out, "  [{}] {name}", number + 1)?;
        }
        let numbers = loads.marks.iter().enumerate();
        let numbers: Vec<String> = numbers
            .map(|(number, marks)| format!("[{}]{marks}", number + 1))
            .collect();
        grid.replace_header(header("transactions/s", &numbers));
    }
    grid.write(out, 2)
}

fn columns(results: &Results) -> Vec<Column<'_>> {
    let index = Index::new(results);
    let planned = results.run.plan.cases.iter();
    planned
        .filter(|key| key.replicate == 0 && key.load.is_some())
        .map(|key| Column {
            key,
            cases: index.rounds(key).to_vec(),
        })
        .collect()
}

/// The plan of the loads in words.
fn describe(plan: &LoadPlanRecord) -> String {
    let scripts: Vec<String> = plan
        .scripts
        .iter()
        .map(|(name, weight)| match plan.scripts.len() {
            1 => name.clone(),
            _ => format!("{name}@{weight}"),
        })
        .collect();
    let mut parts = vec![scripts.join(" "), format!("-M {}", plan.mode)];
    match plan
        .scripts
        .iter()
        .any(|(name, _)| name == "insert" || name.starts_with("oltp_"))
    {
        true => parts.push(format!("{} rows preloaded", plan.preload)),
        false => parts.push(format!("scale {}", plan.scale)),
    }
    if let Some(keys) = plan.keys {
        parts.push(format!("keys {keys}"));
    }
    if let Some(n) = plan.transactions {
        parts.push(format!("{n} transactions a client"));
    }
    if let Some(n) = plan.tuples {
        parts.push(format!("{n} transactions"));
    }
    if let Some(s) = plan.seconds {
        parts.push(format!("{s} s"));
    }
    if let Some(rate) = plan.rate {
        parts.push(format!("{rate} transactions/s scheduled"));
    }
    if let Some(limit) = plan.limit_ms {
        parts.push(format!("limit {limit} ms"));
    }
    if plan.reconnect {
        parts.push("a connection a transaction".to_string());
    }
    parts.push(format!("after {} s of warm-up", plan.warmup_s));
    parts.join(", ")
}

/// What all cases have in common.
fn common(keys: &[&KeyRecord]) -> String {
    let axes = Axis::of(keys);
    let first = keys[0];
    let varies = |axis: &Axis| axes.contains(axis);
    let mut parts = Vec::new();
    if !varies(&Axis::Engine) {
        parts.push(first.engine.clone());
    }
    if let (Some(load), false) = (first.load, varies(&Axis::Clients)) {
        parts.push(format!("clients {}", load.clients));
    }
    if let (Some(load), false) = (first.load, varies(&Axis::Databases)) {
        parts.push(format!("databases {}", load.databases));
    }
    for (name, value) in &first.settings {
        let same = |key: &&KeyRecord| key.settings.get(name) == Some(value);
        if keys.iter().all(same) {
            parts.push(format!("{name}={value}"));
        }
    }
    parts.join(", ")
}

/// The name of each column: the values of the axes that vary.
fn names(keys: &[&KeyRecord]) -> Vec<String> {
    let mut axes = Axis::of(keys);
    if axes.is_empty() {
        axes.push(Axis::Target);
    }
    let several_engines = axes.contains(&Axis::Engine);
    let name = |key: &&KeyRecord| {
        let values = axes.iter().filter_map(|axis| match axis {
            // Other engines have other settings by nature.
            Axis::Setting(_) if several_engines => None,
            Axis::Clients | Axis::Databases => Some(format!("{axis} {}", axis.value(key))),
            _ => Some(axis.value(key)),
        });
        values.collect::<Vec<_>>().join(" ")
    };
    keys.iter().map(name).collect()
}

fn header(first: &str, names: &[String]) -> Vec<String> {
    std::iter::once(first.to_string())
        .chain(names.iter().cloned())
        .collect()
}
