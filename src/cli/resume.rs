//! `run --resume RUN`: the arguments of the stored run, unless others were typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{CommandFactory, Parser};

use super::args::{Args, Command, RunArgs};
use super::commands::find_run;
use crate::error::{Context, Result, anyhow, usage};
use crate::run;

/// Arguments that say how a run goes on, not what is measured.
const HOW: [&str; 4] = ["resume", "results", "destroy", "keep_on_failure"];

/// A run to go on with.
pub struct Resumed {
    /// Its directory.
    pub dir: PathBuf,
    /// Its name.
    pub id: String,
    /// What it measures.
    pub args: RunArgs,
}

/// What `typed`, with `--resume RUN`, means.
///
/// # Errors
/// No such run; one whose arguments cannot be read any more.
pub fn resume(typed: &RunArgs, name: &std::path::Path) -> Result<Resumed> {
    let dir = find_run(name, &typed.results)?;
    let run = run::stored(&dir)?;
    let given = says_what(typed.typed.line.clone());
    let mut args = match given {
        true => from_command_line(typed.typed.line.iter().skip(1).cloned().collect())?,
        false => from_command_line(without_destroy(&run.arguments))?,
    };
    if *args.seed.get_or_insert(run.plan.seed) != run.plan.seed {
        return Err(usage(format!(
            "run {} cannot be resumed: its seed is {}",
            run.id, run.plan.seed
        )));
    }
    args.destroy.clone_from(&typed.destroy);
    args.keep_on_failure |= typed.keep_on_failure;
    args.typed.clone_from(&typed.typed);
    Ok(Resumed {
        dir,
        id: run.id,
        args,
    })
}

/// Whether a command line says what is measured, beside how the run goes on.
fn says_what(line: impl IntoIterator<Item = OsString>) -> bool {
    let command = Args::command();
    let Ok(matches) = command.clone().try_get_matches_from(line) else {
        return false;
    };
    let run = command.find_subcommand("run");
    let all = run.into_iter().flat_map(|run| run.get_arguments());
    let mut what = all.filter(|arg| !HOW.contains(&arg.get_id().as_str()));
    matches.subcommand_matches("run").is_some_and(|typed| {
        what.any(|arg| typed.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
    })
}

/// What may be destroyed is typed, never read from a file.
fn without_destroy(arguments: &[String]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--destroy" => drop(rest.next()),
            text if text.starts_with("--destroy=") => {}
            text => kept.push(text.into()),
        }
    }
    kept
}

fn from_command_line(arguments: Vec<OsString>) -> Result<RunArgs> {
    let all = std::iter::once(OsString::from("mountmark")).chain(arguments);
    let args = Args::try_parse_from(all)
        .map_err(|error| anyhow!("{}", error.to_string().lines().next().unwrap_or_default()))
        .context("the arguments of the stored run are not understood any more")?;
    match args.command {
        Command::Run(args) => Ok(*args),
        _ => Err(usage("the stored run was not made by 'mountmark run'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_beside_resume_says_what_is_measured() {
        let says = |line: &str| says_what(line.split(' ').map(OsString::from));
        assert!(!says("mountmark run --resume x"));
        assert!(!says(
            "mountmark run --resume x --results r --keep-on-failure"
        ));
        assert!(says("mountmark run --resume x --rounds 1"));
        assert!(says("mountmark run insert --resume x"));
    }

    #[test]
    fn permission_to_destroy_is_not_stored() {
        let stored = [
            "run",
            "--device",
            "/dev/x",
            "--destroy",
            "/dev/x",
            "--destroy=/dev/y",
        ];
        let kept = without_destroy(&stored.map(String::from));
        assert_eq!(kept, ["run", "--device", "/dev/x"]);
        assert!(from_command_line(kept).unwrap().destroy.is_empty());
    }
}
