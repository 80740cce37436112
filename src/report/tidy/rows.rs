//! The rows of a run.

use serde_json::Value;

use super::Row;
use crate::record::{
    CaseRecord, Completeness, CpuRecord, DeviceCountsRecord, DurabilityRecord, EndRecord,
    KeyRecord, LatencyRecord, LoadRecord, OperationRecord, Outcome, PhaseRecord, Results,
};

/// One row for each phase, operation, load and checkpoint of each case in each round, and
/// one for each case without figures.
pub(super) fn rows(results: &Results) -> Vec<Row> {
    results
        .cases
        .iter()
        .flat_map(|case| of_case(results, case))
        .collect()
}

fn of_case(results: &Results, case: &CaseRecord) -> Vec<Row> {
    let head = head(results, case);
    let begin = |kind: &str| {
        let mut row = Row::like(&head);
        row.set("kind", Some(kind));
        row
    };
    let mut rows = Vec::new();
    for phase in &case.phases {
        let mut row = begin("phase");
        of_phase(&mut row, phase);
        rows.push(row);
        for operation in &phase.operations {
            let mut row = begin("operation");
            row.set("phase", Some(phase.name.as_str()));
            of_operation(&mut row, operation);
            rows.push(row);
        }
    }
    if let Some(load) = &case.load {
        let mut row = begin("load");
        of_load(&mut row, load, case.phases.first());
        rows.push(row);
        for checkpoint in &load.checkpoints {
            let mut row = begin("checkpoint");
            row.set("committed", Some(checkpoint.transactions));
            row.set("wall_s", Some(seconds(checkpoint.elapsed_ns)));
            row.set("transactions_per_s", Some(checkpoint.tps()));
            rows.push(row);
        }
        for (statement, latency) in &load.statement_latency {
            let mut row = begin("statement");
            row.set("operation", Some(statement.as_str()));
            of_latency(&mut row, Some(latency));
            rows.push(row);
        }
    }
    if rows.is_empty() {
        rows.push(begin("case"));
    }
    rows
}

/// What all rows of a case have in common.
fn head(results: &Results, case: &CaseRecord) -> Row {
    let key = &case.case;
    let mut row = Row(Vec::new());
    row.set("run", Some(results.run.id.as_str()));
    row.set("label", results.run.label.as_deref());
    row.set("started", Some(case.started.as_str()));
    row.set("target", Some(key.target.as_str()));
    let target = case.target.as_ref();
    row.set("filesystem", target.map(|t| t.filesystem.as_str()));
    row.set("engine", Some(key.engine.as_str()));
    row.set("settings", Some(settings(key)));
    row.set("memory_bytes", key.memory_bytes);
    row.set("cpus", Some(key.cpus.as_str()));
    row.set("workload", Some(key.workload.as_str()));
    row.set("clients", key.load.map(|l| l.clients));
    row.set("databases", key.load.map(|l| l.databases));
    row.set("replicate", Some(key.replicate));
    row.set("round", Some(case.round));
    let partner = case.duet.as_ref().map(|duet| &duet.partner);
    row.set("duet_partner", partner.map(|key| key.target.as_str()));
    let (outcome, reason) = outcome(&case.outcome);
    row.set("outcome", Some(outcome));
    row.set("reason", reason);
    row.set(
        "durability",
        case.durability.as_ref().map(|durability| match durability {
            DurabilityRecord::HonouredTo(_) => "honoured",
            DurabilityRecord::NotDurable(_) => "not durable",
            DurabilityRecord::Unknown(_) => "unknown",
        }),
    );
    let disturbed = (!case.disturbed.is_empty()).then(|| case.disturbed.join("; "));
    row.set("disturbed", disturbed);
    row.set("cold", target.map(|t| t.cold));
    row
}

/// As they were asked for: `synchronous=full; wal_sync_method=fsync`.
fn settings(key: &KeyRecord) -> String {
    let pairs = key
        .settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("; ")
}

fn outcome(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Measured => ("measured", None),
        Outcome::Failed { stage, causes, .. } => {
            ("failed", Some(format!("in {stage}: {}", causes.join(": "))))
        }
        Outcome::Skipped { reason, .. } => ("skipped", Some(reason.clone())),
        Outcome::Interrupted { stage } => ("interrupted", Some(format!("in {stage}"))),
    }
}

fn of_phase(row: &mut Row, phase: &PhaseRecord) {
    row.set("phase", Some(phase.name.as_str()));
    row.set("completeness", Some(completeness(phase.completeness)));
    of_ends(row, phase);
    of_cpu(row, phase.client, phase.server);
    if let Some(machine) = &phase.machine {
        let others = machine.others;
        let others = seconds(others.user_ns + others.system_ns);
        row.set("others_cpu_s", Some(others));
        row.set("steal_s", Some(seconds(machine.steal_ns)));
    }
    row.set("server_memory_bytes", phase.server_memory_bytes);
}

