//! The final report, as versions 9 to 17 print it.

use std::collections::BTreeMap;

use crate::import::Bad;

/// What a report says; absent is what it has no line for.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// Its lines, name to text.
    pub header: BTreeMap<String, String>,
    /// Version of the server, of pgbench where it tells no other.
    pub version: Option<String>,
    /// The scripts, with their transactions where there are several.
    pub scripts: Vec<(String, Option<u64>)>,
    pub clients: Option<u64>,
    pub threads: Option<u64>,
    pub tries: Option<u64>,
    /// Committed.
    pub processed: Option<u64>,
    pub failed: Option<u64>,
    pub errors: BTreeMap<String, u64>,
    pub retried: Option<u64>,
    pub retries: Option<u64>,
    pub skipped: Option<u64>,
    pub late: Option<u64>,
    pub limit_ms: Option<f64>,
    pub latency_ms: Option<f64>,
    pub stddev_ms: Option<f64>,
    pub lag_ms: Option<f64>,
    /// A connection a transaction.
    pub reconnects: bool,
    /// Without the time of the first connections.
    pub tps: Option<f64>,
    /// Text and mean, ms.
    pub statements: Vec<(String, f64)>,
}

/// True for the text of a report, whatever stands before it.
pub(super) fn is_one(text: &str) -> bool {
    let has = |head: &str| text.lines().any(|line| line.starts_with(head));
    has("transaction type:") && (has("tps = ") || has("number of transactions actually"))
}

/// Names as this program gives them to the built-in scripts.
const BUILTIN: [(&str, &str); 3] = [
    ("TPC-B (sort of)", "tpcb-like"),
    ("simple update", "simple-update"),
    ("select only", "select-only"),
];

impl Report {
    /// Reads `text`; also gives the lines that cannot be read.
    pub fn read(text: &str) -> (Self, Vec<Bad>) {
        let mut report = Report::default();
        let mut bad = Vec::new();
        let mut in_statements = false;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.contains("statement latencies in milliseconds") {
                in_statements = true;
                continue;
            }
            if in_statements && let Some(statement) = statement(line) {
                report.statements.push(statement);
                continue;
            }
            in_statements = false;
            if let Err(why) = report.take(line) {
                bad.push((number, why));
            }
        }
        if report.tps.is_none() {
            let why = "there is no line of transactions a second: the report was cut";
            bad.push((text.lines().count(), why.to_string()));
        }
        (report, bad)
    }

    /// Where a rate was scheduled, and how the latency counts.
    pub fn is_scheduled(&self) -> bool {
        self.lag_ms.is_some()
    }

    /// Seconds of the run, without the time of the first connections.
    pub fn wall_s(&self) -> Option<f64> {
        let tps = self.tps.filter(|tps| *tps > 0.0)?;
        Some(self.processed? as f64 / tps)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("pgbench (") {
            self.version = version(rest);
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix("SQL script ") {
            let name = rest.split_once(": ").map_or(rest, |(_, name)| name);
            self.scripts.push((script(name), None));
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix("- ") {
            return self.of_script(rest);
        }
        if let Some(rest) = line.strip_prefix("tps = ") {
            return self.rate(rest);
        }
        let (name, text) = match (line.split_once(": "), line.split_once(" = ")) {
            (Some(pair), None) | (None, Some(pair)) => pair,
            (Some(colon), Some(equals)) if colon.0.len() < equals.0.len() => colon,
            (Some(_), Some(equals)) => equals,
            (None, None) => return Ok(()),
        };
        self.named(name, text.trim())
    }

    fn named(&mut self, name: &str, text: &str) -> Result<(), String> {
        let count = || whole(name, text);
        let ms = || decimal(name, text);
        match name {
            "transaction type" if text != "multiple scripts" => {
                self.scripts.push((script(text), None));
            }
            "number of clients" => self.clients = Some(count()?),
            "number of threads" => self.threads = Some(count()?),
            "maximum number of tries" => self.tries = Some(count()?),
            "number of transactions actually processed" => self.processed = Some(count()?),
            "number of failed transactions" => self.failed = Some(count()?),
            "number of serialization failures" => self.error("serialization", count()?),
            "number of deadlock failures" => self.error("deadlock", count()?),
            "number of transactions retried" => self.retried = Some(count()?),
            "total number of retries" => self.retries = Some(count()?),
            "number of transactions skipped" => self.skipped = Some(count()?),
            "latency average" => self.latency_ms = Some(ms()?),
            "latency stddev" => self.stddev_ms = Some(ms()?),
            "rate limit schedule lag" => {
                self.lag_ms = Some(decimal(name, text.trim_start_matches("avg "))?);
            }
            "average connection time" => self.reconnects = true,
            "transaction type"
            | "scaling factor"
            | "query mode"
            | "duration"
            | "partition method"
            | "partitions"
            | "number of transactions per client"
            | "initial connection time" => {}
            _ => match name.strip_prefix("number of transactions above the ") {
                Some(limit) => {
                    self.limit_ms = Some(decimal("latency limit", limit)?);
                    self.late = Some(count()?);
                }
                // Progress, and what else may have been printed around the report.
                None => return Ok(()),
            },
        }
        self.header.insert(name.to_string(), text.to_string());
        Ok(())
    }

    fn error(&mut self, name: &str, count: u64) {
        if count > 0 {
            self.errors.insert(name.to_string(), count);
        }
    }

    /// `- 123 transactions (49.0% of total, tps = 60.1)`, and what else is told of a script.
    fn of_script(&mut self, line: &str) -> Result<(), String> {
        if let Some((count, _)) = line.split_once(" transactions (")
            && let Some((_, transactions)) = self.scripts.last_mut()
        {
            *transactions = Some(whole("transactions", count)?);
        }
        Ok(())
    }

    /// Of two lines the one without the time of the connections.
    fn rate(&mut self, rest: &str) -> Result<(), String> {
        let tps = decimal("tps", rest)?;
        if self.tps.is_none() || rest.contains("excluding") || rest.contains("without") {
            self.tps = Some(tps);
        }
        Ok(())
    }
}

/// `15.3 (Debian 15.3-1))` or `17.0, server 15.3)`.
fn version(rest: &str) -> Option<String> {
    let rest = rest
        .rsplit_once("server ")
        .map_or(rest, |(_, server)| server);
    let word = rest.split([' ', ',', ')']).next()?;
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| word.to_string())
}

