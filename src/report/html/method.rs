//! How it was measured, where, and with what settings.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::run::Run;
use super::table::facts;
use crate::record::{
    CaseRecord, DeviceRecord, DurabilityRecord, EngineRecord, Outcome, PlanRecord, RunRecord,
    TargetRecord,
};
use crate::units::Bytes;

/// What was done, in words.
pub(super) fn method(run: &Run<'_>) -> Markup {
    let record = &run.results.run;
    let duets = run.results.cases.iter().any(|c| c.duet.is_some());
    if !record.imported.is_empty() {
        return html! {
            p { "The figures were imported from files that another program had printed; mountmark measured none of them. What a file does not tell is absent here." }
        };
    }
    html! {
        p { "Every case runs once in each round, in an order that is shuffled anew for each round. A made file system is made and mounted afresh for every case, its server's data directory is restored from one copy, and nothing is dirty when the work begins. Returned data are checked; a wrong count fails the case." }
        @if duets {
            p { "Cases were measured in duets: a case and its baseline side by side, taking turns in slices of a few milliseconds, so that slow moments of the machine hit both alike. The seconds are each one's own slices." }
        }
        p { "The ratio is the geometric mean over the rounds of new by baseline, each round paired with itself; the interval is Student's, made wider for the number of comparisons, so that all of them hold together. Faster and slower: the interval leaves out 1 and the ratio is beyond the threshold. No difference that matters: the whole interval is inside the threshold. Otherwise undecided, with the rounds that would decide. What happens inside one round never makes an interval narrower." }
        p { "Figures of a case that is marked as not durable are never ranked beside others without the mark; those of a device in memory are not ranked at all. No case is called durable beyond the last device that can be seen. Rounds in which others disturbed the machine are marked, kept, and count." }
    }
}

/// Host, run, targets, engines and their settings.
pub(super) fn settings(run: &Run<'_>) -> Markup {
    let record = &run.results.run;
    html! {
        @if record.imported.is_empty() {
            h3 { "Host" }
            (facts("the machine", &host(record), run.budget))
        }
        h3 { "Run" }
        (facts("the run and its plan", &plan(record), run.budget))
        (targets(run))
        (engines(run))
    }
}

fn pairs<const N: usize>(pairs: [(&str, String); N]) -> Vec<(String, String)> {
    pairs
        .map(|(name, value)| (name.to_string(), value))
        .to_vec()
}

fn yes(value: bool) -> String {
    if value { "yes" } else { "no" }.to_string()
}

fn host(run: &RunRecord) -> Vec<(String, String)> {
    let host = &run.host;
    pairs([
        ("system", host.system.clone()),
        ("kernel", format!("{} ({})", host.kernel, host.kernel_build)),
        ("architecture", host.architecture.clone()),
        ("CPU", format!("{} × {}", host.cpus, host.cpu)),
        ("virtual machine", yes(host.virtual_machine)),
        ("memory", Bytes(host.memory_bytes).human()),
        ("swap", Bytes(host.swap_bytes).human()),
        (
            "frequency governor",
            host.governor.clone().unwrap_or_default(),
        ),
        ("clock source", host.clocksource.clone()),
        ("boot", host.boot_id.clone()),
    ])
}

