//! The language as a whole.

mod builtins;
mod calculation;
mod errors;
mod machines;
mod print_and_parse;
mod statements;
mod sysbench;

use std::sync::Arc;

use super::{Action, Machine, Mix, Program, RunError, Setup};

pub(super) fn program(text: &str) -> Program {
    Program::parse("x.sql", text).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn setup(defines: &[(&str, &str)]) -> Setup {
    let defines = defines.iter();
    Setup {
        client_id: 3,
        scale: 2,
        random_seed: 42,
        defines: defines
            .map(|(n, v)| (n.to_string(), v.to_string()))
            .collect(),
    }
}

pub(super) fn machine(text: &str, defines: &[(&str, &str)]) -> Machine {
    let mix = Mix::of(program(text)).unwrap();
    Machine::new(&setup(defines), Arc::new(mix))
}

/// One transaction: what is sent, with the values written in, and what else is done.
pub(super) fn transaction(machine: &mut Machine) -> Result<Vec<String>, RunError> {
    machine.begin();
    rest(machine)
}

/// What is left of a transaction.
pub(super) fn rest(machine: &mut Machine) -> Result<Vec<String>, RunError> {
    let mut done = Vec::new();
    loop {
        match machine.next()? {
            Action::Send(_) => {
                let mut text = String::new();
                machine.simple_text(&mut text);
                done.push(text);
            }
            Action::Shell => {
                let mut line = String::new();
                if machine.shell_command(&mut line)? {
                    machine.shell_output("17\n")?;
                }
                done.push(format!("shell: {line}"));
            }
            Action::Finished => return Ok(done),
            other => done.push(format!("{other:?}")),
        }
    }
}

/// What one run of a script sends.
pub(super) fn sent(text: &str) -> Vec<String> {
    let mut machine = machine(text, &[]);
    transaction(&mut machine).unwrap_or_else(|error| panic!("{error}"))
}
