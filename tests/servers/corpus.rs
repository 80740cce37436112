//! The scripts of `tests/scripts`, and how each is to be run.

use std::fs;
use std::path::{Path, PathBuf};

/// The first line of a script says how it is to be run:
/// `-- corpus: simple|prepared random fails define=NAME=VALUE transactions=N`.
pub struct Script {
    pub name: String,
    pub path: PathBuf,
    pub text: String,
    simple: bool,
    prepared: bool,
    /// Digits differ from run to run.
    random: bool,
    pub fails: bool,
    pub defines: Vec<(String, String)>,
    pub transactions: usize,
}

impl Script {
    fn read(path: PathBuf) -> Script {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        let words = first.strip_prefix("-- corpus:").unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        let values = |name: &str| -> Vec<String> {
            let found = words.iter().filter_map(|w| w.strip_prefix(name));
            found.map(str::to_string).collect()
        };
        let defines = values("define=").into_iter();
        Script {
            simple: !has("prepared"),
            prepared: !has("simple"),
            random: has("random"),
            fails: has("fails"),
            defines: defines
                .map(|d| {
                    d.split_once('=')
                        .map(|(n, v)| (n.into(), v.into()))
                        .unwrap()
                })
                .collect(),
            transactions: values("transactions=")
                .first()
                .map_or(1, |n| n.parse().unwrap()),
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            path,
            text: text.clone(),
        }
    }

    pub fn modes(&self) -> impl Iterator<Item = &'static str> {
        let modes = [("simple", self.simple), ("prepared", self.prepared)];
        modes.into_iter().filter(|m| m.1).map(|m| m.0)
    }

    /// As pgbench is called.
    pub fn arguments(&self, mode: &str) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["-n", "-c", "1", "-M", mode, "-t"].map(String::from).into();
        arguments.push(self.transactions.to_string());
        for (name, value) in &self.defines {
            arguments.extend(["-D".into(), format!("{name}={value}")]);
        }
        arguments.extend(["-f".into(), self.path.display().to_string()]);
        arguments
    }

    /// One line each, and a last line for a failure.
    pub fn lines(&self, statements: &[String], debug: &[String], failed: bool) -> String {
        let mut out = String::new();
        let one_line = |text: &str| {
            let text = self.told(text).replace('\\', "\\\\");
            text.replace('\n', "\\n").replace('\r', "\\r")
        };
        for statement in statements {
            out += &format!("{}\n", one_line(statement));
        }
        for line in debug {
            out += &format!("{}\n", one_line(line));
        }
        if failed {
            out += "the client cannot go on\n";
        }
        out
    }

    fn told(&self, text: &str) -> String {
        if self.random {
            without_numbers(text)
        } else {
            text.to_string()
        }
    }
}

/// With `#` for each number, its sign included.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            out.truncate(out.trim_end_matches(['-', '#']).len());
            out.push('#');
        } else {
            out.push(c);
        }
    }
    out
}

/// Every script of `tests/scripts`, by name.
pub fn corpus() -> Vec<Script> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut paths: Vec<PathBuf> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "sql"))
        .collect();
    paths.sort();
    paths.into_iter().map(Script::read).collect()
}
