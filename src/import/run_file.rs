//! A RUN file: the summary of a whole run of the suite.

use std::collections::BTreeMap;

use super::Bad;
use super::line::{self, Row, Times};

/// What a RUN file says.
#[derive(Clone, Debug, Default)]
pub(super) struct RunFile {
    /// Names and texts of its head; empty texts are left out.
    pub header: BTreeMap<String, String>,
    pub phases: Vec<(String, PhaseEnd)>,
    pub rows: Vec<Row>,
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PhaseEnd {
    /// With a total, which may be estimated.
    Total(Times, bool),
    /// In the words of the file.
    Skipped(String),
    Failed(String),
}

/// True for the line that only a RUN file has.
pub(super) fn begins_totals(line: &str) -> bool {
    line.trim_end() == "Totals per operation:"
}

impl RunFile {
    /// Reads `lines`; also gives those that cannot be read.
    pub fn read(lines: &[&str]) -> (Self, Vec<Bad>) {
        let mut file = RunFile::default();
        let mut bad = Vec::new();
        let mut lines = (1..).zip(lines.iter().map(|l| l.trim_end()));
        for (_, line) in lines.by_ref().take_while(|(_, l)| !l.is_empty()) {
            if let Some((name, text)) = line.split_once(':')
                && !text.trim().is_empty()
            {
                file.header.insert(name.into(), text.trim().into());
            }
        }
        for (number, line) in lines.by_ref().take_while(|(_, l)| !begins_totals(l)) {
            match phase(line) {
                None => {}
                Some(Ok(found)) => file.phases.push(found),
                Some(Err(reason)) => bad.push((number, reason)),
            }
        }
        for (number, line) in lines.filter(|(_, l)| !l.is_empty() && !is_heading(l)) {
            match line::row(line) {
                Err(reason) => bad.push((number, reason)),
                Ok(row) if row.name == "TOTALS" => {
                    bad.extend(
                        file.check(&row)
                            .filter(|_| bad.is_empty())
                            .map(|r| (number, r)),
                    );
                }
                Ok(row) => file.rows.push(row),
            }
        }
        (file, bad)
    }

    /// The rows against their own total, in words where the two differ.
    fn check(&self, totals: &Row) -> Option<String> {
        let sum: u64 = self.rows.iter().map(|r| r.count).sum();
        (sum != totals.count).then(|| {
            format!(
                "it says {} tests, the rows above are {sum}: some are missing",
                totals.count
            )
        })
    }

    /// True when no wall time of its phases has a fraction; the rows always have one.
    pub fn in_whole_seconds(&self) -> bool {
        let mut walls = self.phases.iter().filter_map(|(_, end)| match end {
            PhaseEnd::Total(times, _) => Some(times.wall),
            _ => None,
        });
        let first = walls.next();
        first.is_some_and(|f| !f.fractional) && walls.all(|wall| !wall.fractional)
    }
}

fn is_heading(line: &str) -> bool {
    line.starts_with("Operation ") && line.contains("seconds")
}

/// A line between head and totals: the end of a phase, or `None` for words about all.
fn phase(line: &str) -> Option<Result<(String, PhaseEnd), String>> {
    const WORDS: [&str; 4] = ["All ", "Of ", "Tests with", "Using"];
    if line.is_empty() || WORDS.iter().any(|w| line.starts_with(w)) {
        return None;
    }
    let Some((name, rest)) = line.split_once(':') else {
        return Some(Err("a phase and how it ended are parted by a colon".into()));
    };
    let name = name.trim().to_string();
    let rest = rest.trim();
    let end = match line::total(rest) {
        Some(Err(reason)) => return Some(Err(reason)),
        Some(Ok((times, estimated))) => PhaseEnd::Total(times, estimated),
        None if rest.starts_with("Test skipped") => PhaseEnd::Skipped(rest.to_string()),
        None if rest.starts_with("Failed") => PhaseEnd::Failed(rest.to_string()),
        None => {
            return Some(Err(format!(
                "phase {name} has no total time and neither failed nor was skipped"
            )));
        }
    };
    Some(Ok((name, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Benchmark DBD suite: 2.15
Date of test:        2000-08-17 16:25:52
Arguments:
Server version:      MySQL 3.22.32

alter-table: Total time: 271 wallclock secs ( 0.1 usr  0.0 sys +  0.0 cusr  0.0 csys =  0.0 CPU)
connect: Estimated total time: 17 wallclock secs ( 9.9 usr  1.0 sys =  0.0 CPU)
create: Failed (output/create-mysql-Linux)
insert: it went well
transactions: Test skipped because the database doesn't support transactions

Of 5 tests, 1 tests didn't work
Tests with estimated time have a + at end of line

Totals per operation:
Operation             seconds     usr     sys     cpu   tests
alter_table_add                      261.00    0.13    0.02    0.10     992
connect                               17.00    1.00    0.50    1.50   10000 ++
nonsense
TOTALS                               278.00    1.13    0.52    1.60   10992 ++
";

    #[test]
    fn every_part_is_read_and_what_is_not_is_told() {
        let (file, bad) = RunFile::read(&TEXT.lines().collect::<Vec<_>>());
        let lines: Vec<usize> = bad.iter().map(|b| b.0).collect();
        assert_eq!(lines, [9, 19], "{bad:?}");
        assert_eq!(file.header["Server version"], "MySQL 3.22.32");
        assert!(!file.header.contains_key("Arguments"));
        assert_eq!(file.phases.len(), 4);
        assert!(matches!(file.phases[1].1, PhaseEnd::Total(_, true)));
        assert!(matches!(file.phases[2].1, PhaseEnd::Failed(_)));
        assert!(matches!(file.phases[3].1, PhaseEnd::Skipped(_)));
        assert_eq!(file.rows.len(), 2);
        assert_eq!(file.rows[1].flags, "++");
        assert!(file.in_whole_seconds());
    }

    #[test]
    fn rows_that_are_missing_are_noticed() {
        let text: String = TEXT
            .lines()
            .filter(|l| !l.starts_with("connect  ") && !l.starts_with("nonsense"))
            .filter(|l| !l.starts_with("insert:"))
            .map(|l| format!("{l}\n"))
            .collect();
        let (_, bad) = RunFile::read(&text.lines().collect::<Vec<_>>());
        assert_eq!(bad.len(), 1);
        assert!(bad[0].1.contains("10992 tests"), "{bad:?}");
    }
}