fn script(name: &str) -> String {
    let inner = name.trim_start_matches("<builtin: ").trim_end_matches('>');
    let builtin = BUILTIN.iter().find(|(theirs, _)| *theirs == inner);
    builtin.map_or(name, |(_, ours)| ours).to_string()
}

/// The number that a text begins with: `40/40`, `5 (12.500%)`.
fn whole(name: &str, text: &str) -> Result<u64, String> {
    let digits = text.split(['/', ' ']).next().unwrap_or_default();
    digits
        .parse()
        .map_err(|_| format!("{name}: '{text}' does not begin with a whole number"))
}

fn decimal(name: &str, text: &str) -> Result<f64, String> {
    let word = text.split(' ').next().unwrap_or_default();
    let value = word
        .parse::<f64>()
        .ok()
        .filter(|v| v.is_finite() && *v >= 0.0);
    value.ok_or_else(|| format!("{name}: '{text}' does not begin with a number"))
}

/// `0.123  0  UPDATE …`, or without the failures, as versions before 15 print it.
fn statement(line: &str) -> Option<(String, f64)> {
    let (ms, rest) = line.split_once(' ')?;
    let ms = ms.parse().ok()?;
    let rest = rest.trim_start();
    let text = match rest.split_once(' ') {
        Some((failures, text)) if failures.parse::<u64>().is_ok() => text.trim_start(),
        _ => rest,
    };
    Some((text.to_string(), ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
starting vacuum...end.
transaction type: TPC-B (sort of)
scaling factor: 10
query mode: simple
number of clients: 8
number of threads: 2
number of transactions per client: 1000
number of transactions actually processed: 8000/8000
latency average: 5.123 ms
latency stddev: 1.5 ms
tps = 1501.1 (including connections establishing)
tps = 1510.5 (excluding connections establishing)
statement latencies in milliseconds:
\t0.002  \\set naccounts 100000 * :scale
\t0.123  BEGIN;
";

    #[test]
    fn reports_of_old_versions_are_read() {
        assert!(is_one(OLD) && !is_one("tps = 1\n"));
        let (report, bad) = Report::read(OLD);
        assert!(bad.is_empty(), "{bad:?}");
        assert_eq!(report.scripts, [("tpcb-like".to_string(), None)]);
        assert_eq!(report.tps, Some(1510.5));
        assert_eq!(
            (report.processed, report.latency_ms),
            (Some(8000), Some(5.123))
        );
        assert_eq!(report.statements.len(), 2);
        assert_eq!(report.statements[1], ("BEGIN;".to_string(), 0.123));
        assert!(!report.is_scheduled() && report.version.is_none());
    }

    #[test]
    fn lines_that_cannot_be_read_are_told() {
        let text = OLD.replace("number of clients: 8", "number of clients: many");
        let (report, bad) = Report::read(&text);
        assert_eq!(bad.len(), 1);
        assert_eq!(bad[0].0, 5);
        assert!(bad[0].1.contains("'many'"), "{bad:?}");
        assert_eq!(report.threads, Some(2));
        let cut: String = OLD.lines().take(9).map(|l| format!("{l}\n")).collect();
        assert!(Report::read(&cut).1[0].1.contains("cut"));
    }

    #[test]
    fn versions_are_the_servers_where_it_is_told() {
        assert_eq!(version("15.3 (Debian 15.3-1))").as_deref(), Some("15.3"));
        assert_eq!(version("17.0, server 15.3)").as_deref(), Some("15.3"));
        assert_eq!(version("devel)"), None);
    }
}
