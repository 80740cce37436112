//! From the log of transactions to the figures of a load.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use super::transactions::{Columns, End, Transactions, counted};
use crate::measure::Latency;
use crate::record::{CheckpointRecord, LatencyRecord, LoadRecord};
use crate::workload::Quantiles;
use crate::workload::load::DEFAULT_CHECKPOINTS;

/// Times (ns since the start) and counts.
type Points = Vec<(u64, u64)>;

/// Transactions that were committed.
pub(super) fn committed(logs: &[&Transactions]) -> u64 {
    let all = logs.iter().flat_map(|log| &log.list);
    all.filter(|t| matches!(t.end, End::Committed(_))).count() as u64
}

/// The load, and how many clients there were.
pub(super) fn load(
    logs: &[&Transactions],
    report: Option<&Report>,
    remarks: &mut Vec<String>,
) -> (LoadRecord, u64) {
    let columns = Columns::of(
        logs,
        report.map(Report::is_scheduled),
        report.and_then(|r| r.tries),
    );
    if columns.guessed {
        let what = match columns.lag {
            Some(_) => "the lag of a schedule",
            None => "retries",
        };
        remarks.push(format!(
            "its seventh column is taken for {what}, by its size; the final report would tell"
        ));
    }
    let mut tally = Tally::default();
    for transaction in logs.iter().flat_map(|log| &log.list) {
        tally.count(transaction, columns);
    }
    let clients = tally.clients.len() as u64;
    let kept = tally.attempted();
    let whole = whole(logs, report, kept, clients);
    if let Some(whole) = whole {
        remarks.push(format!(
            "a sample: {kept} of {whole} transactions are in the log; the latencies are theirs"
        ));
    }
    (tally.load(whole, logs.len(), report), clients)
}

/// How many transactions there were, where the log holds fewer.
fn whole(logs: &[&Transactions], report: Option<&Report>, kept: u64, clients: u64) -> Option<u64> {
    let said = |r: &Report| Some(r.processed? + r.failed.unwrap_or(0) + r.skipped.unwrap_or(0));
    let whole = match report.and_then(said) {
        Some(said) => said,
        // A client's last ones may have been cut off with the run.
        None => counted(logs).saturating_sub(clients),
    };
    (whole > kept).then_some(whole)
}

#[derive(Default)]
struct Tally {
    clients: BTreeSet<u32>,
    latency: Latency,
    lag: Latency,
    service: Latency,
    /// When each was committed, µs since 1970.
    ends: Vec<u64>,
    /// The first start, µs since 1970.
    start: Option<u64>,
    errors: BTreeMap<String, u64>,
    failed: u64,
    skipped: u64,
    retried: u64,
    retries: u64,
    by_script: BTreeMap<u32, u64>,
}

impl Tally {
    fn count(&mut self, transaction: &super::transactions::Transaction, columns: Columns) {
        self.clients.insert(transaction.client);
        let (lag, retries) = columns.read(transaction);
        let retries = retries.unwrap_or(0);
        self.retries += retries;
        self.retried += u64::from(retries > 0);
        let time = match transaction.end {
            End::Skipped => {
                self.skipped += 1;
                return;
            }
            End::Failed(why) => {
                self.failed += 1;
                *self.errors.entry(why.to_string()).or_default() += 1;
                return;
            }
            End::Committed(time) => time,
        };
        self.latency.record(time * 1000);
        if let Some(lag) = lag {
            self.lag.record(lag * 1000);
            self.service.record(time.saturating_sub(lag) * 1000);
        }
        let start = transaction.at.saturating_sub(time) + lag.unwrap_or(0);
        self.start = Some(self.start.map_or(start, |first| first.min(start)));
        self.ends.push(transaction.at);
        *self.by_script.entry(transaction.script).or_default() += 1;
    }

    fn attempted(&self) -> u64 {
        self.ends.len() as u64 + self.failed + self.skipped
    }

    /// The figures; `whole` is the number of transactions of which the log is a sample.
    fn load(mut self, whole: Option<u64>, files: usize, report: Option<&Report>) -> LoadRecord {
        self.ends.sort_unstable();
        let start = self.start.unwrap_or(0);
        let since = |at: u64| at.saturating_sub(start) * 1000;
        let of_all = |figure: fn(&[u64], u64) -> Points| match whole {
            // Of a sample nobody knows when the N-th was committed.
            Some(_) => Points::new(),
            None => figure(&self.ends, start),
        };
        let committed = match whole {
            Some(whole) => whole.saturating_sub(self.failed + self.skipped),
            None => self.ends.len() as u64,
        };
        let name = |number: &u32| {
            let named = report.and_then(|r| r.scripts.get(*number as usize));
            named.map_or(format!("script {number}"), |(name, _)| name.clone())
        };
        let by_script = self.by_script.iter();
        let checkpoints = of_all(checkpoints).into_iter();
        LoadRecord {
            threads: files as u64,
            wall_ns: self.ends.last().map_or(0, |at| since(*at)),
            attempted: committed + self.failed + self.skipped,
            committed,
            failed: self.failed,
            skipped: self.skipped,
            retried: self.retried,
            retries: self.retries,
            errors: self.errors.clone(),
            checkpoints: checkpoints
                .map(|(transactions, elapsed_ns)| CheckpointRecord {
                    transactions,
                    elapsed_ns,
                })
                .collect(),
            progress: of_all(progress),
            latency: record(&self.latency).unwrap_or_default(),
            lag: record(&self.lag),
            service: record(&self.service),
            by_script: by_script.map(|(number, n)| (name(number), *n)).collect(),
            by_database: (committed, committed),
            ..LoadRecord::default()
        }
    }
}

/// Of what was counted; `None` where nothing was.
fn record(latency: &Latency) -> Option<LatencyRecord> {
    (!latency.histogram().is_empty()).then(|| Quantiles::of(latency.histogram()).into())
}

/// Count and time (ns since the start) of the usual checkpoints that were reached.
fn checkpoints(ends: &[u64], start: u64) -> Points {
    let reached = DEFAULT_CHECKPOINTS.into_iter();
    reached
        .filter_map(|n| Some((n, ends.get(n as usize - 1)?.saturating_sub(start) * 1000)))
        .collect()
}

/// Time (ns since the start) and transactions so far, about every second.
fn progress(ends: &[u64], start: u64) -> Points {
    let mut progress = vec![(0, 0)];
    let mut next = start + 1_000_000;
    for (so_far, at) in (0..).zip(ends) {
        while *at >= next {
            progress.push(((next - start) * 1000, so_far));
            next += 1_000_000;
        }
    }
    if let Some(last) = ends.last() {
        progress.push((last.saturating_sub(start) * 1000, ends.len() as u64));
    }
    progress
}
