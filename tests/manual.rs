//! Man pages and completions know what `--help` knows.

use std::process::Command;

fn mountmark(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mountmark"));
    let output = command.args(args).output().expect("the program runs");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The long flags and commands that a help text names at the beginning of its lines.
fn names(help: &str) -> Vec<String> {
    let flags = help.lines().filter_map(|line| {
        let at = line.find("--")?;
        let before = line[..at].trim();
        let short = before.len() == 3 && before.starts_with('-') && before.ends_with(',');
        let name = line[at..].split([' ', '=', '[']).next()?;
        (before.is_empty() || short).then(|| name.to_string())
    });
    flags.collect()
}

fn commands() -> Vec<String> {
    let help = mountmark(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| line.starts_with("  "));
    let names = names.filter_map(|line| Some(line.split_whitespace().next()?.to_string()));
    // Deeper lines go on with what was said.
    names.filter(|name| mountmark_knows(name)).collect()
}

fn mountmark_knows(name: &str) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mountmark"));
    let output = command
        .args([name, "--help"])
        .output()
        .expect("the program runs");
    output.status.success() && name != "help"
}

#[test]
fn every_command_has_a_page_with_every_flag() {
    let dir = tempfile::tempdir().expect("a directory");
    let place = dir.path().join("man").display().to_string();
    let written = mountmark(&["man", "--dir", &place]);
    let commands = commands();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let path = dir.path().join(format!("man/mountmark-{command}.1"));
        assert!(written.contains(&path.display().to_string()), "{written}");
        // A man page writes each hyphen of a name as \-.
        let page = std::fs::read_to_string(path)
            .expect("a page")
            .replace("\\-", "-");
        assert!(page.contains(".TH"), "{page}");
        for flag in names(&mountmark(&[&command, "--help"])) {
            assert!(
                page.contains(&flag),
                "{command}: {flag} is not in its man page"
            );
        }
    }
    assert!(!written.contains("worker"), "{written}");
}

#[test]
fn the_page_of_the_program_names_its_commands() {
    let page = mountmark(&["man"]);
    for command in commands() {
        assert!(
            page.contains(&format!("mountmark\\-{command}(1)")),
            "{command}"
        );
    }
}

#[test]
fn completions_know_every_flag() {
    for shell in ["bash", "zsh", "fish"] {
        let script = mountmark(&["completions", shell]);
        for flag in names(&mountmark(&["run", "--help"])) {
            let bare = flag.trim_start_matches('-');
            assert!(script.contains(bare), "{shell}: {flag}");
        }
    }
    let wrong = Command::new(env!("CARGO_BIN_EXE_mountmark"))
        .args(["completions", "tcsh"])
        .output()
        .expect("the program runs");
    assert_eq!(wrong.status.code(), Some(2));
}

/// The script loads in the shell that it is for.
#[test]
fn bash_takes_its_completions() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("mountmark.bash");
    std::fs::write(&file, mountmark(&["completions", "bash"])).expect("a script");
    let script = format!("source {} && complete -p mountmark", file.display());
    let output = Command::new("bash").args(["-c", &script]).output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no bash here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("complete") && said.contains("mountmark"),
        "{output:?}"
    );
}
