//! The log of transactions: `client number time script epoch µs [lag] [retries]`, times in µs.

use std::collections::BTreeMap;

use super::{is_epoch, number, words};
use crate::import::Bad;

/// The transactions of one file.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    pub list: Vec<Transaction>,
    /// Fields of a line, the most that were seen.
    pub fields: usize,
}

/// One transaction; times in µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transaction {
    pub client: u32,
    /// Of this client, as pgbench counts.
    pub number: u64,
    pub end: End,
    pub script: u32,
    /// When it was over, since 1970.
    pub at: u64,
    /// The columns behind.
    pub more: [Option<u64>; 2],
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Committed, after so long.
    Committed(u64),
    /// Given up.
    Failed(&'static str),
    /// Never begun: it would have been later than the limit.
    Skipped,
}

/// What pgbench writes in place of the time.
const FAILURES: [&str; 3] = ["failed", "serialization", "deadlock"];

/// True for the fields of such a line.
pub(super) fn is_one(words: &[&str]) -> bool {
    (6..=8).contains(&words.len()) && is_epoch(words[4]) && words[0].parse::<u32>().is_ok()
}

impl Transactions {
    /// Reads `text`; also gives the lines that cannot be read.
    pub fn read(text: &str) -> (Self, Vec<Bad>) {
        let mut log = Transactions::default();
        let mut bad = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words = words(line);
            match transaction(&words) {
                Ok(transaction) => {
                    log.fields = log.fields.max(words.len());
                    log.list.push(transaction);
                }
                Err(_) if words.is_empty() => {}
                Err(why) => bad.push((number, why)),
            }
        }
        (log, bad)
    }
}

fn transaction(words: &[&str]) -> Result<Transaction, String> {
    let [client, count, time, script, epoch, us, more @ ..] = words else {
        return Err(format!(
            "a transaction has 6 to 8 fields, here are {}",
            words.len()
        ));
    };
    if more.len() > 2 {
        return Err(format!(
            "a transaction has 6 to 8 fields, here are {}",
            words.len()
        ));
    }
    let small = |name: &str, word: &str| -> Result<u32, String> {
        word.parse()
            .map_err(|_| format!("{name} '{word}' is not a whole number"))
    };
    if !is_epoch(epoch) {
        return Err(format!("'{epoch}' is no time in seconds since 1970"));
    }
    let failure = FAILURES.iter().find(|name| *name == time);
    let end = match (*time, failure) {
        ("skipped", _) => End::Skipped,
        (_, Some(name)) => End::Failed(name),
        _ => End::Committed(number("time", time)?),
    };
    let mut columns = [None; 2];
    for (column, word) in columns.iter_mut().zip(more) {
        *column = Some(number("column", word)?);
    }
    Ok(Transaction {
        client: small("client", client)?,
        number: number("transaction", count)?,
        end,
        script: small("script", script)?,
        at: number("time", epoch)? * 1_000_000 + number("microseconds", us)?,
        more: columns,
    })
}

/// Lags in µs are seldom all below this, retries always.
const MANY_RETRIES: u64 = 20;

/// What the columns behind the sixth are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    pub lag: Option<usize>,
    pub retries: Option<usize>,
    /// A seventh column, of which neither the report nor the log tells what it is.
    pub guessed: bool,
}

impl Columns {
    /// With eight columns the schedule's lag and retries; the one of seven is the lag where
    /// the report tells of a schedule or something was skipped, retries where it tells of
    /// tries, and else what its size speaks for.
    pub fn of(logs: &[&Transactions], scheduled: Option<bool>, tries: Option<u64>) -> Self {
        let fields = logs.iter().map(|log| log.fields).max().unwrap_or(0);
        let lag = Columns {
            lag: Some(0),
            ..Columns::default()
        };
        let retries = Columns {
            retries: Some(0),
            ..Columns::default()
        };
        let all = || logs.iter().flat_map(|log| &log.list);
        let most = || all().filter_map(|t| t.more[0]).max().unwrap_or(0);
        match (fields, scheduled) {
            (8, _) => Columns {
                lag: Some(0),
                retries: Some(1),
                guessed: false,
            },
            (7, Some(true)) => lag,
            (7, Some(false)) if tries.is_none_or(|n| n != 1) => retries,
            (7, _) if all().any(|t| t.end == End::Skipped) => lag,
            (7, _) => Columns {
                guessed: true,
                ..if most() <= MANY_RETRIES { retries } else { lag }
            },
            _ => Columns::default(),
        }
    }

    /// Lag (µs) and retries of a transaction.
    pub fn read(self, transaction: &Transaction) -> (Option<u64>, Option<u64>) {
        let column = |at: Option<usize>| transaction.more[at?];
        (column(self.lag), column(self.retries))
    }
}

/// How many transactions the clients counted, where that is more than stand in the log: then
/// the log is a sample.
pub(super) fn counted(logs: &[&Transactions]) -> u64 {
    let mut ranges: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for t in logs.iter().flat_map(|log| &log.list) {
        // What is skipped or failed may share the number of the one before it.
        let range = ranges.entry(t.client).or_insert((t.number, t.number));
        *range = (range.0.min(t.number), range.1.max(t.number));
    }
    ranges
        .values()
        .map(|(first, last)| last + 1 - first.min(&1))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
0 0 1526 0 1764541234 123456
1 0 skipped 0 1764541234 223456 300 0
1 1 serialization 1 1764541235 0 300 9

0 1 fast 0 1764541234 123456
0 1 5
0 1 5 0 17 0
";

    #[test]
    fn every_form_is_read_and_what_is_not_is_told() {
        let (log, bad) = Transactions::read(TEXT);
        let lines: Vec<usize> = bad.iter().map(|b| b.0).collect();
        assert_eq!(lines, [5, 6, 7], "{bad:?}");
        assert_eq!((log.list.len(), log.fields), (3, 8));
        assert_eq!(log.list[0].end, End::Committed(1526));
        assert_eq!(log.list[0].at, 1_764_541_234_123_456);
        assert_eq!(log.list[1].end, End::Skipped);
        assert_eq!(log.list[2].end, End::Failed("serialization"));
        let columns = Columns::of(&[&log], None, None);
        assert_eq!(columns.read(&log.list[2]), (Some(300), Some(9)));
        assert_eq!(columns.read(&log.list[0]), (None, None));
    }

    #[test]
    fn a_seventh_column_is_what_the_report_says() {
        let (log, _) = Transactions::read("0 0 1526 0 1764541234 123456 7\n");
        let of = |scheduled, tries| Columns::of(&[&log], scheduled, tries);
        assert_eq!(of(Some(true), Some(3)).lag, Some(0));
        assert_eq!(of(Some(false), Some(3)).retries, Some(0));
        let guess = of(None, None);
        assert!(guess.guessed && guess.retries == Some(0));
    }
}
