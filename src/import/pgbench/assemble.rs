//! Which files of pgbench's belong together, and the case that they make.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::intervals::{Interval, Intervals};
use super::report::Report;
use super::transactions::Transactions;
use super::{Content, File, log};
use crate::import::{Options, assemble, names};
use crate::record::*;
use crate::workload::load;

/// What the files are.
#[derive(Debug, Default)]
pub(in crate::import) struct Found {
    pub cases: Vec<CaseRecord>,
    pub imported: Vec<ImportedRecord>,
    pub remarks: Vec<String>,
    /// What the loads of a run were, as far as reports tell.
    pub plan: Option<LoadPlanRecord>,
}

/// The files of one run of pgbench.
#[derive(Default)]
struct Run<'f> {
    /// Directory and name that the logs of its threads share.
    name: PathBuf,
    report: Option<(&'f Path, &'f Report)>,
    transactions: Vec<&'f Transactions>,
    intervals: Vec<&'f Intervals>,
    paths: Vec<&'f Path>,
}

/// Makes cases of `files`; the same again is the next round.
pub(in crate::import) fn found(files: &[File], options: &Options) -> Found {
    let mut found = Found::default();
    for run in runs(files) {
        let (mut case, remarks) = run.case(options);
        let earlier = found.cases.iter().filter(|c| c.case == case.case);
        case.round = earlier.map(|c| c.round + 1).max().unwrap_or(0);
        for path in &run.paths {
            let header = match run.report {
                Some((own, report)) if own == *path => report.header.clone(),
                _ => BTreeMap::new(),
            };
            found.imported.push(ImportedRecord {
                file: names::file_name(path),
                target: case.case.target.clone(),
                engine: case.case.engine.clone(),
                round: case.round,
                header,
            });
        }
        let plan = run.plan();
        found.plan.get_or_insert(plan);
        found.remarks.extend(remarks);
        found.cases.push(case);
    }
    found
}

/// The log that the logs of several threads are parts of: `pgbench_log.4711.2` of
/// `pgbench_log.4711`.
fn stem(path: &Path) -> PathBuf {
    let name = names::file_name(path);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let cut = name.rsplit_once('.').filter(|(head, thread)| {
        let process = head.rsplit_once('.').map(|(_, process)| process);
        is_number(thread) && process.is_some_and(is_number)
    });
    path.with_file_name(cut.map_or(name.as_str(), |(head, _)| head))
}

fn runs(files: &[File]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for file in files {
        let stem = stem(&file.path);
        let at = runs.iter().position(|run| run.name == stem);
        let at = at.unwrap_or_else(|| {
            runs.push(Run {
                name: stem,
                ..Run::default()
            });
            runs.len() - 1
        });
        let run = &mut runs[at];
        run.paths.push(&file.path);
        match &file.content {
            Content::Report(report) => run.report = Some((&file.path, report)),
            Content::Transactions(log) => run.transactions.push(log),
            Content::Intervals(log) => run.intervals.push(log),
        }
    }
    let (reports, mut logs): (Vec<Run<'_>>, Vec<Run<'_>>) =
        runs.into_iter().partition(|run| run.report.is_some());
    let several = reports.len();
    let mut alone = Vec::new();
    for report in reports {
        match partner(&report, &logs, several) {
            Some(at) => {
                logs[at].report = report.report;
                logs[at].paths.splice(0..0, report.paths);
            }
            None => alone.push(report),
        }
    }
    alone.extend(logs);
    alone
}

