//! From files to a run: which belong together, and their cases.

use std::collections::BTreeMap;
use std::path::Path;

pub(super) use super::cases::{blank_phase, returned};
use super::cases::{distribute, mark_whole_seconds, of_end, of_phase};
use super::phase_file::PhaseFile;
use super::run_file::RunFile;
use super::{Content, Fault, Options, Source, names, pgbench, phases, server};
use crate::host::now_utc;
use crate::record::*;
use crate::workload::sqlbench::PHASES;

/// The files of one run of the suite.
struct Group<'s> {
    run: Option<(&'s Path, &'s RunFile)>,
    phases: Vec<(&'s Path, &'s PhaseFile)>,
    tag: &'s str,
}

pub(super) fn run(
    sources: &[Source],
    of_pgbench: &[pgbench::File],
    faults: &[Fault],
    options: &Options,
) -> (RunRecord, Vec<CaseRecord>) {
    let mut cases = Vec::new();
    let mut imported: Vec<ImportedRecord> = Vec::new();
    let groups = groups(sources);
    for group in &groups {
        let found = Circumstances::of(group, options, &imported);
        imported.extend(group.files(&found));
        cases.extend(group.cases(&found));
    }
    let mut remarks: Vec<String> = groups.iter().filter_map(Group::remark).collect();
    let loads = pgbench::found(of_pgbench, options);
    imported.extend(loads.imported);
    cases.extend(loads.cases);
    remarks.extend(loads.remarks);
    remarks.extend(not_imported(faults));
    let mut run = blank(&cases, imported, options);
    run.remarks = remarks;
    run.plan.load = loads.plan;
    (run, cases)
}

/// What could not be read, as remarks of the run.
pub(super) fn not_imported(faults: &[Fault]) -> Vec<String> {
    let remark = |fault: &Fault| {
        let line = fault.line.map_or(String::new(), |n| format!("{n}:"));
        let file = names::file_name(&fault.file);
        format!("not imported: {file}:{line} {}", fault.reason)
    };
    faults.iter().map(remark).collect()
}

/// The run of `cases`, as far as they and the files tell of it.
pub(super) fn blank(
    cases: &[CaseRecord],
    imported: Vec<ImportedRecord>,
    options: &Options,
) -> RunRecord {
    let mut keys: Vec<KeyRecord> = Vec::new();
    for case in cases {
        if !keys.contains(&case.case) {
            keys.push(case.case.clone());
        }
    }
    let rounds = cases.iter().map(|c| c.round + 1).max().unwrap_or(1);
    RunRecord {
        format: FORMAT,
        id: options.id.clone(),
        label: options.label.clone(),
        mountmark: env!("CARGO_PKG_VERSION").to_string(),
        started: now_utc(),
        ended: Some(now_utc()),
        ending: Some(Ending::Complete),
        arguments: std::env::args().skip(1).collect(),
        plan: plan(keys, rounds, &imported),
        host: host(&imported),
        image: None,
        ceiling: None,
        remarks: Vec::new(),
        imported,
        published: None,
    }
}

/// A measured case of which nothing more is known than its key.
pub(super) fn blank_case(key: KeyRecord) -> CaseRecord {
    CaseRecord {
        format: FORMAT,
        case: key,
        round: 0,
        started: String::new(),
        outcome: Outcome::Measured,
        target: None,
        engine: None,
        stages: Vec::new(),
        phases: Vec::new(),
        load: None,
        durability: None,
        memory: None,
        disturbed: Vec::new(),
        remarks: Vec::new(),
        duet: None,
    }
}

