//! The output of one phase.

use super::Bad;
use super::line::{self, Operation, Times};

/// What the output of one phase says.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseFile {
    pub phase: String,
    /// From its first line.
    pub server: Option<String>,
    pub date: Option<String>,
    /// Each operation with the marks of its line.
    pub operations: Vec<(Operation, String)>,
    /// The total and whether it is estimated, where that is its last line.
    pub total: Option<(Times, bool)>,
    /// Its last line, where that says so.
    pub skipped: Option<String>,
}

impl PhaseFile {
    /// Reads `lines`; also gives those that cannot be read.
    pub fn read(phase: &str, lines: &[&str]) -> (Self, Vec<Bad>) {
        let mut file = PhaseFile {
            phase: phase.to_string(),
            ..PhaseFile::default()
        };
        let mut bad = Vec::new();
        let mut warned = false;
        for (number, line) in (1..).zip(lines) {
            if let Some((server, date)) = testing(line) {
                file.server = Some(server.to_string());
                file.date = Some(date.to_string());
            }
            match line::operation(line) {
                None => {}
                Some(Err(reason)) => bad.push((number, reason)),
                Some(Ok(operation)) => {
                    let estimated = if operation.estimated { "+" } else { "" };
                    let wrong = if warned { "?" } else { "" };
                    file.operations
                        .push((operation, format!("{estimated}{wrong}")));
                }
            }
            warned = line.to_ascii_lowercase().starts_with("warning");
        }
        let last = (1..)
            .zip(lines)
            .filter(|(_, l)| !l.trim().is_empty())
            .last();
        if let Some((number, last)) = last {
            match line::total(last) {
                Some(Ok(total)) => file.total = Some(total),
                Some(Err(reason)) => bad.push((number, reason)),
                None if last.starts_with("Test skipped") => {
                    file.skipped = Some(last.trim().to_string());
                }
                None => {}
            }
        }
        (file, bad)
    }

    /// False when nothing in it is of the suite.
    pub fn is_one(&self) -> bool {
        self.server.is_some()
            || self.total.is_some()
            || self.skipped.is_some()
            || !self.operations.is_empty()
    }

    /// True when no wall time in it has a fraction.
    pub fn in_whole_seconds(&self) -> bool {
        let operations = self.operations.iter().map(|(o, _)| o.times.wall);
        let total = self.total.map(|(times, _)| times.wall);
        let mut all = operations.chain(total).peekable();
        all.peek().is_some() && all.all(|wall| !wall.fractional)
    }
}

/// `Testing server 'MySQL 3.23' at 2026-11-30 18:10:31`
fn testing(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("Testing server '")?;
    let (server, date) = rest.rsplit_once("' at ")?;
    Some((server, date.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (PhaseFile, Vec<Bad>) {
        PhaseFile::read("insert", &text.lines().collect::<Vec<_>>())
    }

    const TIMES: &str = "2 wallclock secs ( 0.1 usr  0.2 sys =  0.3 CPU)";

    #[test]
    fn a_warning_marks_the_next_line_only() {
        let (file, bad) = read(&format!(
            "Testing server 'MySQL 3.23.5' at 2001-01-02  3:04:05\n\
             Warning: Query 'x' returned 3 rows\n\
             Time for a (1): {TIMES}\n\
             WARNING: another\n\
             \n\
             Estimated time for b (1): {TIMES}\n\
             Estimated total time: {TIMES}\n\n"
        ));
        assert_eq!(bad, []);
        assert_eq!(file.server.as_deref(), Some("MySQL 3.23.5"));
        assert_eq!(file.date.as_deref(), Some("2001-01-02  3:04:05"));
        let flags: Vec<&str> = file.operations.iter().map(|(_, f)| f.as_str()).collect();
        assert_eq!(flags, ["?", "+"]);
        assert!(file.total.expect("its total").1);
        assert!(file.in_whole_seconds());
    }

    #[test]
    fn one_that_does_not_end_has_no_total() {
        let (file, bad) = read(&format!(
            "Time for a (1): {TIMES}\nTime for b (x): {TIMES}\nGot error: gone"
        ));
        assert_eq!(file.total, None);
        assert_eq!(file.operations.len(), 1);
        assert_eq!(bad.len(), 1);
        assert_eq!(bad[0].0, 2);
        let (file, _) = read("hello\nTest skipped because the server has no transactions");
        assert!(file.is_one() && file.skipped.is_some());
        assert!(!read("hello\nworld").0.is_one());
    }
}