/// The logs that a report belongs to: the only ones in its directory where it is the only
/// report, else the only ones with its number of transactions.
fn partner(report: &Run<'_>, logs: &[Run<'_>], reports: usize) -> Option<usize> {
    let beside = |run: &&Run<'_>| run.name.parent() == report.name.parent();
    let free: Vec<(usize, &Run<'_>)> = logs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.report.is_none() && beside(run))
        .collect();
    if let ([(at, _)], 1) = (free.as_slice(), reports) {
        return Some(*at);
    }
    let processed = report.report?.1.processed?;
    let mut fits = free.iter().filter(|(_, run)| run.committed() == processed);
    match (fits.next(), fits.next()) {
        (Some((at, _)), None) => Some(*at),
        _ => None,
    }
}

impl Run<'_> {
    fn committed(&self) -> u64 {
        let whole = self.intervals.iter().flat_map(|log| &log.list);
        let whole: u64 = whole.map(|interval| interval.committed).sum();
        match self.transactions.is_empty() {
            true => whole,
            false => log::committed(&self.transactions),
        }
    }

    fn said(&self) -> Option<&Report> {
        self.report.map(|(_, report)| report)
    }

    /// The case, and what is to be said of how it came about.
    fn case(&self, options: &Options) -> (CaseRecord, Vec<String>) {
        let report = self.said();
        let mut remarks = Vec::new();
        let (load, clients) = if !self.transactions.is_empty() {
            log::load(&self.transactions, report, &mut remarks)
        } else if !self.intervals.is_empty() {
            (intervals(&self.intervals, report, &mut remarks), 0)
        } else {
            (LoadRecord::default(), 0)
        };
        let load = match report {
            Some(report) => with_report(load, report),
            None => load,
        };
        let engine = EngineRecord {
            kind: "postgres".to_string(),
            version: report.and_then(|r| r.version.clone()).unwrap_or_default(),
            has_server: true,
            ..EngineRecord::default()
        };
        let clients = report.and_then(|r| r.clients).unwrap_or(clients);
        let key = KeyRecord {
            target: options.on.clone().unwrap_or_else(|| "imported".to_string()),
            engine: crate::import::server::label(&engine),
            settings: self.settings(),
            memory_bytes: None,
            cpus: "unknown".to_string(),
            workload: load::NAME.to_string(),
            load: Some(LoadKeyRecord {
                clients: u32::try_from(clients).unwrap_or(u32::MAX),
                databases: 1,
            }),
            replicate: 0,
        };
        let phase = PhaseRecord {
            completeness: Completeness::Complete,
            ends: Some(assemble::returned(load.wall_ns)),
            ..assemble::blank_phase(load::NAME)
        };
        let first = names::file_name(self.paths.first().copied().unwrap_or(&self.name));
        let remarks = remarks.iter().map(|r| format!("{first}: {r}")).collect();
        let case = CaseRecord {
            engine: Some(engine),
            phases: vec![phase],
            load: Some(load),
            ..assemble::blank_case(key)
        };
        (case, remarks)
    }

    /// What makes one load another, where the report tells it.
    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::new();
        let Some(report) = self.said() else {
            return settings;
        };
        let mut set = |name: &str, value: Option<String>| {
            settings.extend(value.map(|value| (name.to_string(), value)));
        };
        let header = |name: &str| report.header.get(name).cloned();
        let scripts: Vec<&str> = report
            .scripts
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        set("script", Some(scripts.join(" ")).filter(|s| !s.is_empty()));
        set("scale", header("scaling factor"));
        set("protocol", header("query mode"));
        set(
            "latency-limit",
            report.limit_ms.map(|ms| format!("{ms} ms")),
        );
        settings
    }

    fn plan(&self) -> LoadPlanRecord {
        let report = self.said();
        let header = |name: &str| report.and_then(|r| r.header.get(name));
        let number = |name: &str| -> Option<f64> { header(name)?.split(' ').next()?.parse().ok() };
        let scripts = report.map(|r| &r.scripts).into_iter().flatten();
        LoadPlanRecord {
            keys: None,
            scripts: scripts.map(|(name, _)| (name.clone(), 1)).collect(),
            mode: header("query mode").cloned().unwrap_or_default(),
            preload: 0,
            scale: number("scaling factor").unwrap_or(0.0) as u32,
            threads: report.and_then(|r| r.threads).unwrap_or(0) as u32,
            transactions: number("number of transactions per client").map(|n| n as u64),
            seconds: number("duration"),
            tuples: None,
            warmup_s: 0.0,
            rate: None,
            limit_ms: report.and_then(|r| r.limit_ms),
            reconnect: report.is_some_and(|r| r.reconnects),
            max_tries: report.and_then(|r| r.tries).unwrap_or(1) as u32,
            define: Vec::new(),
        }
    }
}

fn ns(us: f64) -> u64 {
    (us * 1e3).round().max(0.0) as u64
}

