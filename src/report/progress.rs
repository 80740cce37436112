//! Progress while a run is made: one line that is rewritten on a terminal, plain lines
//! elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::load;
use crate::record::{CaseRecord, Outcome};
use crate::run::{Event, Observer};
use crate::units::{Bytes, seconds, span};
use crate::workload;

/// What both forms keep.
#[derive(Default)]
struct State {
    total: usize,
    done: usize,
    started: Option<Instant>,
    case: String,
    operation: String,
}

impl State {
    fn follow(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { measurements, .. } => {
                self.total = *measurements;
                self.started = Some(Instant::now());
            }
            Event::RoundAdded { measurements } => self.total += *measurements,
            Event::CaseStarted { name, .. } => {
                self.case.clone_from(name);
                self.operation.clear();
            }
            Event::Entered(stage) => self.operation = stage.to_string(),
            Event::Workload {
                event: workload::Event::OperationStarted { operation, .. },
                ..
            } => {
                self.operation.clone_from(operation);
            }
            Event::CaseFinished { .. } => self.done += 1,
            _ => {}
        }
    }

    /// What the remaining cases take if they take as long as those before.
    fn left(&self) -> Option<Duration> {
        let elapsed = self.started?.elapsed();
        (self.done > 0).then(|| elapsed / self.done as u32 * (self.total - self.done) as u32)
    }

    fn position(&self) -> String {
        format!("[{}/{}]", (self.done + 1).min(self.total), self.total)
    }
}

/// The result of a case in a few words.
fn outcome(record: &CaseRecord) -> String {
    match &record.outcome {
        Outcome::Measured if record.load.is_some() => load::outcome(record),
        Outcome::Measured => {
            let ends = || record.phases.iter().filter_map(|p| p.ends);
            let shown =
                |ns: Option<u64>| ns.map_or_else(|| "?".to_string(), |ns| seconds(ns as f64 / 1e9));
            match ends().next() {
                None => "measured".to_string(),
                Some(_) => format!(
                    "{} s returned, {} s flushed",
                    shown(Some(ends().map(|e| e.returned.wall_ns).sum())),
                    shown(ends().map(|e| Some(e.flushed?.wall_ns)).sum())
                ),
            }
        }
        Outcome::Failed { stage, causes, .. } => {
            format!("FAILED in {stage}: {}", causes.join(": "))
        }
        Outcome::Skipped { reason, .. } => format!("skipped: {reason}"),
        Outcome::Interrupted { stage } => format!("interrupted in {stage}"),
    }
}

/// A line a case.
#[derive(Default)]
pub struct Lines<W: Write> {
    state: State,
    out: W,
}

impl<W: Write> Lines<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Lines {
            state: State::default(),
            out,
        }
    }
}

impl<W: Write> Observer for Lines<W> {
    fn tell(&mut self, event: &Event<'_>) {
        let position = self.state.position();
        self.state.follow(event);
        let line = match event {
            Event::Note(text) => format!("note: {text}"),
            Event::Started { dir, .. } => format!("results go to {}", dir.display()),
            Event::Workload {
                event: workload::Event::LoadProgress(p),
                side,
            } => match side {
                None => load::progress(p),
                Some(name) => format!("{}; {name}", load::progress(p)),
            },
            Event::CaseFinished { name, record } => {
                let duet = record.duet.as_ref().map_or("", |_| " (in duet)");
                format!("{position} {name}{duet}: {}", outcome(record))
            }
            _ => return,
        };
        // A watcher that went away must not end the run.
        let _unread = writeln!(self.out, "{line}");
    }
}

/// One line, rewritten at each event.
pub struct StatusLine {
    lines: Lines<std::io::Stderr>,
}

impl StatusLine {
    /// On standard error, if that is a terminal.
    pub fn on_terminal() -> Option<Self> {
        let err = std::io::stderr();
        err.is_terminal().then(|| StatusLine {
            lines: Lines::new(err),
        })
    }
}

const CLEAR: &str = "\r\x1b[K";

impl Observer for StatusLine {
    fn tell(&mut self, event: &Event<'_>) {
        let mut err = std::io::stderr();
        let _unread = write!(err, "{CLEAR}");
        self.lines.tell(event);
        let state = &self.lines.state;
        let status = match event {
            Event::Image { written, size } => format!(
                "writing the image: {} of {}",
                Bytes(*written).human(),
                Bytes(*size).human()
            ),
            _ if state.total == 0 || state.done == state.total => return,
            _ => {
                let left = state
                    .left()
                    .map_or(String::new(), |left| format!(", about {} left", span(left)));
                format!(
                    "{} {}: {}{left}",
                    state.position(),
                    state.case,
                    state.operation
                )
            }
        };
        let columns = terminal_columns();
        let status: String = status.chars().take(columns.saturating_sub(1)).collect();
        let _unread = write!(err, "{status}");
        let _unread = err.flush();
    }
}

fn terminal_columns() -> usize {
    rustix::termios::tcgetwinsize(std::io::stderr())
        .map_or(80, |size| usize::from(size.ws_col).max(20))
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        let _unread = write!(std::io::stderr(), "{CLEAR}");
    }
}
