//! Loads in the report for a terminal: checkpoints and figures down, cases across.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::grid::Grid;
use crate::compare::Axis;
use crate::compare::Marks;
use crate::measure::stats::median;
use crate::record::{
    CaseRecord, EndRecord, EndsRecord, KeyRecord, LatencyRecord, LoadPlanRecord, LoadRecord,
    Outcome, PhaseRecord, Results,
};
use crate::units::seconds;
use crate::workload::load::Progress;

/// Longer lines than this get numbered columns and a legend.
const WIDEST: usize = 110;
const MIB: f64 = (1u64 << 20) as f64;

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
    let marks: Vec<String> = columns.iter().map(Column::marks).collect();
    let marked = |(name, marks): (String, &String)| format!("{name}{marks}");
    let names: Vec<String> = names(&keys).into_iter().zip(&marks).map(marked).collect();
    let mut grid = Grid::default();
    grid.row(header("transactions/s", &names));
    rows(&mut grid, &columns, plan);
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

type Show = fn(f64) -> String;

fn rows(grid: &mut Grid, columns: &[Column<'_>], plan: &LoadPlanRecord) {
    checkpoint_rows(grid, columns);
    row(grid, columns, "whole load", rate, |c| Some(c.load.tps()));
    row(grid, columns, "seconds returned", seconds, |c| {
        ends(c, |e| Some(e.returned))
    });
    row(grid, columns, "seconds flushed", seconds, |c| {
        ends(c, |e| e.flushed)
    });
    row(grid, columns, "seconds settled", seconds, |c| {
        ends(c, |e| e.settled)
    });
    let name = if plan.rate.is_some() {
        "latency from schedule"
    } else {
        "latency"
    };
    latency_rows(grid, columns, name, |l| Some(&l.latency));
    if plan.rate.is_some() {
        latency_rows(grid, columns, "lag", |l| l.lag.as_ref());
        latency_rows(grid, columns, "service", |l| l.service.as_ref());
    }
    for (name, pick) in [
        (
            "failed",
            (|l| Some(l.failed)) as fn(&LoadRecord) -> Option<u64>,
        ),
        ("skipped", |l| Some(l.skipped)),
        ("late", |l| Some(l.late)),
        ("retried", |l| Some(l.retried)),
        ("waits for a lock", |l| Some(l.busy_waits?.0)),
    ] {
        if figures(columns).any(|f| pick(f.load) > Some(0)) {
            row(grid, columns, name, whole, |f| Some(pick(f.load)? as f64));
        }
    }
    if figures(columns).any(|f| f.load.busy_waits.is_some_and(|b| b.0 > 0)) {
        row(
            grid,
            columns,
            "  waited, s over all clients",
            seconds,
            |f| Some(f.load.busy_waits?.1 as f64 / 1e9),
        );
    }
    resource_rows(grid, columns);
    activity_rows(grid, columns);
}

/// Cumulative figures: all transactions so far / all time so far; and between two.
fn checkpoint_rows(grid: &mut Grid, columns: &[Column<'_>]) {
    let mut counts: Vec<u64> = figures(columns)
        .flat_map(|f| &f.load.checkpoints)
        .map(|c| c.transactions)
        .collect();
    counts.sort_unstable();
    counts.dedup();
    for count in &counts {
        row(grid, columns, &format!("at {count}"), rate, |f| {
            let found = f.load.checkpoints.iter().find(|c| c.transactions == *count);
            found.map(|c| c.tps())
        });
    }
    for pair in counts.windows(2) {
        let name = format!("from {} to {}", pair[0], pair[1]);
        row(grid, columns, &name, rate, |f| {
            let at = |count| f.load.checkpoints.iter().find(|c| c.transactions == count);
            Some(at(pair[1])?.rate_since(Some(at(pair[0])?)))
        });
    }
}

fn latency_rows(
    grid: &mut Grid,
    columns: &[Column<'_>],
    name: &str,
    pick: fn(&LoadRecord) -> Option<&LatencyRecord>,
) {
    type Quantile = (&'static str, fn(&LatencyRecord) -> u64);
    let quantiles: [Quantile; 6] = [
        ("mean", |l| l.mean_ns),
        ("median", |l| l.p50_ns),
        ("90 %", |l| l.p90_ns),
        ("99 %", |l| l.p99_ns),
        ("99.9 %", |l| l.p999_ns),
        ("slowest", |l| l.max_ns),
    ];
    for (quantile, value) in quantiles {
        row(grid, columns, &format!("{name} {quantile}, ms"), ms, |f| {
            Some(value(pick(f.load)?) as f64 / 1e6)
        });
    }
}

/// What it took, and what it took a commit.
fn resource_rows(grid: &mut Grid, columns: &[Column<'_>]) {
    let cpu = |ns: Option<u64>, wall: u64| Some(ns? as f64 / wall.max(1) as f64 * 100.0);
    row(grid, columns, "server CPU, % of one", whole, |f| {
        let server = f.phase?.server?;
        cpu(Some(server.user_ns + server.system_ns), f.load.wall_ns)
    });
    row(grid, columns, "client CPU, % of one", whole, |f| {
        let client = f.phase?.client?;
        cpu(Some(client.user_ns + client.system_ns), f.load.wall_ns)
    });
    row(grid, columns, "rest of the machine, % of one", whole, |f| {
        let total = |c: crate::record::CpuRecord| c.user_ns + c.system_ns;
        let own = f.phase?.server.map_or(0, total) + f.phase?.client.map_or(0, total);
        cpu(
            f.load.machine.map(|m| total(m).saturating_sub(own)),
            f.load.wall_ns,
        )
    });
    row(grid, columns, "client CPU, µs a transaction", ms, |f| {
        let client = f.phase?.client?;
        let ns = (client.user_ns + client.system_ns) as f64;
        Some(ns / 1e3 / f.load.committed.max(1) as f64)
    });
    row(grid, columns, "server memory before, MiB", tenths, |f| {
        Some(f.load.server_memory_before_bytes? as f64 / MIB)
    });
    row(grid, columns, "server memory at end, MiB", tenths, |f| {
        Some(f.phase?.server_memory_bytes? as f64 / MIB)
    });
    row(grid, columns, "client memory, MiB", tenths, |f| {
        Some(f.load.client_memory_bytes? as f64 / MIB)
    });
    row(grid, columns, "device KiB a commit", tenths, |f| {
        let device = f.phase?.ends?.returned.device?;
        Some(device.written_bytes as f64 / 1024.0 / f.load.committed.max(1) as f64)
    });
    row(grid, columns, "flushes a commit", hundredths, |f| {
        let device = f.phase?.ends?.returned.device?;
        Some(device.flushes as f64 / f.load.committed.max(1) as f64)
    });
    row(grid, columns, "dirty at returned, MiB", tenths, |f| {
        Some(f.phase?.ends?.dirty_bytes? as f64 / MIB)
    });
}

/// What the server did on its own behalf.
fn activity_rows(grid: &mut Grid, columns: &[Column<'_>]) {
    let counters: [(&str, &str, f64, Show); 8] = [
        ("WAL, MiB", "wal_bytes", MIB, tenths),
        ("full-page images", "wal_fpi", 1.0, whole),
        ("log files created", "log_files_created", 1.0, whole),
        ("log files recycled", "log_files_recycled", 1.0, whole),
        ("autovacuums", "autovacuum_count", 1.0, whole),
        ("InnoDB log, MiB", "innodb_os_log_written", MIB, tenths),
        ("InnoDB log syncs", "innodb_os_log_fsyncs", 1.0, whole),
        ("InnoDB pages written", "innodb_pages_written", 1.0, whole),
    ];
    for (name, counter, unit, show) in counters {
        row(grid, columns, name, show, |f| {
            Some(f.load.activity.get(counter)? / unit)
        });
    }
    row(grid, columns, "WAL checkpoints", whole, |f| {
        Some(f.load.wal_checkpoints.as_ref()?.len() as f64)
    });
}

/// Mean latency of each statement, where it was taken.
fn statement_rows(grid: &mut Grid, columns: &[Column<'_>]) {
    const LONGEST: usize = 50;
    let mut texts: BTreeMap<&str, ()> = BTreeMap::new();
    let mut order = Vec::new();
    for (text, _) in figures(columns).flat_map(|f| &f.load.statement_latency) {
        if texts.insert(text, ()).is_none() {
            order.push(text.as_str());
        }
    }
    for text in order {
        let short: String = text.chars().take(LONGEST).collect();
        row(grid, columns, &format!("mean ms: {short}"), ms, |f| {
            let all = f.load.statement_latency.iter();
            let own = all.filter(|(t, _)| t == text).map(|(_, l)| l);
            let (sum, count) = own.fold((0.0, 0), |(sum, count), l| {
                (sum + l.mean_ns as f64 * l.count as f64, count + l.count)
            });
            (count > 0).then(|| sum / count as f64 / 1e6)
        });
    }
}

/// The figures of one case in one round.
#[derive(Clone, Copy)]
struct Figures<'r> {
    load: &'r LoadRecord,
    phase: Option<&'r PhaseRecord>,
}

fn measured<'r>(case: &'r CaseRecord) -> Option<Figures<'r>> {
    let load = case
        .load
        .as_ref()
        .filter(|_| case.outcome == Outcome::Measured)?;
    Some(Figures {
        load,
        phase: case.phases.first(),
    })
}

fn figures<'r>(columns: &'r [Column<'r>]) -> impl Iterator<Item = Figures<'r>> {
    columns
        .iter()
        .flat_map(|c| &c.cases)
        .filter_map(|c| measured(c))
}

fn ends(figures: Figures<'_>, pick: fn(&EndsRecord) -> Option<EndRecord>) -> Option<f64> {
    Some(pick(&figures.phase?.ends?)?.wall_ns as f64 / 1e9)
}

/// A row of medians over the rounds; none where no case has the figure.
fn row(
    grid: &mut Grid,
    columns: &[Column<'_>],
    name: &str,
    show: Show,
    pick: impl Fn(Figures<'_>) -> Option<f64>,
) {
    let values: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let figures = column.cases.iter().filter_map(|c| measured(c));
            figures.filter_map(&pick).collect()
        })
        .collect();
    let first = grid.width() == 0;
    if values.iter().all(Vec::is_empty) && !first && name != "whole load" {
        return;
    }
    let cells = columns
        .iter()
        .zip(values)
        .map(|(column, values)| median(&values).map_or_else(|| absent(column).to_string(), show));
    grid.row(std::iter::once(name.to_string()).chain(cells).collect());
}

fn absent(column: &Column<'_>) -> &'static str {
    match column.cases.first().map(|c| &c.outcome) {
        None => "·",
        Some(Outcome::Measured) => "–",
        Some(Outcome::Failed { .. }) => "failed",
        Some(Outcome::Skipped { .. }) => "skipped",
        Some(Outcome::Interrupted { .. }) => "interrupted",
    }
}

fn rate(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

fn ms(value: f64) -> String {
    format!("{value:.3}")
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}
