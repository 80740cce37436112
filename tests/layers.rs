//! The layers of the crate: a module uses only lower ones, siblings of one layer do
//! not know each other. Reads `src/` and fails on an upward or sideways `crate::`.

use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: &[(&str, u8)] = &[
    ("error", 0),
    ("units", 0),
    ("host", 1),
    ("measure", 1),
    ("sql", 1),
    ("engine", 2),
    ("target", 2),
    ("workload", 3),
    ("plan", 4),
    ("record", 5),
    ("compare", 6),
    ("import", 6),
    ("run", 7),
    ("report", 8),
    ("cli", 9),
];

fn layer(module: &str) -> Option<u8> {
    LAYERS.iter().find(|(m, _)| *m == module).map(|(_, n)| *n)
}

fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The top-level modules named after `crate::` in a source text, groups included.
fn uses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 || (depth == 1 && c == ',') {
                    found.extend(head(&item));
                    item.clear();
                    if depth == 0 {
                        break;
                    }
                } else {
                    item.push(c);
                }
            }
        } else {
            found.extend(head(rest));
        }
    }
    found
}

fn head(path: &str) -> Option<String> {
    let name: String = path
        .trim()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

#[test]
fn modules_use_only_lower_layers() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut wrong = Vec::new();
    for file in &files {
        let relative = file.strip_prefix(&src).expect("below src");
        let own = relative
            .components()
            .next()
            .expect("a file has a name")
            .as_os_str()
            .to_string_lossy()
            .trim_end_matches(".rs")
            .to_string();
        if own == "main" || own == "lib" {
            continue;
        }
        let Some(own_layer) = layer(&own) else {
            wrong.push(format!("{}: no layer is known for it", relative.display()));
            continue;
        };
        let text = fs::read_to_string(file).expect("source is readable");
        for used in uses(&text) {
            if used == own {
                continue;
            }
            match layer(&used) {
                None => wrong.push(format!("{}: unknown module {used}", relative.display())),
                Some(n) if n >= own_layer => wrong.push(format!(
                    "{}: uses {used} (layer {n} >= {own_layer})",
                    relative.display()
                )),
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_sees_groups_and_nested_paths() {
    let text = "use crate::{run::{a, b}, plan};\n// crate::nothing\nlet x = crate::host::f();";
    assert_eq!(uses(text), ["run", "plan", "host"]);
}

#[test]
fn main_stays_thin() {
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs");
    let lines = fs::read_to_string(main).expect("main.rs").lines().count();
    assert!(lines <= 40, "main.rs has {lines} lines");
}
