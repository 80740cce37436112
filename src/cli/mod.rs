//! The command line: what was typed ([`args`]), what it means on this machine
//! ([`resolve`]), and the commands.

mod args;
mod beside;
mod commands;
mod compare;
mod doctor;
mod duets;
mod files;
mod import;
mod key_args;
mod load_args;
mod load_plan;
mod manual;
mod memory;
mod on;
mod plan_file;
mod planning;
mod resolve;
mod resume;
mod show;

use clap::Parser;
use clap::error::ErrorKind;

use crate::error::{Error, Usage, one_line};
use crate::host::interrupt::Interrupted;

/// Everything was measured.
pub const ALL_MEASURED: u8 = 0;
/// It ran, but a case failed, one asked for by name was skipped, or `--fail-on` was hit.
pub const SOME_FAILED: u8 = 1;
/// It could not run: usage, environment, results cannot be saved.
pub const COULD_NOT_RUN: u8 = 2;
/// A signal ended it; what had been measured is saved.
pub const INTERRUPTED: u8 = 130;

/// Parses the command line, does what it says and gives the exit code.
pub fn main() -> u8 {
    let line: Vec<_> = std::env::args_os().collect();
    let args = match args::Args::try_parse_from(&line) {
        Ok(args) => args,
        Err(error) => {
            let code = match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ALL_MEASURED,
                _ => COULD_NOT_RUN,
            };
            let _unread = error.print();
            return code;
        }
    };
    let done = plan_file::settled(args, line).and_then(|args| commands::perform(args.command));
    match done {
        Ok(code) => code,
        Err(error) => report(&error),
    }
}

fn report(error: &Error) -> u8 {
    if error
        .chain()
        .any(|e| e.downcast_ref::<std::io::Error>().is_some_and(closed))
    {
        // Whoever read our output (a pager, `head`) has seen enough.
        return ALL_MEASURED;
    }
    eprintln!("mountmark: {}", one_line(error));
    if error.is::<Usage>() {
        eprintln!("mountmark: see 'mountmark --help'");
    }
    match error.is::<Interrupted>() {
        true => INTERRUPTED,
        false => COULD_NOT_RUN,
    }
}

fn closed(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}
