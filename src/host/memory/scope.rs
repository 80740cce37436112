//! A scope of systemd: where it runs the tree of control groups, groups with limits are
//! made below one that it has delegated, as nobody else may change its own.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::Surroundings;
use crate::error::{Error, Result, bail};

/// What the names of our scopes begin with.
pub(super) const UNIT: &str = "mountmark-";

/// Set in the program that was started again: it does not start itself a third time.
const AGAIN: &str = "MOUNTMARK_IN_SCOPE";

/// What to do by hand.
pub(super) fn remedy() -> String {
    format!(
        "mountmark must run in a scope that it delegates: systemd-run --scope \
         --unit={UNIT}by-hand -p Delegate=yes mountmark …"
    )
}

/// Starts this program again inside a scope of its own where systemd runs the groups; its
/// process id, its terminal and its arguments stay. Does nothing where none is needed.
///
/// # Errors
/// When systemd-run cannot be started, with what to do by hand.
pub fn enter() -> Result<()> {
    let around = Surroundings::detect();
    if !around.needs_scope() {
        return Ok(());
    }
    if std::env::var_os(AGAIN).is_some() {
        bail!(
            "systemd-run has not made the scope that was asked for; {}",
            remedy()
        );
    }
    let arguments = arguments(around.root, std::process::id(), std::env::args_os().skip(1));
    let error = Command::new("systemd-run")
        .args(arguments)
        .env(AGAIN, "1")
        .exec();
    Err(Error::new(error).context(format!("systemd-run cannot be started; {}", remedy())))
}

/// The arguments of systemd-run, which in a scope becomes the program itself.
fn arguments(root: bool, pid: u32, own: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    if !root {
        arguments.push("--user".into());
    }
    let unit = format!("--unit={UNIT}{pid}");
    for fixed in [
        "--scope",
        "--quiet",
        "--collect",
        &unit,
        "-p",
        "Delegate=yes",
        "--",
    ] {
        arguments.push(fixed.into());
    }
    // What /proc/self/exe means changes with the program.
    arguments.push(std::env::current_exe().map_or_else(|_| "mountmark".into(), Into::into));
    arguments.extend(own);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_started_again_with_its_own_arguments() {
        let own = ["run", "--memory", "64M"].map(OsString::from);
        let text = |root: bool| {
            let all = arguments(root, 7, own.clone().into_iter());
            let all: Vec<String> = all
                .iter()
                .map(|a| a.to_string_lossy().into_owned())
                .collect();
            all.join(" ")
        };
        let root = text(true);
        assert!(
            root.starts_with("--scope --quiet --collect --unit=mountmark-7 -p Delegate=yes -- /"),
            "{root}"
        );
        assert!(root.ends_with(" run --memory 64M"), "{root}");
        assert!(text(false).starts_with("--user --scope "));
    }
}
