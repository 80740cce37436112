//! A client's script machine in the form in which a driver wants it.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::catalogue::Shared;
use super::script::{self, Action, Machine, RunError};
use crate::engine::{Param, Table};
use crate::error::{Context, Error, Result, bail};
use crate::sql::Dialect;

/// What a script does next.
pub(super) enum Move {
    Send,
    Sleep(Duration),
    OpenPipeline,
    SyncPipeline,
    ClosePipeline,
    Finished,
}

#[cold]
fn stuck(error: RunError) -> Error {
    Error::msg(error.to_string())
}

/// One client's machine.
pub(super) struct Player {
    machine: Machine,
    shared: Arc<Shared>,
    /// The number of the statement that is to be sent.
    statement: usize,
    text: String,
}

/// Statements with more values than this cost an allocation each time.
const USUAL_PARAMS: usize = 16;

impl Player {
    /// At the beginning of its first transaction.
    pub fn new(machine: Machine, shared: Arc<Shared>) -> Self {
        Player {
            machine,
            shared,
            statement: 0,
            text: String::new(),
        }
    }

    /// Chooses the script of the next transaction.
    #[inline]
    pub fn begin(&mut self) {
        self.machine.begin();
    }

    /// Starts the transaction over, with the same values.
    pub fn retry(&mut self) {
        self.machine.retry();
    }

    /// Runs up to the next thing that must be done outside.
    ///
    /// # Errors
    /// A script that cannot go on.
    #[inline]
    pub fn next(&mut self) -> Result<Move> {
        loop {
            return Ok(match self.machine.next().map_err(stuck)? {
                Action::Send(number) => {
                    self.statement = self.shared.first[self.machine.script()] + number;
                    Move::Send
                }
                Action::Sleep(time) => Move::Sleep(time),
                Action::StartPipeline => Move::OpenPipeline,
                Action::SyncPipeline => Move::SyncPipeline,
                Action::EndPipeline => Move::ClosePipeline,
                Action::Finished => {
                    // What debug() prints goes to the worker's log.
                    self.machine.printed().for_each(|line| eprintln!("{line}"));
                    Move::Finished
                }
                Action::Shell => {
                    self.shell()?;
                    continue;
                }
            });
        }
    }

    #[cold]
    fn shell(&mut self) -> Result<()> {
        let mut line = String::new();
        let wanted = self.machine.shell_command(&mut line).map_err(stuck)?;
        let output = Command::new("/bin/sh")
            .arg("-c")
            .arg(&line)
            .output()
            .with_context(|| format!("cannot run '{line}'"))?;
        if !output.status.success() {
            bail!("the command '{line}' failed: {}", output.status);
        }
        if wanted {
            let text = String::from_utf8_lossy(&output.stdout);
            let first = text.lines().next().unwrap_or_default();
            self.machine.shell_output(first).map_err(stuck)?;
        }
        Ok(())
    }

    /// The script that runs, by its place in the mix.
    #[inline]
    pub fn script(&self) -> usize {
        self.machine.script()
    }

    /// The number of the statement that is to be sent.
    #[inline]
    pub fn statement(&self) -> usize {
        self.statement
    }

    /// Its text with its values, for messages.
    pub fn statement_text(&self) -> String {
        let mut text = String::new();
        self.machine.simple_text(&mut text);
        text
    }

    /// Whether a key that exists already means that the transaction may be tried again.
    pub fn retries_duplicates(&self) -> bool {
        self.shared.retries_duplicates[self.machine.script()]
    }

    /// Whether the statement's results are to be given to [`received`](Self::received).
    #[inline]
    pub fn wants_rows(&self) -> bool {
        self.shared.statements[self.statement].keeps_rows
    }

    /// Takes the results of the statement.
    ///
    /// # Errors
    /// `\gset` did not get one row.
    pub fn received(&mut self, results: &[Table]) -> Result<()> {
        for (number, table) in results.iter().enumerate() {
            let last = number + 1 == results.len();
            let row = table.rows.last().into_iter().flatten();
            let columns = table.columns.iter().map(String::as_str);
            let fields = columns.zip(row.map(|field| field.as_deref()));
            self.machine
                .received(table.rows.len() as u64, last, fields)
                .map_err(stuck)?;
        }
        Ok(())
    }

    /// The statement's text with its values.
    #[inline]
    pub fn simple_text(&mut self) -> &str {
        if let Some(instead) = self.shared.statements[self.statement].instead {
            return instead;
        }
        self.text.clear();
        self.machine.simple_text(&mut self.text);
        &self.text
    }

    /// The values of the statement's parameters.
    #[inline]
    pub fn params(&self) -> impl Iterator<Item = Param<'_>> {
        let postgres = self.shared.dialect == Dialect::Postgres;
        self.machine.params().map(move |param| match param {
            script::Param::Null => Param::Null,
            script::Param::Int(value) => Param::Int(value),
            script::Param::Double(value) => Param::Float(value),
            script::Param::Text(text) => Param::Text(text),
            script::Param::Bool(true) if postgres => Param::Text("true"),
            script::Param::Bool(false) if postgres => Param::Text("false"),
            script::Param::Bool(value) => Param::Int(i64::from(value)),
        })
    }

    /// The same, side by side.
    #[inline]
    pub fn with_params<R>(&self, f: impl FnOnce(&[Param<'_>]) -> R) -> R {
        let count = self.machine.params().len();
        if count > USUAL_PARAMS {
            let all: Vec<Param<'_>> = self.params().collect();
            return f(&all);
        }
        let mut few = [Param::Null; USUAL_PARAMS];
        for (place, param) in few.iter_mut().zip(self.params()) {
            *place = param;
        }
        f(&few[..count])
    }
}
