//! The log of intervals: start (seconds since 1970), transactions, then sum, sum of squares,
//! minimum and maximum of the latency (µs). With a schedule the same four of its lag, and
//! with a limit what was skipped; since version 15 all of these stand there always, with
//! what was retried, the retries, and failures by serialization and by deadlock.

use super::{is_epoch, number, words};
use crate::import::Bad;

/// The intervals of one file.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    pub list: Vec<Interval>,
}

/// One interval of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Interval {
    /// Seconds since 1970.
    pub start: u64,
    pub committed: u64,
    /// Of the latency, µs.
    pub sum: f64,
    pub squares: f64,
    pub least: f64,
    pub most: f64,
    /// Sum of the lag, µs; zero without a schedule.
    pub lag: f64,
    pub skipped: u64,
    pub retried: u64,
    pub retries: u64,
    pub failed: u64,
}

/// Fields of a line, by version and options.
const FIELDS: [usize; 4] = [6, 10, 11, 15];

/// True for the fields of such a line.
pub(super) fn is_one(words: &[&str]) -> bool {
    FIELDS.contains(&words.len()) && is_epoch(words[0]) && !(words.len() == 6 && is_epoch(words[4]))
}

impl Intervals {
    /// Reads `text`; also gives the lines that cannot be read.
    pub fn read(text: &str) -> (Self, Vec<Bad>) {
        let mut log = Intervals::default();
        let mut bad = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words = words(line);
            match interval(&words) {
                Ok(interval) => log.list.push(interval),
                Err(_) if words.is_empty() => {}
                Err(why) => bad.push((number, why)),
            }
        }
        (log, bad)
    }
}

fn interval(words: &[&str]) -> Result<Interval, String> {
    if !FIELDS.contains(&words.len()) {
        return Err(format!(
            "an interval has 6, 10, 11 or 15 fields, here are {}",
            words.len()
        ));
    }
    if !is_epoch(words[0]) {
        return Err(format!("'{}' is no time in seconds since 1970", words[0]));
    }
    let float = |at: usize| -> Result<f64, String> {
        let Some(word) = words.get(at) else {
            return Ok(0.0);
        };
        let value = word.parse::<f64>().ok().filter(|v| v.is_finite());
        value.ok_or_else(|| format!("field {} '{word}' is not a number", at + 1))
    };
    let whole = |at: usize| match words.get(at) {
        None => Ok(0),
        Some(word) => number(&format!("field {}", at + 1), word),
    };
    let (count, skipped) = (whole(1)?, whole(10)?);
    // Before version 15 the count held what was skipped too.
    let committed = match words.len() {
        15 => count,
        _ => count
            .checked_sub(skipped)
            .ok_or("more was skipped than there was")?,
    };
    Ok(Interval {
        start: whole(0)?,
        committed,
        sum: float(2)?,
        squares: float(3)?,
        least: float(4)?,
        most: float(5)?,
        lag: float(6)?,
        skipped,
        retried: whole(11)?,
        retries: whole(12)?,
        failed: whole(13)? + whole(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_what_is_not_is_told() {
        let text = "\
1764541234 10 1000 120000 50 200
1764541235 12 1000 120000 50 200 5 5 1 2 2
1764541236 12 1000 120000 50 200 5 5 1 2 2 3 4 1 1
1764541237 2 1000 120000 50 200 5 5 1 2 3
1764541238 2 1000
x 12 1000 120000 50 200
";
        let (log, bad) = Intervals::read(text);
        let lines: Vec<usize> = bad.iter().map(|b| b.0).collect();
        assert_eq!(lines, [4, 5, 6], "{bad:?}");
        let committed: Vec<u64> = log.list.iter().map(|i| i.committed).collect();
        assert_eq!(committed, [10, 10, 12]);
        assert_eq!(
            (log.list[2].retried, log.list[2].retries, log.list[2].failed),
            (3, 4, 2)
        );
        assert!(!is_one(&super::words("0 0 1526 0 1764541234 123456")));
    }
}
