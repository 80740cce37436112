//! What a script consists of, in its own order and form.

use super::expr::Expr;
use super::names::VarId;

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
