//! Man pages and shell completions, from the same definitions as `--help`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::ALL_MEASURED;
use super::args::Args;
use crate::error::{Context, Result};

/// The command with its subcommands, hidden ones left out.
fn command() -> clap::Command {
    let mut command = Args::command();
    command.build();
    command
}

/// Writes the completions of `shell` to the standard output.
///
/// # Errors
/// When that cannot be written.
pub(super) fn completions(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "mountmark", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ALL_MEASURED)
}

/// Writes `mountmark.1` to the standard output; into `dir`, that and one page a command.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn man(dir: Option<&Path>) -> Result<u8> {
    let command = command();
    let Some(dir) = dir else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        io::stdout().lock().write_all(&page)?;
        return Ok(ALL_MEASURED);
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    write(dir, &command)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        write(dir, sub)?;
    }
    Ok(ALL_MEASURED)
}

/// One page, whose name is printed.
fn write(dir: &Path, command: &clap::Command) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = dir.join(format!("{name}.1"));
    let cannot = || format!("cannot write {}", path.display());
    let mut file = File::create(&path).with_context(cannot)?;
    let page = Man::new(command.clone()).title(name.to_uppercase());
    page.render(&mut file).with_context(cannot)?;
    println!("{}", path.display());
    Ok(())
}