fn plan(run: &RunRecord) -> Vec<(String, String)> {
    let plan: &PlanRecord = &run.plan;
    let or_empty = |value: Option<String>| value.unwrap_or_default();
    let mut rows = pairs([
        ("run", run.id.clone()),
        ("label", or_empty(run.label.clone())),
        ("mountmark", run.mountmark.clone()),
        ("started, UTC", run.started.clone()),
        ("ended, UTC", or_empty(run.ended.clone())),
        ("arguments", run.arguments.join(" ")),
        (
            "cases",
            plan.cases
                .iter()
                .filter(|k| k.replicate == 0)
                .count()
                .to_string(),
        ),
        ("rounds", plan.rounds.to_string()),
        ("seed", plan.seed.to_string()),
        ("profile", plan.profile.clone()),
        ("factor on loop counts", plan.loops.to_string()),
        ("--fast", yes(plan.fast)),
        (
            "time limit of an operation, s",
            plan.time_limit_s.to_string(),
        ),
        (
            "threshold",
            format!("{} %", (plan.threshold * 1e4).round() / 1e2),
        ),
        ("baseline asked for", or_empty(plan.baseline.clone())),
        (
            "rows of key look-ups",
            or_empty(plan.read_key_loops.map(|n| n.to_string())),
        ),
        (
            "rows with many keys",
            or_empty(plan.many_keys_loops.map(|n| n.to_string())),
        ),
        ("tables of ATIS", or_empty(plan.atis_data.clone())),
        (
            "a statement costs the harness, ns",
            or_empty(
                run.ceiling
                    .as_ref()
                    .map(|c| format!("{:.0}", c.ns_per_statement)),
            ),
        ),
    ]);
    if let Some(load) = &plan.load {
        let scripts = load
            .scripts
            .iter()
            .map(|(name, weight)| format!("{name}@{weight}"));
        rows.extend(pairs([
            ("load: scripts", scripts.collect::<Vec<_>>().join(" ")),
            ("load: mode", load.mode.clone()),
            ("load: rows preloaded", load.preload.to_string()),
            ("load: scale", load.scale.to_string()),
            ("load: threads asked for", load.threads.to_string()),
            (
                "load: transactions a client",
                or_empty(load.transactions.map(|n| n.to_string())),
            ),
            (
                "load: transactions",
                or_empty(load.tuples.map(|n| n.to_string())),
            ),
            (
                "load: seconds",
                or_empty(load.seconds.map(|n| n.to_string())),
            ),
            ("load: warm-up, s", load.warmup_s.to_string()),
            (
                "load: scheduled transactions/s",
                or_empty(load.rate.map(|n| n.to_string())),
            ),
            (
                "load: latency limit, ms",
                or_empty(load.limit_ms.map(|n| n.to_string())),
            ),
            ("load: a connection a transaction", yes(load.reconnect)),
            ("load: tries of a transaction", load.max_tries.to_string()),
            (
                "load: variables",
                load.define
                    .iter()
                    .map(|(n, v)| format!("{n}={v}"))
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        ]));
    }
    rows.extend(run.image.iter().flat_map(device));
    rows
}

fn device(device: &DeviceRecord) -> Vec<(String, String)> {
    pairs([
        ("image: file", device.image.clone().unwrap_or_default()),
        ("image: held by", device.holder.clone().unwrap_or_default()),
        ("image: size", Bytes(device.size_bytes).human()),
        ("image: direct I/O", yes(device.direct_io)),
        ("image: in memory", yes(device.in_memory)),
    ])
}

/// Of each target what its first measured case says.
fn targets(run: &Run<'_>) -> Markup {
    let mut rows: Vec<(&str, &TargetRecord, String)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for case in run
        .results
        .cases
        .iter()
        .filter(|c| c.outcome == Outcome::Measured)
    {
        let Some(target) = &case.target else { continue };
        let durability = durability(case);
        if seen.insert((case.case.target.as_str(), durability.clone())) {
            rows.push((&case.case.target, target, durability));
        }
    }
    if rows.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Targets" }
        @for (label, target, durability) in rows {
            (facts(label, &of_target(target, &durability), run.budget))
        }
    }
}

fn durability(case: &CaseRecord) -> String {
    match &case.durability {
        None => String::new(),
        Some(DurabilityRecord::HonouredTo(device)) => format!("flushes reach {device}"),
        Some(DurabilityRecord::NotDurable(reason)) => format!("not durable: {reason}"),
        Some(DurabilityRecord::Unknown(reason)) => format!("unknown: {reason}"),
    }
}

fn of_target(target: &TargetRecord, durability: &str) -> Vec<(String, String)> {
    let mut rows = pairs([
        ("file system", target.filesystem.clone()),
        ("durability", durability.to_string()),
        ("made by", target.mkfs.clone().unwrap_or_default()),
        ("options asked for", target.options_asked.join(",")),
        ("options in effect", target.options_effective.join(",")),
        ("what is mounted", target.source.clone()),
        ("mounted afresh", yes(target.cold)),
    ]);
    if let Some(device) = &target.device {
        rows.extend(pairs([
            ("device", device.device.clone()),
            ("size", Bytes(device.size_bytes).human()),
            (
                "logical block, bytes",
                device.logical_block_bytes.to_string(),
            ),
            ("write cache", device.write_cache.clone()),
            ("in memory", yes(device.in_memory)),
        ]));
    }
    rows
}

/// Each engine build with the settings that were in effect; a setting that was not the same
/// in all cases has all its values.
fn engines(run: &Run<'_>) -> Markup {
    let mut builds: BTreeMap<(&str, &str), Vec<&EngineRecord>> = BTreeMap::new();
    let measured = run
        .results
        .cases
        .iter()
        .filter(|c| c.outcome == Outcome::Measured);
    for engine in measured.filter_map(|c| c.engine.as_ref()) {
        let known = builds.entry((&engine.kind, &engine.version)).or_default();
        if !known.contains(&engine) {
            known.push(engine);
        }
    }
    html! {
        @for ((kind, version), records) in &builds {
            @let rows = settings_of(records);
            h3 { (kind) " " (version) }
            (facts("settings in effect", &rows, run.budget))
        }
    }
}

fn settings_of(records: &[&EngineRecord]) -> Vec<(String, String)> {
    let binary = records.iter().find_map(|r| r.binary.clone());
    let server = records.iter().any(|r| r.has_server);
    let mut rows = pairs([
        ("binary", binary.unwrap_or_else(|| "built in".to_string())),
        ("a server process apart from the client", yes(server)),
    ]);
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in records.iter().flat_map(|r| &r.settings) {
        let known = values.entry(name).or_default();
        if !known.contains(&value.as_str()) {
            known.push(value);
        }
    }
    rows.extend(
        values
            .into_iter()
            .map(|(name, values)| (name.to_string(), values.join(" or "))),
    );
    rows
}
