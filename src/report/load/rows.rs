//! The rows of the table of loads.

use std::collections::BTreeMap;

use super::Column;
use super::figures::{ends, figures, hundredths, ms, rate, row, tenths, whole};
use crate::compare::duet;
use crate::measure::stats::Steadiness;
use crate::record::{LatencyRecord, LatencySummaryRecord, LoadPlanRecord, LoadRecord};
use crate::report::grid::Grid;
use crate::units::seconds;

const MIB: f64 = (1u64 << 20) as f64;

type Show = fn(f64) -> String;

/// Every row of the table.
pub(super) fn rows(grid: &mut Grid, columns: &[Column<'_>], plan: &LoadPlanRecord) {
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
    // A note on stability, never a ground for a verdict: intervals come from rounds.
    if figures(columns).any(|f| wobble(f.load).is_some()) {
        row(grid, columns, "  wobble inside a run, ± %", tenths, |f| {
            wobble(f.load)
        });
    }
    let name = if plan.rate.is_some() {
        "latency from schedule"
    } else {
        "latency"
    };
    latency_rows(grid, columns, name, |l| {
        Some(&l.latency).filter(|latency| !latency.is_absent())
    });
    summary_rows(grid, columns, name);
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
    duet_rows(grid, columns);
    resource_rows(grid, columns);
    activity_rows(grid, columns);
}

/// Standard error of the transactions a second inside one run, corrected for their
/// autocorrelation, in % of their mean; `None` below eight seconds.
fn wobble(load: &LoadRecord) -> Option<f64> {
    let series: Vec<f64> = load
        .progress
        .windows(2)
        .filter(|w| w[1].0 - w[0].0 > 500_000_000)
        .map(|w| (w[1].1 - w[0].1) as f64 * 1e9 / (w[1].0 - w[0].0) as f64)
        .collect();
    let steadiness = Steadiness::of(&series)?;
    (steadiness.mean > 0.0).then(|| 100.0 * steadiness.standard_error / steadiness.mean)
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

/// What the turns of a duet did to it.
fn duet_rows(grid: &mut Grid, columns: &[Column<'_>]) {
    row(
        grid,
        columns,
        "ends of slices, % of own time",
        tenths,
        |f| Some(100.0 * duet::draining(f.load)?),
    );
    row(
        grid,
        columns,
        "done while the other played, %",
        tenths,
        |f| {
            let phase = f.phase.filter(|p| p.duet.is_some())?;
            Some(100.0 * duet::cross_talk(phase))
        },
    );
}

/// What was imported of the latency where single ones were not known.
fn summary_rows(grid: &mut Grid, columns: &[Column<'_>], name: &str) {
    type Part = (&'static str, fn(LatencySummaryRecord) -> Option<u64>);
    let parts: [Part; 4] = [
        ("mean", |s| Some(s.mean_ns)),
        ("standard deviation", |s| s.stddev_ns),
        ("fastest", |s| Some(s.range_ns?.0)),
        ("slowest", |s| Some(s.range_ns?.1)),
    ];
    for (part, value) in parts {
        let name = format!("{name} {part}, ms (summed)");
        row(grid, columns, &name, ms, |f| {
            Some(value(f.load.latency_summary?)? as f64 / 1e6)
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
pub(super) fn statement_rows(grid: &mut Grid, columns: &[Column<'_>]) {
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
                // Imported means have no counts.
                let weight = l.count.max(1);
                (sum + l.mean_ns as f64 * weight as f64, count + weight)
            });
            (count > 0).then(|| sum / count as f64 / 1e6)
        });
    }
}
