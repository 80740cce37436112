//! Every command that README and docs show is executed: `run` as `plan`, so that every flag
//! and value is taken as it stands and nothing is measured; everything else for real, where
//! the files and runs that the text speaks of are there.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, text};

/// A command of the documentation.
struct Shown {
    /// `README.md:31`
    place: String,
    line: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).expect("docs");
    let docs = docs.map(|entry| entry.expect("a document").path());
    let mut all: Vec<PathBuf> = docs
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .collect();
    all.push(root().join("README.md"));
    all.sort();
    all
}

/// The commands of a Markdown text: lines of fenced blocks that begin with one of ours, and
/// those in backticks within a line.
fn commands(name: &str, text: &str) -> Vec<Shown> {
    let (mut found, mut fenced) = (Vec::new(), false);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let place = format!("{name}:{}", number + 1);
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let mut command = line.trim().trim_start_matches("$ ").to_string();
            // A line that ends with a backslash goes on.
            while command.ends_with('\\') {
                command.pop();
                let next = lines.next().map_or("", |(_, line)| line);
                command.push_str(next.trim());
            }
            if is_ours(&command) {
                found.push(Shown {
                    place,
                    line: command,
                });
            }
        } else {
            let quoted = line.split('`').skip(1).step_by(2);
            let ours = quoted.filter(|quoted| quoted.starts_with("mountmark "));
            found.extend(ours.map(|quoted| Shown {
                place: place.clone(),
                line: quoted.to_string(),
            }));
        }
    }
    found
}

fn is_ours(line: &str) -> bool {
    let begins = ["mountmark ", "cargo ", "tests/"];
    begins.iter().any(|begin| line.starts_with(begin)) || line == "mountmark"
}

/// How a command is executed: nothing is measured, nothing is overwritten, and what stands
/// for a reader's own is something that is here.
fn harmless(line: &str, place: &Place, run: &str) -> String {
    let line = match line.strip_prefix("cargo run --release -- ") {
        Some(arguments) => format!("mountmark {arguments}"),
        None => line.to_string(),
    };
    let line = match line.strip_prefix("mountmark run") {
        // Going on with a complete run measures nothing.
        Some(rest) if !rest.contains("--resume") => format!("mountmark plan{rest}"),
        _ => line,
    };
    let mut words: Vec<String> = line.split(' ').map(String::from).collect();
    for at in 1..words.len() {
        if words[at - 1] == "--resume" {
            words[at] = run.to_string();
        }
    }
    let data = place.path("data").display().to_string();
    words.join(" ").replace("/mnt/data", &data)
}

/// What the texts speak of: runs called before and after, old RUN files, pgbench's output, a
/// published table, and a plan.
fn prepare(place: &Place) -> String {
    let data = place.path("data").display().to_string();
    for label in ["before", "after"] {
        let run = [
            "run", "create", "--on", &data, "--loops", "0.002", "--label", label,
        ];
        let output = place
            .command()
            .args(run)
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    let here = place.path("");
    for entry in fs::read_dir(root().join("fixtures/sql-bench-runs")).expect("fixtures") {
        let path = entry.expect("a fixture").path();
        if path.is_file() {
            let name = path.file_name().expect("a name");
            fs::copy(&path, here.join(name)).expect("a copy");
        }
    }
    let copies = [
        ("fixtures/pgbench/tpcb/report.txt", "report.txt"),
        ("fixtures/pgbench/tpcb/pgbench_log.27139", "pgbench_log.1"),
        ("fixtures/published/source-tree.csv", "table.csv"),
    ];
    for (from, to) in copies {
        fs::copy(root().join(from), here.join(to)).expect(from);
    }
    fs::write(here.join("FILE.toml"), example_plan()).expect("a plan");
    fs::create_dir(here.join("path")).expect("a directory");
    symlink(env!("CARGO_BIN_EXE_mountmark"), here.join("path/mountmark")).expect("a link");
    let newest = mountmark::record::newest(&here.join("bench-results")).expect("a run");
    newest
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

/// The plan file that the document of plans shows.
fn example_plan() -> String {
    let document = fs::read_to_string(root().join("docs/plans.md")).expect("a document");
    let block = document.split("```").nth(1).expect("an example");
    block.trim_start().to_string()
}

/// In the shell, as a reader does.
fn execute(line: &str, place: &Place) -> Result<(), String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let ours = place.path("path").display().to_string();
    let output = Command::new("bash")
        .args(["-c", line])
        .env("PATH", format!("{ours}:{path}"))
        .env("MOUNTMARK_STATE_DIR", place.path("state"))
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(text(&output)),
    }
}

/// Of cargo's other commands and of scripts: what they start must be there.
fn is_there(line: &str) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let file = match words[..] {
        ["cargo", .., "--example", name] => format!("examples/{name}.rs"),
        [script, ..] if script.starts_with("tests/") => script.to_string(),
        _ => return Err("this test does not know how to try it".to_string()),
    };
    match root().join(&file).exists() {
        true => Ok(()),
        false => Err(format!("there is no {file}")),
    }
}

#[test]
fn every_command_of_the_documentation_works() {
    let place = Place::new();
    let run = prepare(&place);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in documents() {
        let name = path.strip_prefix(root()).expect("below the root");
        let document = fs::read_to_string(&path).expect("a document");
        for shown in commands(&name.display().to_string(), &document) {
            count += 1;
            let line = harmless(&shown.line, &place, &run);
            let tried = match line.starts_with("mountmark") {
                true => execute(&line, &place),
                false => is_there(&line),
            };
            if let Err(said) = tried {
                wrong.push(format!("{}: {}\n{said}", shown.place, shown.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 20, "{count} commands");
}

/// Links within the documentation lead somewhere.
#[test]
fn every_link_of_the_documentation_has_its_file() {
    let mut wrong = Vec::new();
    for path in documents() {
        let document = fs::read_to_string(&path).expect("a document");
        let dir = path.parent().expect("a directory");
        for (number, line) in document.lines().enumerate() {
            for link in line
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
            {
                let file = link.split('#').next().unwrap_or_default();
                if !file.is_empty() && !link.contains("://") && !dir.join(file).exists() {
                    wrong.push(format!("{}:{}: {link}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_where_they_stand() {
    let document = "Try `mountmark doctor`, not `mount`.\n```\nmountmark run create \\\n  --on ext4\n\
                    mountmarkers\n```\n";
    let found = commands("x.md", document);
    let found: Vec<_> = found
        .iter()
        .map(|s| (s.place.as_str(), s.line.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("x.md:1", "mountmark doctor"),
            ("x.md:3", "mountmark run create --on ext4")
        ]
    );
    assert!(Path::new(&root()).join("README.md").exists());
}
