//! What pgbench prints and logs: its final report, the log of its transactions (`--log`) and
//! that of intervals (`--aggregate-interval`), each of one or several threads.
//!
//! A report and the logs of one run make one case, which has of each figure the best that
//! there is: counts and times of the log where all transactions are in it, of the report where
//! it was sampled. What neither tells is absent.

mod assemble;
mod intervals;
mod log;
mod report;
mod transactions;

use std::path::{Path, PathBuf};

use super::Bad;
use intervals::Intervals;
use report::Report;
use transactions::Transactions;

pub(super) use assemble::found;

/// A file of pgbench's, read.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Report(Box<Report>),
    Transactions(Transactions),
    Intervals(Intervals),
}

/// Reads `text` if it is pgbench's; also gives the lines that cannot be read.
pub(super) fn read(path: &Path, text: &str) -> Option<(File, Vec<Bad>)> {
    let (content, bad) = if report::is_one(text) {
        let (report, bad) = Report::read(text);
        (Content::Report(Box::new(report)), bad)
    } else {
        // The first line that can be read tells: one that was cut may stand before it.
        let is = |is_one: fn(&[&str]) -> bool| {
            let lines = text.lines().take(10);
            lines.map(words).any(|words| is_one(&words))
        };
        if is(intervals::is_one) {
            let (log, bad) = Intervals::read(text);
            (Content::Intervals(log), bad)
        } else if is(transactions::is_one) {
            let (log, bad) = Transactions::read(text);
            (Content::Transactions(log), bad)
        } else {
            return None;
        }
    };
    let path = path.to_path_buf();
    Some((File { path, content }, bad))
}

fn words(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

/// Seconds since 1970 that a run of pgbench can have begun at: nothing else in its logs is as
/// large and stands where times stand.
fn is_epoch(word: &str) -> bool {
    word.parse::<u64>()
        .is_ok_and(|s| (1_000_000_000..100_000_000_000).contains(&s))
}

/// A whole number out of a log; some versions print times as decimals.
fn number(name: &str, word: &str) -> Result<u64, String> {
    let value = word.parse::<f64>().ok();
    let value = value.filter(|v| v.is_finite() && *v >= 0.0);
    let value = value.ok_or_else(|| format!("{name} '{word}' is not a number from zero up"))?;
    Ok(value.round() as u64)
}
