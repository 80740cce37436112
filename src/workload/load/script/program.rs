//! One compiled script.

use super::command::{Command, Kind, Shell, Span};
use super::error::{ScriptError, Source};
use super::expr::Expr;
use super::flow;
use super::meta;
use super::mix::AUTOMATIC;
use super::names::{Names, VarId};
use super::scan::{Ending, Scanner};
use super::statement::{Keep, Statement};

/// One compiled script; it does not change and is shared by all clients.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    text: String,
    statements: Vec<Statement>,
    pub(super) names: Names,
    pub(super) steps: Vec<Step>,
    uses_pipeline: bool,
    uses_shell: bool,
}

/// One instruction, and where its command begins in the text.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub at: usize,
    /// The number of the command, from 0, as `debug()` tells it.
    pub command: usize,
    pub act: Act,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Send(usize),
    Set(VarId, Expr),
    SetString(VarId, String),
    /// Goes on at the given step unless the expression is true.
    Unless(Expr, usize),
    Jump(usize),
    Sleep(Span),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    Shell(Shell),
}

impl Act {
    /// The variable that it sets.
    pub fn sets(&self) -> Option<VarId> {
        match self {
            Act::Set(var, _) | Act::SetString(var, _) => Some(*var),
            Act::Shell(shell) => shell.into,
            _ => None,
        }
    }
}

impl Program {
    /// Compiles a script. `name` is how errors call it.
    ///
    /// Statements that consist of comments and semicolons alone are dropped.
    ///
    /// # Errors
    /// Whatever is wrong with the script in itself, with its place.
    pub fn parse(name: &str, text: &str) -> Result<Program, ScriptError> {
        let source = Source { name, text };
        if let Some(at) = text.find('\0') {
            return Err(source.error(at, "the script holds a NUL character"));
        }
        let mut names = Names::default();
        let (commands, mut statements) = read(source, &mut names)?;
        if statements.is_empty() {
            return Err(ScriptError::whole(name, "the script has no SQL statement"));
        }
        let steps = flow::steps(source, &commands)?;
        flow::check_pipelines(source, &steps, &statements)?;
        for statement in &mut statements {
            statement.settle(|var| {
                AUTOMATIC.contains(&names.name(var))
                    || steps.iter().any(|step| step.act.sets() == Some(var))
            });
        }
        let any = |test: fn(&Act) -> bool| steps.iter().any(|step| test(&step.act));
        Ok(Program {
            uses_pipeline: any(|act| matches!(act, Act::StartPipeline)),
            uses_shell: any(|act| matches!(act, Act::Shell(_))),
            name: name.to_string(),
            text: text.to_string(),
            statements,
            names,
            steps,
        })
    }

    /// As [`parse`](Self::parse), from the bytes of a file.
    ///
    /// # Errors
    /// Also when they are no UTF-8.
    pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Program, ScriptError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Program::parse(name, text),
            Err(error) => {
                let valid = &bytes[..error.valid_up_to()];
                let text = String::from_utf8_lossy(valid);
                let source = Source { name, text: &text };
                Err(source.error(text.len(), "the script is not UTF-8 from here on"))
            }
        }
    }

    /// How errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The statements in order of their appearance.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Whether it needs an engine that can send statements before answers come.
    pub fn uses_pipeline(&self) -> bool {
        self.uses_pipeline
    }

    /// Whether it waits for something else than answers.
    pub fn waits(&self) -> bool {
        let steps = self.steps.iter();
        steps
            .map(|step| &step.act)
            .any(|act| matches!(act, Act::Sleep(_) | Act::Shell(_)))
    }

    /// Whether it starts programs.
    pub fn uses_shell(&self) -> bool {
        self.uses_shell
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source {
            name: &self.name,
            text: &self.text,
        }
    }
}

/// The commands of a script in order, and its statements.
pub(super) fn read(
    source: Source<'_>,
    names: &mut Names,
) -> Result<(Vec<Command>, Vec<Statement>), ScriptError> {
    let mut scanner = Scanner::new(source);
    let (mut commands, mut statements) = (Vec::new(), Vec::new());
    loop {
        let (raw, ending) = scanner.statement()?;
        if raw.says_something {
            let at = raw.at;
            commands.push(Command {
                at,
                kind: Kind::Sql(statements.len()),
            });
            statements.push(Statement::new(raw, source.line(at), names));
        }
        match ending {
            Ending::Semicolon => {}
            Ending::End => return Ok((commands, statements)),
            Ending::Backslash => {
                let at = scanner.at;
                let (kind, next) = meta::command(source, at, names)?;
                scanner.at = next;
                match kind {
                    None => {}
                    Some(Kind::Keep { all, prefix }) => {
                        let before = commands.last().map(|c| &c.kind);
                        let statement = match before {
                            Some(Kind::Sql(n)) => statements.get_mut(*n),
                            _ => None,
                        };
                        keep(statement, all, prefix).map_err(|wrong| source.error(at, wrong))?;
                    }
                    Some(kind) => commands.push(Command { at, kind }),
                }
            }
        }
    }
}

fn keep(statement: Option<&mut Statement>, all: bool, prefix: String) -> Result<(), String> {
    let (name, keep) = if all {
        ("aset", Keep::All)
    } else {
        ("gset", Keep::One)
    };
    match statement {
        Some(statement) if statement.keep == Keep::Nothing => {
            (statement.keep, statement.prefix) = (keep, prefix);
            Ok(())
        }
        _ => Err(format!("\\{name} must follow an SQL statement")),
    }
}
