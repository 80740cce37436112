//! What a script consists of, in its own order and form.

use std::fmt;

use super::expr::Expr;
use super::names::{Names, VarId};

/// One statement or backslash command, and where it begins in the text.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub at: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// The statement of this number.
    Sql(usize),
    Set(VarId, Expr),
    SetString(VarId, String),
    If(Expr),
    Elif(Expr),
    Else,
    Endif,
    Sleep(Span),
    /// To be merged into the statement before it.
    Keep {
        all: bool,
        prefix: String,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    Shell(Shell),
}

/// How long `\sleep` sleeps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub amount: Amount,
    pub unit: Unit,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Amount {
    Fixed(i64),
    Var(VarId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Micros,
    Millis,
    Seconds,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Micros => "us",
            Unit::Millis => "ms",
            Unit::Seconds => "s",
        }
    }

    pub fn micros(self) -> i64 {
        match self {
            Unit::Micros => 1,
            Unit::Millis => 1000,
            Unit::Seconds => 1_000_000,
        }
    }
}

/// `\shell` and `\setshell`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shell {
    /// The variable that takes the first line of output.
    pub into: Option<VarId>,
    pub words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Text(String),
    Var(VarId),
}

/// A backslash command with the names of its variables, in a form that reads back.
pub(super) struct Shown<'a> {
    pub kind: &'a Kind,
    pub names: &'a Names,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names;
        match self.kind {
            Kind::Sql(number) => write!(f, "-- statement {number}"),
            Kind::Set(var, expr) => {
                write!(f, "\\set {} {}", names.name(*var), expr.with(names))
            }
            Kind::SetString(var, text) => {
                write!(f, "\\setstring {} {text}", names.name(*var))
            }
            Kind::If(expr) => write!(f, "\\if {}", expr.with(names)),
            Kind::Elif(expr) => write!(f, "\\elif {}", expr.with(names)),
            Kind::Else => f.write_str("\\else"),
            Kind::Endif => f.write_str("\\endif"),
            Kind::Sleep(span) => {
                let unit = span.unit.name();
                match span.amount {
                    Amount::Fixed(n) => write!(f, "\\sleep {n} {unit}"),
                    Amount::Var(var) => write!(f, "\\sleep :{} {unit}", names.name(var)),
                }
            }
            Kind::Keep { all, prefix } => {
                let name = if *all { "aset" } else { "gset" };
                write!(f, "\\{name} {prefix}")
            }
            Kind::StartPipeline => f.write_str("\\startpipeline"),
            Kind::SyncPipeline => f.write_str("\\syncpipeline"),
            Kind::EndPipeline => f.write_str("\\endpipeline"),
            Kind::Shell(shell) => {
                match shell.into {
                    Some(var) => write!(f, "\\setshell {}", names.name(var))?,
                    None => f.write_str("\\shell")?,
                }
                shell.words.iter().try_for_each(|word| match word {
                    Word::Text(text) if text.starts_with(':') => write!(f, " :{text}"),
                    Word::Text(text) => write!(f, " {text}"),
                    Word::Var(var) => write!(f, " :{}", names.name(*var)),
                })
            }
        }
    }
}
