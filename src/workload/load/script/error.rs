//! What can be wrong with a script, before the run and during it.

use std::fmt;

/// A script that cannot be run: said before the run, with the place where it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The name of the script: a file, or a built-in.
    pub script: String,
    /// Where it is; `None` when the script as a whole is meant.
    pub place: Option<Place>,
    /// What is wrong, lower case, without a full stop.
    pub message: String,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The line itself, with blanks for tabs.
    pub shown: String,
}

impl ScriptError {
    /// An error of the script as a whole.
    pub(super) fn whole(script: &str, message: impl Into<String>) -> Self {
        ScriptError {
            script: script.to_string(),
            place: None,
            message: message.into(),
        }
    }
}

/// `FILE:LINE:COLUMN: message`, the line, and a `^` below the column.
impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = &self.place else {
            return write!(f, "{}: {}", self.script, self.message);
        };
        let (line, column) = (place.line, place.column);
        writeln!(f, "{}:{line}:{column}: {}", self.script, self.message)?;
        writeln!(f, "{}", place.shown)?;
        write!(f, "{:>column$}", '^')
    }
}

impl std::error::Error for ScriptError {}

/// A script that failed while it ran: the client cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The name of the script.
    pub script: String,
    /// The line of the command, from 1.
    pub line: usize,
    /// The first line of the command, as written.
    pub command: String,
    /// What went wrong, lower case, without a full stop.
    pub message: String,
}

/// `FILE:LINE: message: COMMAND`.
impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunError {
            script,
            line,
            command,
            message,
        } = self;
        write!(f, "{script}:{line}: {message} in `{command}`")
    }
}

impl std::error::Error for RunError {}

/// The text of a script, able to say where something is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// The line of the byte at `at`, from 1.
    pub fn line(&self, at: usize) -> usize {
        1 + self.text.as_bytes()[..at.min(self.text.len())]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
    }

    /// The text from `at` to the end of its line.
    pub fn rest_of_line(&self, at: usize) -> &'a str {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// An error about the byte at `at`.
    pub fn error(&self, at: usize, message: impl Into<String>) -> ScriptError {
        let at = at.min(self.text.len());
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        ScriptError {
            script: self.name.to_string(),
            place: Some(Place {
                line: self.line(at),
                column: 1 + self.text[start..at].chars().count(),
                shown: self.rest_of_line(start).replace('\t', " "),
            }),
            message: message.into(),
        }
    }
}
