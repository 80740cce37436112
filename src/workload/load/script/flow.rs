//! From commands to steps: conditionals become jumps; pipelines are followed.

use super::command::{Command, Kind};
use super::error::{ScriptError, Source};
use super::program::{Act, Step};
use super::statement::{Keep, Statement};

/// An `\if` whose `\endif` has not come yet.
struct Open {
    /// Where the `\if` is in the text.
    at: usize,
    /// The step that leaves the branch when its condition fails; none behind `\else`.
    branch: Option<usize>,
    /// The steps that jump behind the `\endif`.
    ends: Vec<usize>,
}

/// The steps of a script.
pub(super) fn steps(source: Source<'_>, commands: &[Command]) -> Result<Vec<Step>, ScriptError> {
    let mut lowering = Lowering::default();
    for (number, command) in commands.iter().enumerate() {
        lowering.number = number;
        lowering
            .lower(command)
            .map_err(|wrong| source.error(command.at, wrong))?;
    }
    match lowering.open.first() {
        Some(open) => Err(source.error(open.at, "\\if without its \\endif")),
        None => Ok(lowering.steps),
    }
}

#[derive(Default)]
struct Lowering {
    steps: Vec<Step>,
    open: Vec<Open>,
    number: usize,
}

impl Lowering {
    fn push(&mut self, at: usize, act: Act) {
        let command = self.number;
        self.steps.push(Step { at, command, act });
    }

    fn lower(&mut self, command: &Command) -> Result<(), &'static str> {
        let at = command.at;
        let act = match command.kind.clone() {
            Kind::If(condition) => {
                self.open.push(Open {
                    at,
                    branch: Some(self.steps.len()),
                    ends: Vec::new(),
                });
                Act::Unless(condition, usize::MAX)
            }
            Kind::Elif(condition) => {
                self.next_branch(at, "\\elif without an \\if", "\\elif behind \\else")?;
                let here = self.steps.len();
                if let Some(open) = self.open.last_mut() {
                    open.branch = Some(here);
                }
                Act::Unless(condition, usize::MAX)
            }
            Kind::Else => {
                return self.next_branch(at, "\\else without an \\if", "\\else behind \\else");
            }
            Kind::Endif => return self.endif(),
            Kind::Sql(number) => Act::Send(number),
            Kind::Set(var, expr) => Act::Set(var, expr),
            Kind::SetString(var, template) => Act::SetString(var, template),
            Kind::Sleep(span) => Act::Sleep(span),
            Kind::StartPipeline => Act::StartPipeline,
            Kind::SyncPipeline => Act::SyncPipeline,
            Kind::EndPipeline => Act::EndPipeline,
            Kind::Shell(shell) => Act::Shell(shell),
            Kind::Keep { .. } => return Ok(()),
        };
        self.push(at, act);
        Ok(())
    }

    /// Ends the branch before an `\elif` or `\else`.
    fn next_branch(
        &mut self,
        at: usize,
        without: &'static str,
        late: &'static str,
    ) -> Result<(), &'static str> {
        let here = self.steps.len();
        let open = self.open.last_mut().ok_or(without)?;
        let branch = open.branch.take().ok_or(late)?;
        open.ends.push(here);
        self.push(at, Act::Jump(usize::MAX));
        self.land(branch);
        Ok(())
    }

    fn endif(&mut self) -> Result<(), &'static str> {
        let open = self.open.pop().ok_or("\\endif without an \\if")?;
        open.branch
            .into_iter()
            .chain(open.ends)
            .for_each(|step| self.land(step));
        Ok(())
    }

    /// Lets a step jump to what comes next.
    fn land(&mut self, step: usize) {
        let here = self.steps.len();
        if let Act::Unless(_, to) | Act::Jump(to) = &mut self.steps[step].act {
            *to = here;
        }
    }
}

/// Whether a pipeline can be open, and whether it can be closed, at one step.
#[derive(Clone, Copy, Default, PartialEq)]
struct Pipeline {
    open: bool,
    closed: bool,
}

impl Pipeline {
    fn join(&mut self, other: Pipeline) {
        self.open |= other.open;
        self.closed |= other.closed;
    }
}

/// Refuses what fails on every path. What fails on some is found when it happens. All
/// jumps go forward, so one pass sees every path.
pub(super) fn check_pipelines(
    source: Source<'_>,
    steps: &[Step],
    statements: &[Statement],
) -> Result<(), ScriptError> {
    let mut at = vec![Pipeline::default(); steps.len() + 1];
    at[0].closed = true;
    for (n, step) in steps.iter().enumerate() {
        let before = at[n];
        let after = through(step, before, statements);
        let after = after.map_err(|wrong| source.error(step.at, wrong))?;
        match step.act {
            Act::Jump(to) => at[to].join(after),
            Act::Unless(_, to) => {
                at[to].join(after);
                at[n + 1].join(after);
            }
            _ => at[n + 1].join(after),
        }
    }
    let end = at[steps.len()];
    let start = steps.iter().rfind(|s| matches!(s.act, Act::StartPipeline));
    match start {
        Some(start) if end.open && !end.closed => {
            Err(source.error(start.at, "\\startpipeline without its \\endpipeline"))
        }
        _ => Ok(()),
    }
}

fn through(
    step: &Step,
    before: Pipeline,
    statements: &[Statement],
) -> Result<Pipeline, &'static str> {
    let only_open = before.open && !before.closed;
    let only_closed = before.closed && !before.open;
    let opened = Pipeline {
        open: true,
        closed: false,
    };
    let closed = Pipeline {
        open: false,
        closed: true,
    };
    match &step.act {
        Act::StartPipeline if only_open => Err("\\startpipeline inside a pipeline"),
        Act::StartPipeline => Ok(opened),
        Act::SyncPipeline if only_closed => Err("\\syncpipeline outside of a pipeline"),
        Act::EndPipeline if only_closed => Err("\\endpipeline outside of a pipeline"),
        Act::EndPipeline => Ok(closed),
        Act::Send(n) if only_open && statements[*n].keep != Keep::Nothing => {
            Err("\\gset and \\aset cannot be used in a pipeline: no result is there yet")
        }
        _ => Ok(before),
    }
}
