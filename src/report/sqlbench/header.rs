//! The head of a RUN file.

use std::collections::BTreeMap;

use super::figures::{Phase, date};
use super::quirks;
use super::sets::{CaseSet, kind};
use crate::record::{CaseRecord, HostRecord, Results, RunRecord};
use crate::units::Bytes;

/// What stands above the phases.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub date: String,
    pub machine: String,
    pub arguments: String,
    pub comments: String,
    pub limits: String,
    pub server: String,
    pub optimization: String,
    pub hardware: String,
    /// From a file of the suite: times are printed as they stood there.
    pub imported: bool,
}

impl Header {
    pub fn of(results: &Results, set: &CaseSet<'_>, phases: &[Phase], compat: bool) -> Header {
        let run = &results.run;
        let rounds = set.cases().map(|c| c.round + 1).max().unwrap_or(1);
        let mut comments = Vec::new();
        if rounds > 1 {
            comments.push(format!("medians of {rounds} rounds"));
        }
        if !compat && !set.is_summary() && phases.iter().any(|p| quirks::sums_more(&p.name)) {
            comments.push(
                "insert of alter-table, select_in, select_join_in and drop table are in the \
                 totals, which the original leaves out (see --compat)"
                    .to_string(),
            );
        }
        match original(run, set) {
            Some(header) => Header::imported(&header, comments),
            None => Header::measured(run, set, phases, compat, comments),
        }
    }

    /// As the file said that it was imported from.
    fn imported(header: &BTreeMap<String, String>, mut comments: Vec<String>) -> Header {
        let text = |name: &str| header.get(name).cloned().unwrap_or_default();
        let own = text("Comments");
        // An export of ours says so already.
        if !own.is_empty() {
            comments.retain(|c| !own.contains(c.as_str()));
            comments.insert(0, own);
        }
        Header {
            date: text("Date of test"),
            machine: text("Running tests on"),
            arguments: text("Arguments"),
            comments: comments.join("; "),
            limits: text("Limits from"),
            server: text("Server version"),
            optimization: text("Optimization"),
            hardware: text("Hardware"),
            imported: true,
        }
    }

    fn measured(
        run: &RunRecord,
        set: &CaseSet<'_>,
        phases: &[Phase],
        compat: bool,
        mut comments: Vec<String>,
    ) -> Header {
        comments.splice(0..0, run.label.clone());
        if compat && run.plan.fast && phases.iter().any(|p| p.name == "wisconsin") {
            comments.push(
                "delete_big is timed alone, in the original together with the vacuum before it"
                    .to_string(),
            );
        }
        let device = |c: &CaseRecord| c.target.as_ref()?.device.as_ref().map(|d| d.in_memory);
        if set.cases().filter_map(device).any(|in_memory| in_memory) {
            comments.push("on an image in memory".to_string());
        }
        Header {
            date: date(&run.started),
            machine: format!("Linux {} {}", run.host.kernel, run.host.architecture),
            arguments: arguments(run, set),
            comments: comments.join("; "),
            limits: String::new(),
            server: server(set),
            optimization: "None".to_string(),
            hardware: hardware(&run.host),
            imported: false,
        }
    }
}

/// The head of the files that a set was imported from: a RUN file's if there is one.
fn original(run: &RunRecord, set: &CaseSet<'_>) -> Option<BTreeMap<String, String>> {
    let own = |i: &&crate::record::ImportedRecord| {
        i.target == set.key.target && i.engine == set.key.engine && i.round == 0
    };
    let mut files: Vec<_> = run.imported.iter().filter(own).collect();
    files.sort_by_key(|i| !i.file.starts_with("RUN"));
    files.first().map(|i| i.header.clone())
}

/// The options that make a difference; compare-results shows them beside the server.
fn arguments(run: &RunRecord, set: &CaseSet<'_>) -> String {
    let plan = &run.plan;
    let mut words = vec![format!("--on={}", set.key.target)];
    match plan.profile.as_str() {
        "original" => {}
        // The suite's own option.
        "small-test" => words.push("--small-test".to_string()),
        other => words.push(format!("--profile={other}")),
    }
    if plan.loops != 1.0 {
        words.push(format!("--loops={}", plan.loops));
    }
    if plan.fast {
        words.push("--fast".to_string());
    }
    for (name, loops) in [
        ("read-key-loops", plan.read_key_loops),
        ("many-keys-loops", plan.many_keys_loops),
    ] {
        words.extend(loops.map(|n| format!("--{name}={n}")));
    }
    if plan.time_limit_s != 600.0 {
        words.push(format!("--time-limit={}", plan.time_limit_s));
    }
    let memory = set.key.memory_bytes;
    words.extend(memory.map(|b| format!("--memory={}", Bytes(b))));
    let settings = set.key.settings.iter();
    words.extend(settings.map(|(name, value)| format!("--set={name}={value}")));
    words.join(" ")
}

/// Name and version as the suite asks its servers for them.
fn server(set: &CaseSet<'_>) -> String {
    let engine = set.cases().find_map(|c| c.engine.as_ref());
    let Some(engine) = engine else {
        return set.key.engine.clone();
    };
    // MySQL and MariaDB tell more in their variable than we keep as the version.
    let full = engine.settings.get("version").unwrap_or(&engine.version);
    match kind(&set.key.engine) {
        "mysql" | "mariadb" => format!("MySQL {}", full.replace('-', " ")),
        "postgres" => format!("PostgreSQL {}", engine.version),
        "sqlite" => format!("SQLite {}", engine.version),
        _ => format!("{} {}", engine.kind, engine.version),
    }
}

fn hardware(host: &HostRecord) -> String {
    format!(
        "{} x {}{}, {} of memory",
        host.cpus,
        host.cpu,
        if host.virtual_machine {
            " (virtual)"
        } else {
            ""
        },
        Bytes(host.memory_bytes).human()
    )
}
