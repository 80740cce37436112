//! One client: a program counter over the steps of its script. It does no I/O and reads
//! no clock: it says what is to be done, and is told what came back.

use std::sync::Arc;
use std::time::Duration;

use super::command::{Amount, Span};
use super::error::RunError;
use super::eval::evaluate;
use super::memory::{Memory, Setup, View};
use super::mix::{Mix, Part};
use super::program::Act;
use super::random::Rng;
use super::statement::{Keep, Statement};
use super::value::Param;

/// What is to be done outside before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the statement of this index of the current program; outside of a pipeline,
    /// await its answer. Its values are read with [`Machine::params`] or
    /// [`Machine::simple_text`] now: they change with the next step.
    Send(usize),
    /// Wait that long; not counted as work.
    Sleep(Duration),
    /// Answers need not be awaited from here on.
    StartPipeline,
    /// Send a synchronisation point; the pipeline goes on.
    SyncPipeline,
    /// Await all answers; back to one statement at a time.
    EndPipeline,
    /// Run [`Machine::shell_command`].
    Shell,
    /// The transaction is over.
    Finished,
}

/// One client: its variables, its random numbers, its place in the script.
///
/// ```text
/// loop {
///     let script = machine.begin();
///     while let action = machine.next()? { … until Finished; retry() starts over }
/// }
/// ```
/// Nothing is allocated from step to step once every script has run.
#[derive(Debug)]
pub struct Machine {
    pub(super) mix: Arc<Mix>,
    pub(super) memory: Memory,
    /// Chooses scripts; apart, so that a retry does not disturb it.
    choice: Rng,
    pub(super) script: usize,
    /// The next step.
    pub(super) next: usize,
    /// The statement sent last.
    pub(super) statement: usize,
    in_pipeline: bool,
    /// For names of columns with their prefix.
    pub(super) name: String,
}

impl Machine {
    /// A client at the beginning of the first transaction.
    pub fn new(setup: &Setup, mix: Arc<Mix>) -> Machine {
        Machine {
            memory: Memory::new(setup, &mix),
            choice: Rng::new(setup.random_seed, (setup.client_id as u64) << 1 | 1),
            mix,
            script: 0,
            next: 0,
            statement: 0,
            in_pipeline: false,
            name: String::new(),
        }
    }

    /// Chooses the script of the next transaction by weight and returns its index.
    pub fn begin(&mut self) -> usize {
        if self.mix.len() > 1 {
            let mut drawn = self.choice.below(self.mix.total());
            let weights = self.mix.parts.iter().map(|part| part.weight);
            self.script = 0;
            for weight in weights {
                if drawn < weight {
                    break;
                }
                drawn -= weight;
                self.script += 1;
            }
        }
        self.memory.save();
        self.restart();
        self.script
    }

    /// Starts the same transaction over, with the variables and the random state that it
    /// began with, so that it does the same again.
    pub fn retry(&mut self) {
        self.memory.restore();
        self.restart();
    }

    fn restart(&mut self) {
        self.next = 0;
        self.in_pipeline = false;
    }

    /// The index of the script that runs.
    pub fn script(&self) -> usize {
        self.script
    }

    /// Whether answers need not be awaited.
    pub fn in_pipeline(&self) -> bool {
        self.in_pipeline
    }

    pub(super) fn part(&self) -> &Part {
        &self.mix.parts[self.script]
    }

    /// The statement that was to be sent last.
    pub fn statement(&self) -> &Statement {
        &self.part().program.statements()[self.statement]
    }