fn of_ends(row: &mut Row, phase: &PhaseRecord) {
    let Some(ends) = &phase.ends else { return };
    let wall = |end: EndRecord| seconds(end.wall_ns);
    row.set("wall_s", Some(wall(ends.returned)));
    row.set("flushed_wall_s", ends.flushed.map(wall));
    row.set("settled_wall_s", ends.settled.map(wall));
    row.set("dirty_bytes", ends.dirty_bytes);
    of_device(row, ends.returned.device);
    let flushed = ends.flushed.and_then(|end| end.device);
    row.set("flushed_written_bytes", flushed.map(|d| d.written_bytes));
    row.set("flushed_flushes", flushed.map(|d| d.flushes));
    let settled = ends.settled.and_then(|end| end.device);
    row.set("settled_written_bytes", settled.map(|d| d.written_bytes));
    row.set("settled_flushes", settled.map(|d| d.flushes));
}

fn of_operation(row: &mut Row, operation: &OperationRecord) {
    row.set("operation", Some(operation.name.as_str()));
    row.set("completeness", Some(completeness(operation.completeness)));
    row.set("reason", operation.refused.as_deref());
    row.set("count", Some(operation.count));
    row.set("planned", Some(operation.planned));
    row.set("rows", operation.rows);
    row.set("statements", operation.statements);
    row.set("rows_received", operation.rows_received);
    row.set("bytes", operation.bytes);
    row.set("wall_s", Some(seconds(operation.wall_ns)));
    of_cpu(row, Some(operation.client), operation.server);
    of_device(row, operation.device);
    of_latency(row, operation.latency.as_ref());
}

fn of_load(row: &mut Row, load: &LoadRecord, phase: Option<&PhaseRecord>) {
    if let Some(phase) = phase {
        of_phase(row, phase);
    }
    // The measured period itself stands above the phase around it.
    row.0.retain(|(column, _)| *column != "wall_s");
    row.set("wall_s", Some(seconds(load.wall_ns)));
    row.set("statements", Some(load.statements));
    row.set("client_memory_bytes", load.client_memory_bytes);
    let latency = Some(&load.latency).filter(|latency| !latency.is_absent());
    of_latency(row, latency);
    if let Some(summary) = load.latency_summary {
        row.set("latency_mean_s", Some(seconds(summary.mean_ns)));
    }
    row.set("transactions_per_s", Some(load.tps()));
    row.set("attempted", Some(load.attempted));
    row.set("committed", Some(load.committed));
    row.set("failed", Some(load.failed));
    row.set("skipped", Some(load.skipped));
    row.set("late", Some(load.late));
    row.set("retried", Some(load.retried));
    row.set("retries", Some(load.retries));
    row.set("round_trips", Some(load.round_trips));
    row.set("ceiling_transactions_per_s", load.ceiling_tps);
}

fn of_cpu(row: &mut Row, client: Option<CpuRecord>, server: Option<CpuRecord>) {
    row.set("client_user_s", client.map(|c| seconds(c.user_ns)));
    row.set("client_system_s", client.map(|c| seconds(c.system_ns)));
    row.set("server_user_s", server.map(|c| seconds(c.user_ns)));
    row.set("server_system_s", server.map(|c| seconds(c.system_ns)));
}

fn of_device(row: &mut Row, device: Option<DeviceCountsRecord>) {
    row.set("read_bytes", device.map(|d| d.read_bytes));
    row.set("written_bytes", device.map(|d| d.written_bytes));
    row.set("flushes", device.map(|d| d.flushes));
}

fn of_latency(row: &mut Row, latency: Option<&LatencyRecord>) {
    let Some(latency) = latency else { return };
    row.set("latency_count", Some(latency.count));
    for (column, ns) in [
        ("latency_mean_s", latency.mean_ns),
        ("latency_p50_s", latency.p50_ns),
        ("latency_p90_s", latency.p90_ns),
        ("latency_p99_s", latency.p99_ns),
        ("latency_p999_s", latency.p999_ns),
        ("latency_max_s", latency.max_ns),
    ] {
        row.set(column, Some(seconds(ns)));
    }
}

fn completeness(completeness: Completeness) -> &'static str {
    match completeness {
        Completeness::Complete => "complete",
        Completeness::TimeLimited => "time limited",
        Completeness::Interrupted => "interrupted",
    }
}

fn seconds(ns: u64) -> Value {
    Value::from(ns as f64 / 1e9)
}
