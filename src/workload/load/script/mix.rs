//! The scripts of a load and their weights.

use std::sync::Arc;

use super::command::{Amount, Word};
use super::error::ScriptError;
use super::names::{Names, VarId, is_name};
use super::program::{Act, Program, Step};
use super::statement::{Keep, Spot, Statement};

/// The variables that every client has.
pub(super) const AUTOMATIC: [&str; 4] = ["client_id", "default_seed", "random_seed", "scale"];

/// How the values of variables reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Written into the statement's text: `-M simple`.
    InText,
    /// As parameters: `-M extended` and `-M prepared`.
    AsParams,
}

/// The scripts of a load, chosen by weight; one client's variables are common to all.
#[derive(Clone, Debug)]
pub struct Mix {
    pub(super) parts: Vec<Part>,
    pub(super) names: Names,
    total: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Part {
    pub program: Arc<Program>,
    pub weight: u64,
    /// The variables of the program among those of the mix.
    pub map: Vec<VarId>,
}

impl Mix {
    /// Scripts with their weights.
    ///
    /// # Errors
    /// No script, a weight of 0, or weights whose sum is out of range.
    pub fn new(scripts: Vec<(Arc<Program>, u64)>) -> Result<Mix, ScriptError> {
        let mut mix = Mix {
            parts: Vec::new(),
            names: Names::default(),
            total: 0,
        };
        for name in AUTOMATIC {
            mix.names.number(name);
        }
        for (program, weight) in scripts {
            let wrong = |message: &str| Err(ScriptError::whole(program.name(), message));
            if weight == 0 {
                return wrong("the weight is 0; leave the script out, or give it 1 or more");
            }
            let Some(total) = mix.total.checked_add(weight) else {
                return wrong("the sum of the weights is out of range");
            };
            mix.total = total;
            let names = program.names.iter();
            let map = names.map(|(_, name)| mix.names.number(name)).collect();
            mix.parts.push(Part {
                program,
                weight,
                map,
            });
        }
        if mix.parts.is_empty() {
            return Err(ScriptError::whole("load", "there is no script to run"));
        }
        Ok(mix)
    }

    /// The mix of one script.
    ///
    /// # Errors
    /// None in practice: a script has a weight of 1 here.
    pub fn of(program: Program) -> Result<Mix, ScriptError> {
        Mix::new(vec![(Arc::new(program), 1)])
    }

    /// How many scripts there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Never: a mix has a script.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The script of this index, in the order given.
    pub fn program(&self, index: usize) -> &Program {
        &self.parts[index].program
    }

    /// The weight of a script, and the sum of all.
    pub fn weight(&self, index: usize) -> (u64, u64) {
        (self.parts[index].weight, self.total)
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Finds, before the run, variables that no script, no automatic variable and no
    /// `-D` sets, and variables that cannot be parameters.
    ///
    /// pgbench meets the first in expressions when it evaluates them, and sends NULL for
    /// those in prepared statements; in a text it leaves them, as we do.
    ///
    /// # Errors
    /// The first of them, with its place; a `-D` whose name cannot be a variable's.
    pub fn check(&self, values: Values, defines: &[(String, String)]) -> Result<(), ScriptError> {
        let known = Known::new(self, defines)?;
        for part in &self.parts {
            let program = part.program.as_ref();
            for step in &program.steps {
                known.check_step(program, step)?;
                if let (Act::Send(n), Values::AsParams) = (&step.act, values) {
                    known.check_params(program, &program.statements()[*n])?;
                }
            }
        }
        Ok(())
    }
}

/// What is set somewhere.
struct Known<'a> {
    names: Vec<&'a str>,
    /// `\gset` and `\aset` set names with these prefixes, known only when they run.
    prefixes: Vec<&'a str>,
}

impl<'a> Known<'a> {
    fn new(mix: &'a Mix, defines: &'a [(String, String)]) -> Result<Self, ScriptError> {
        let (mut names, mut prefixes) = (AUTOMATIC.to_vec(), Vec::new());
        for (name, _) in defines {
            if !is_name(name) {
                let wrong = format!("'{name}' is no name for a variable");
                return Err(ScriptError::whole("-D", wrong));
            }
            names.push(name);
        }
        for part in &mix.parts {
            let program = part.program.as_ref();
            let acts = program.steps.iter().map(|step| &step.act);
            names.extend(
                acts.filter_map(Act::sets)
                    .map(|var| program.names.name(var)),
            );
            let kept = program.statements().iter();
            let kept = kept.filter(|s| s.keep != Keep::Nothing);
            prefixes.extend(kept.map(|s| s.prefix.as_str()));
        }
        Ok(Known { names, prefixes })
    }

    /// Whether something may set it.
    fn has(&self, name: &str) -> bool {
        self.sets(name) || self.prefixes.iter().any(|p| name.starts_with(p))
    }

    /// Whether something sets it by name.
    fn sets(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    fn check_step(&self, program: &Program, step: &Step) -> Result<(), ScriptError> {
        let unknown = reads(&step.act)
            .into_iter()
            .map(|var| program.names.name(var))
            .find(|name| !self.has(name));
        match unknown {
            None => Ok(()),
            Some(name) => {
                let source = program.source();
                let place = source.text[step.at..].find(&format!(":{name}"));
                let wrong = format!("nothing sets the variable '{name}'; \\set it or give -D");
                Err(source.error(step.at + place.unwrap_or(0), wrong))
            }
        }
    }

    fn check_params(&self, program: &Program, statement: &Statement) -> Result<(), ScriptError> {
        for reference in &statement.references {
            let name = program.names.name(reference.var);
            let wrong = match reference.spot {
                Spot::Free if !self.has(name) => {
                    format!("nothing sets the variable '{name}'; \\set it or give -D")
                }
                Spot::Quoted if self.sets(name) => format!(
                    "the variable '{name}' stands in quotes and cannot be a parameter; \
                     use -M simple, or take it out of them"
                ),
                Spot::Glued if self.sets(name) => format!(
                    "the variable '{name}' is part of a word and cannot be a parameter; \
                     use -M simple"
                ),
                _ => continue,
            };
            let source = program.source();
            let place = source.text[statement.at..].find(&format!(":{name}"));
            return Err(source.error(statement.at + place.unwrap_or(0), wrong));
        }
        Ok(())
    }
}

/// The variables that a step reads itself.
fn reads(act: &Act) -> Vec<VarId> {
    let mut read = Vec::new();
    match act {
        Act::Set(_, expr) | Act::Unless(expr, _) => expr.variables(&mut read),
        Act::Sleep(span) => {
            if let Amount::Var(var) = span.amount {
                read.push(var);
            }
        }
        Act::Shell(shell) => read.extend(shell.words.iter().filter_map(|word| match word {
            Word::Var(var) => Some(*var),
            Word::Text(_) => None,
        })),
        _ => {}
    }
    read
}

/// `FILE@WEIGHT` or `NAME@WEIGHT`, as `-f` and `-b` take it; without `@`, 1.
///
/// # Errors
/// A weight that is no whole number, or 0.
pub fn split_weight(given: &str) -> Result<(&str, u64), ScriptError> {
    let Some((name, weight)) = given.rsplit_once('@') else {
        return Ok((given, 1));
    };
    let wrong = |message: String| Err(ScriptError::whole(name, message));
    match weight.parse::<u32>() {
        Ok(0) => wrong("the weight is 0; leave the script out, or give it 1 or more".into()),
        Ok(weight) => Ok((name, u64::from(weight))),
        Err(_) => wrong(format!("'{weight}' is no weight; a whole number is")),
    }
}