/// What a log of intervals tells: counts, and of the latency mean, deviation and range.
fn intervals(
    logs: &[&Intervals],
    report: Option<&Report>,
    remarks: &mut Vec<String>,
) -> LoadRecord {
    let mut all: BTreeMap<u64, Interval> = BTreeMap::new();
    for part in logs.iter().flat_map(|log| &log.list) {
        let whole = all.entry(part.start).or_insert(Interval {
            start: part.start,
            least: f64::INFINITY,
            ..Interval::default()
        });
        add(whole, part);
    }
    let mut total = Interval {
        least: f64::INFINITY,
        ..Interval::default()
    };
    all.values().for_each(|interval| add(&mut total, interval));
    let starts: Vec<u64> = all.keys().copied().collect();
    let length = starts.windows(2).map(|w| w[1] - w[0]).min().unwrap_or(1);
    let begin = starts.first().copied().unwrap_or(0);
    let mut so_far = 0;
    let mut progress = vec![(0, 0)];
    progress.extend(all.values().map(|interval| {
        so_far += interval.committed;
        ((interval.start - begin + length) * 1_000_000_000, so_far)
    }));
    if report.is_none_or(|r| r.wall_s().is_none()) {
        remarks.push(format!(
            "without the final report its time is known to whole intervals ({length} s) only"
        ));
    }
    let count = total.committed as f64;
    let mean = total.sum / count;
    let variance = (total.squares / count - mean * mean).max(0.0);
    LoadRecord {
        threads: logs.len() as u64,
        wall_ns: progress.last().map_or(0, |(ns, _)| *ns),
        attempted: total.committed + total.failed + total.skipped,
        committed: total.committed,
        failed: total.failed,
        skipped: total.skipped,
        retried: total.retried,
        retries: total.retries,
        progress,
        latency_summary: (total.committed > 0).then(|| LatencySummaryRecord {
            mean_ns: ns(mean),
            stddev_ns: Some(ns(variance.sqrt())),
            range_ns: Some((ns(total.least), ns(total.most))),
        }),
        ..LoadRecord::default()
    }
}

fn add(whole: &mut Interval, part: &Interval) {
    whole.committed += part.committed;
    whole.sum += part.sum;
    whole.squares += part.squares;
    // An interval without transactions has zeros there.
    if part.committed > 0 {
        whole.least = whole.least.min(part.least);
        whole.most = whole.most.max(part.most);
    }
    whole.lag += part.lag;
    whole.skipped += part.skipped;
    whole.retried += part.retried;
    whole.retries += part.retries;
    whole.failed += part.failed;
}

/// What the report tells besides or more exactly.
fn with_report(mut load: LoadRecord, report: &Report) -> LoadRecord {
    let known = |count: &mut u64, said: Option<u64>| {
        if let Some(said) = said {
            *count = said;
        }
    };
    known(&mut load.committed, report.processed);
    known(&mut load.failed, report.failed);
    known(&mut load.skipped, report.skipped);
    known(&mut load.late, report.late);
    known(&mut load.retried, report.retried);
    known(&mut load.retries, report.retries);
    known(&mut load.threads, report.threads);
    load.attempted = load.committed + load.failed + load.skipped;
    if let Some(s) = report.wall_s() {
        load.wall_ns = (s * 1e9).round() as u64;
    }
    if !report.errors.is_empty() {
        load.errors.clone_from(&report.errors);
    }
    let counts: Option<Vec<(String, u64)>> = report
        .scripts
        .iter()
        .map(|(name, count)| Some((name.clone(), (*count)?)))
        .collect();
    match (counts, report.scripts.as_slice()) {
        (Some(counts), [_, _, ..]) => load.by_script = counts.into_iter().collect(),
        (_, [(name, _)]) => {
            load.by_script = BTreeMap::from([(name.clone(), load.committed)]);
        }
        _ => {}
    }
    if load.latency.is_absent() && load.latency_summary.is_none() {
        load.latency_summary = report.latency_ms.map(|ms| LatencySummaryRecord {
            mean_ns: ns(ms * 1e3),
            stddev_ns: report.stddev_ms.map(|ms| ns(ms * 1e3)),
            range_ns: None,
        });
    }
    let mean = |(text, ms): &(String, f64)| {
        let latency = LatencyRecord {
            mean_ns: ns(ms * 1e3),
            ..LatencyRecord::default()
        };
        (text.clone(), latency)
    };
    load.statement_latency = report.statements.iter().map(mean).collect();
    load.by_database = (load.committed, load.committed);
    load
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_threads_have_one_stem() {
        for (path, expected) in [
            ("a/pgbench_log.4711", "a/pgbench_log.4711"),
            ("a/pgbench_log.4711.2", "a/pgbench_log.4711"),
            ("b/my.log.4711.10", "b/my.log.4711"),
            ("report.txt", "report.txt"),
        ] {
            assert_eq!(stem(Path::new(path)), Path::new(expected));
        }
    }
}
