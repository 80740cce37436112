//! Loads in the report for a terminal: checkpoints and figures down, cases across.

mod bare;
mod figures;
mod rows;

use std::io::{self, Write};

use self::rows::{rows, statement_rows};
use super::grid::Grid;
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
struct Column<'r> {
    key: &'r KeyRecord,
    cases: Vec<&'r CaseRecord>,
}

impl Column<'_> {
    /// What must be said of it beside others.
    fn marks(&self) -> String {
        Marks::of(self.cases.iter().copied()).to_string()
    }
}

/// Writes the loads of a run; nothing where there are none.
pub(super) fn write(out: &mut dyn Write, results: &Results, statements: bool) -> io::Result<()> {
    let Some(plan) = &results.run.plan.load else {
        return Ok(());
    };
    let columns = columns(results);
    let keys: Vec<&KeyRecord> = columns.iter().map(|c| c.key).collect();
    if keys.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "load {}", describe(plan))?;
    writeln!(out, "  {}", common(&keys))?;
    let duets = columns.iter().flat_map(|c| &c.cases);
    if let Some(duet) = duets.filter_map(|c| c.duet.as_ref()).next() {
        let ms = duet.slice_ns as f64 / 1e6;
        writeln!(
            out,
            "  in duet, in slices of {ms} ms: every figure is of the case's own slices"
        )?;
    }
    let marks: Vec<String> = columns.iter().map(Column::marks).collect();
    let marked = |(name, marks): (String, &String)| format!("{name}{marks}");
    let names: Vec<String> = names(&keys).into_iter().zip(&marks).map(marked).collect();
    let mut grid = Grid::default();
    grid.row(header("transactions/s", &names));
    rows(&mut grid, &columns, plan);
    bare::row(&mut grid, &columns, results);
    if statements {
        statement_rows(&mut grid, &columns);
    }
    if grid.width() > WIDEST {
        for (number, name) in names.iter().enumerate() {
            writeln!(out, "  [{}] {name}", number + 1)?;
        }
        let numbers = (1..=names.len()).map(|n| format!("[{n}]"));
        let numbers: Vec<String> = numbers.zip(&marks).map(marked).collect();
        grid.replace_header(header("transactions/s", &numbers));
    }
    grid.write(out, 2)
}

fn columns(results: &Results) -> Vec<Column<'_>> {
    let planned = results.run.plan.cases.iter();
    planned
        .filter(|key| key.replicate == 0 && key.load.is_some())
        .map(|key| Column {
            key,
            cases: results.cases.iter().filter(|c| c.case == *key).collect(),
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