    /// Runs up to the next thing that must be done outside.
    ///
    /// # Errors
    /// An expression fails, or a pipeline command comes at the wrong time. The client
    /// cannot go on.
    #[expect(
        clippy::should_implement_trait,
        reason = "it is no iterator: begin() and retry() set it back"
    )]
    pub fn next(&mut self) -> Result<Action, RunError> {
        match self.run() {
            Ok(action) => Ok(action),
            Err(message) => Err(self.failure(message)),
        }
    }

    fn run(&mut self) -> Result<Action, String> {
        let mix = self.mix.as_ref();
        let part = &mix.parts[self.script];
        let steps = &part.program.steps;
        loop {
            let Some(step) = steps.get(self.next) else {
                return match self.in_pipeline {
                    true => Err("the script ends inside a pipeline".into()),
                    false => Ok(Action::Finished),
                };
            };
            self.next += 1;
            let mut view = View {
                memory: &mut self.memory,
                map: &part.map,
                mix,
                script: self.script,
                command: step.command,
            };
            match &step.act {
                Act::Set(var, expr) => {
                    let value = evaluate(expr, &mut view)?;
                    let var = view.global(*var);
                    self.memory.set(var, value);
                }
                Act::Unless(expr, to) => {
                    if !evaluate(expr, &mut view)?.is_truthy() {
                        self.next = *to;
                    }
                }
                Act::Jump(to) => self.next = *to,
                Act::SetString(var, template) => fill(template, view.global(*var), view.memory),
                Act::Sleep(span) => return duration(span, &view).map(Action::Sleep),
                Act::Shell(_) => return Ok(Action::Shell),
                Act::Send(number) => {
                    self.statement = *number;
                    let kept = part.program.statements()[*number].keep != Keep::Nothing;
                    if self.in_pipeline && kept {
                        return Err("\\gset and \\aset cannot be used in a pipeline".into());
                    }
                    return Ok(Action::Send(*number));
                }
                Act::StartPipeline if self.in_pipeline => {
                    return Err("the pipeline is open already".into());
                }
                Act::StartPipeline => {
                    self.in_pipeline = true;
                    return Ok(Action::StartPipeline);
                }
                Act::SyncPipeline | Act::EndPipeline if !self.in_pipeline => {
                    return Err("no pipeline is open".into());
                }
                Act::SyncPipeline => return Ok(Action::SyncPipeline),
                Act::EndPipeline => {
                    self.in_pipeline = false;
                    return Ok(Action::EndPipeline);
                }
            }
        }
    }

    pub(super) fn failure(&self, message: String) -> RunError {
        let program = self.part().program.as_ref();
        let source = program.source();
        let last = self.next.saturating_sub(1);
        let at = program.steps.get(last).map_or(0, |step| step.at);
        RunError {
            script: program.name().to_string(),
            line: source.line(at),
            command: source.rest_of_line(at).trim_end().to_string(),
            message,
        }
    }

    /// The values of the statement's parameters, in order.
    pub fn params(&self) -> impl ExactSizeIterator<Item = Param<'_>> {
        let params = self.statement().params().iter();
        params.map(|var| self.value(*var))
    }

    /// The value of the parameter `index`, from 0.
    pub fn param(&self, index: usize) -> Param<'_> {
        self.value(self.statement().params()[index])
    }

    fn value(&self, var: super::VarId) -> Param<'_> {
        let var = self.part().map[var.index()];
        self.memory.get(var).unwrap_or(Param::Null)
    }

    /// Appends the statement's text with the values of its variables written in.
    pub fn simple_text(&self, out: &mut String) {
        let map = &self.part().map;
        self.statement()
            .write_simple(out, |var| self.memory.get(map[var.index()]));
    }

    /// Takes the lines that `debug()` wrote since the last call.
    pub fn printed(&mut self) -> impl Iterator<Item = String> {
        self.memory.printed.drain(..)
    }
}

/// Makes `var` a text like `template`, with a random digit for each `#` and a random
/// letter for each `@`.
fn fill(template: &str, var: super::VarId, memory: &mut Memory) {
    let mut text = std::mem::take(memory.text(var));
    text.extend(template.chars().map(|c| match c {
        '#' => char::from(b'0' + memory.rng.below(10) as u8),
        '@' => char::from(b'a' + memory.rng.below(26) as u8),
        other => other,
    }));
    *memory.text(var) = text;
}

fn duration(span: &Span, view: &View<'_>) -> Result<Duration, String> {
    let amount = match span.amount {
        Amount::Fixed(amount) => amount,
        Amount::Var(var) => {
            let var = view.global(var);
            let name = view.mix.names.name(var);
            let whole = match view.memory.get(var) {
                None => return Err(format!("the variable '{name}' has no value yet")),
                Some(Param::Int(n)) => Some(n),
                Some(Param::Double(d)) => Some(d as i64),
                Some(Param::Text(text)) => leading_integer(text),
                Some(Param::Null | Param::Bool(_)) => None,
            };
            whole.ok_or_else(|| format!("the variable '{name}' is no time to sleep"))?
        }
    };
    let micros = amount.saturating_mul(span.unit.micros());
    Ok(Duration::from_micros(micros.max(0) as u64))
}

/// The integer that begins a text.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit);
    text[..sign + digits.count()].parse().ok()
}