/// Sources of one directory and tag, in the order they were named.
fn groups(sources: &[Source]) -> Vec<Group<'_>> {
    let mut groups: Vec<(Option<&Path>, Group<'_>)> = Vec::new();
    for source in sources {
        let dir = source.path.parent();
        let at = groups
            .iter()
            .position(|(d, group)| *d == dir && group.tag == source.tag && group.takes(source));
        let at = at.unwrap_or_else(|| {
            let group = Group {
                run: None,
                phases: Vec::new(),
                tag: &source.tag,
            };
            groups.push((dir, group));
            groups.len() - 1
        });
        let group = &mut groups[at].1;
        match &source.content {
            Content::Run(file) => group.run = Some((&source.path, file)),
            Content::Phase(file) => group.phases.push((&source.path, file)),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What all cases of a group share.
pub(super) struct Circumstances {
    target: String,
    engine: EngineRecord,
    round: u32,
    date: String,
}

impl Circumstances {
    fn of(group: &Group<'_>, options: &Options, earlier: &[ImportedRecord]) -> Self {
        let header = |name: &str| group.run.and_then(|(_, run)| run.header.get(name).cloned());
        let of_phases = |pick: fn(&PhaseFile) -> &Option<String>| {
            group.phases.iter().find_map(|(_, p)| pick(p).clone())
        };
        let server = header("Server version").or_else(|| of_phases(|p| &p.server));
        let engine = server::engine(&server.unwrap_or_default());
        // Our own RUN files name the target as it is; a tag has lost some characters.
        let arguments = header("Arguments").unwrap_or_default();
        let own = arguments.split(" --").find_map(|a| {
            let on = a.trim_start_matches("--").strip_prefix("on=")?;
            Some(on.to_string())
        });
        let target = options.on.clone().or(own);
        let target = target.unwrap_or_else(|| names::target(group.tag));
        let label = server::label(&engine);
        let same = |i: &&ImportedRecord| i.target == target && i.engine == label;
        let last = earlier.iter().filter(same).map(|i| i.round + 1).max();
        Circumstances {
            round: last.unwrap_or(0),
            date: header("Date of test")
                .or_else(|| of_phases(|p| &p.date))
                .unwrap_or_default(),
            target,
            engine,
        }
    }

    fn key(&self, workload: &str) -> KeyRecord {
        KeyRecord {
            target: self.target.clone(),
            engine: server::label(&self.engine),
            settings: BTreeMap::new(),
            memory_bytes: None,
            cpus: "unknown".to_string(),
            workload: workload.to_string(),
            load: None,
            replicate: 0,
        }
    }

    /// One case of the group.
    pub fn case(&self, workload: &str, outcome: Outcome, phase: PhaseRecord) -> CaseRecord {
        CaseRecord {
            round: self.round,
            started: self.date.clone(),
            outcome,
            engine: Some(self.engine.clone()),
            phases: vec![phase],
            ..blank_case(self.key(workload))
        }
    }
}

impl Group<'_> {
    /// False where it has such a file already.
    fn takes(&self, source: &Source) -> bool {
        match &source.content {
            Content::Run(_) => self.run.is_none(),
            Content::Phase(file) => self.phases.iter().all(|(_, p)| p.phase != file.phase),
        }
    }

    fn files(&self, found: &Circumstances) -> Vec<ImportedRecord> {
        let record = |path: &Path, header: BTreeMap<String, String>| ImportedRecord {
            file: names::file_name(path),
            target: found.target.clone(),
            engine: server::label(&found.engine),
            round: found.round,
            header,
        };
        let run = self.run.iter();
        let mut files: Vec<_> = run.map(|(p, run)| record(p, run.header.clone())).collect();
        for (path, phase) in &self.phases {
            let head = [
                ("Server version", &phase.server),
                ("Date of test", &phase.date),
            ];
            let head = head
                .into_iter()
                .filter_map(|(name, text)| Some((name.to_string(), text.clone()?)));
            files.push(record(path, head.collect()));
        }
        files
    }

    /// The cases: of a phase its own file, where there is one, else the RUN file's line.
    fn cases(&self, found: &Circumstances) -> Vec<CaseRecord> {
        let own = self
            .phases
            .iter()
            .map(|(path, file)| of_phase(found, path, file));
        let mut cases: Vec<CaseRecord> = own.collect();
        if let Some((path, run)) = self.run {
            let known = |name: &str| self.phases.iter().any(|(_, p)| p.phase == name);
            let mut summed: Vec<CaseRecord> = run
                .phases
                .iter()
                .filter(|(name, _)| !known(name))
                .map(|(name, end)| of_end(found, name, end))
                .collect();
            // What a phase's own file tells must not be counted twice.
            let alone = self.phases.is_empty();
            let rows = run
                .rows
                .iter()
                .filter(|row| alone || phases::of(&row.name).is_some_and(|phase| !known(phase)));
            distribute(found, rows, &mut summed);
            if run.in_whole_seconds() {
                mark_whole_seconds(path, &mut summed);
            }
            cases.extend(summed);
        }
        let rank = |case: &CaseRecord| PHASES.iter().position(|p| *p == case.case.workload);
        cases.sort_by_key(|case| rank(case).unwrap_or(PHASES.len()));
        cases
    }

    /// What of its RUN file was left out.
    fn remark(&self) -> Option<String> {
        let (path, _) = self.run?;
        (!self.phases.is_empty()).then(|| {
            format!(
                "{}: of its totals per operation only those of phases without a file of their \
                 own were taken",
                names::file_name(path)
            )
        })
    }
}

fn plan(cases: Vec<KeyRecord>, rounds: u32, imported: &[ImportedRecord]) -> PlanRecord {
    let arguments = imported.iter().filter_map(|i| i.header.get("Arguments"));
    let words: Vec<&str> = arguments.flat_map(|a| a.split_whitespace()).collect();
    let limit = words.iter().find_map(|w| w.strip_prefix("--time-limit="));
    PlanRecord {
        units: Vec::new(),
        order: (0..rounds).map(|_| (0..cases.len()).collect()).collect(),
        cases,
        rounds,
        seed: 0,
        baseline: None,
        threshold: 0.02,
        until_sure: None,
        profile: "imported".to_string(),
        loops: 1.0,
        fast: words.contains(&"--fast"),
        read_key_loops: None,
        many_keys_loops: None,
        atis_data: None,
        tune_memory: false,
        time_limit_s: limit.and_then(|l| l.parse().ok()).unwrap_or(600.0),
        load: None,
    }
}

/// The machine, where all files agree on it: system, release and architecture.
fn host(imported: &[ImportedRecord]) -> HostRecord {
    let mut named = imported
        .iter()
        .filter_map(|i| i.header.get("Running tests on"));
    let Some(first) = named.next().filter(|first| named.all(|n| n == *first)) else {
        return HostRecord::default();
    };
    let mut words = first.split_whitespace();
    HostRecord {
        system: words.next().unwrap_or_default().to_string(),
        kernel: words.next().unwrap_or_default().to_string(),
        architecture: words.last().unwrap_or_default().to_string(),
        ..HostRecord::default()
    }
}
