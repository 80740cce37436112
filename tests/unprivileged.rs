//! Without root: directories are measured, and what cannot be is said plainly.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use common::{Place, required, text};
use mountmark::record::Outcome;

/// Runs a copy of the program as somebody without rights, in a place that is theirs.
fn as_nobody(place: &Place, args: &[&str]) -> Option<Output> {
    const NOBODY: u32 = 65534;
    if !nix::unistd::geteuid().is_root() {
        let output = place.run(args).output();
        return Some(output.expect("it runs"));
    }
    let root = place.path("data").parent()?.to_path_buf();
    let copy = root.join("mountmark");
    fs::copy(env!("CARGO_BIN_EXE_mountmark"), &copy).expect("copied");
    for path in [root.clone(), copy.clone()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
    }
    for name in ["images", "state", "results", "data"] {
        std::os::unix::fs::chown(place.path(name), Some(NOBODY), Some(NOBODY)).expect("given");
    }
    let model = place.run(args);
    let mut command = Command::new(&copy);
    command
        .args(model.get_args())
        .current_dir(place.path("data"));
    for (name, value) in model.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let output = command.uid(NOBODY).gid(NOBODY).output();
    if output
        .as_ref()
        .is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied)
    {
        assert!(!required("root"), "another user can be played here");
        eprintln!("SKIPPED: no program of ours can be run as another user");
        return None;
    }
    Some(output.expect("it runs"))
}

#[test]
fn made_targets_are_skipped_with_the_remedy_and_directories_measured() {
    let place = Place::new();
    let data = place.path("data");
    let args = [
        "create",
        "--profile",
        "small-test",
        "--on",
        "ext4",
        "--on",
        data.to_str().unwrap(),
    ];
    let Some(output) = as_nobody(&place, &args) else {
        return;
    };
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let results = place.results();
    let of = |target: &str| {
        let found = results.cases.iter().find(|c| c.case.target == target);
        &found.unwrap_or_else(|| panic!("{target}: {shown}")).outcome
    };
    assert_eq!(*of(data.to_str().unwrap()), Outcome::Measured, "{shown}");
    let Outcome::Skipped { reason, remedy } = of("ext4_defaults") else {
        panic!("{shown}");
    };
    assert!(
        reason.contains("not root") && remedy.contains("root"),
        "{shown}"
    );
    assert!(shown.contains(remedy), "{shown}");
    assert_eq!(place.entries("data").len(), 1);
}

#[test]
fn without_arguments_the_current_directory_is_measured() {
    let place = Place::new();
    let Some(output) = as_nobody(&place, &["--loops", "0.02"]) else {
        return;
    };
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("only the current directory"), "{shown}");
    assert!(
        place
            .results()
            .cases
            .iter()
            .all(|c| c.outcome == Outcome::Measured)
    );
}
