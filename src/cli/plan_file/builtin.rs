//! The plans that come with the program, and where a plan's text is found.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Context, Result, one_line, shown, unknown, usage};

/// Name and text of each: the studies that were published, then everyday questions.
const PLANS: [(&str, &str); 7] = [
    (
        "sql-bench-memory",
        include_str!("../../../fixtures/plans/sql-bench-memory.toml"),
    ),
    (
        "pgsql-insert-load",
        include_str!("../../../fixtures/plans/pgsql-insert-load.toml"),
    ),
    (
        "source-tree",
        include_str!("../../../fixtures/plans/source-tree.toml"),
    ),
    (
        "small-file-archive",
        include_str!("../../../fixtures/plans/small-file-archive.toml"),
    ),
    (
        "wal-sync-method",
        include_str!("../../../fixtures/plans/wal-sync-method.toml"),
    ),
    (
        "journal-modes",
        include_str!("../../../fixtures/plans/journal-modes.toml"),
    ),
    (
        "which-file-system",
        include_str!("../../../fixtures/plans/which-file-system.toml"),
    ),
];

/// The text of the plan `name`: a built-in one by its bare name, anything else a file.
///
/// # Errors
/// A name that is none of the built-in ones and no file; a file that cannot be read.
pub(super) fn text(name: &str) -> Result<String> {
    if let Some((_, text)) = PLANS.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_string());
    }
    let path = Path::new(name);
    let is_path = name.contains('/') || name.ends_with(".toml");
    if !is_path && !path.exists() {
        let names: Vec<&str> = PLANS.iter().map(|(name, _)| *name).collect();
        return Err(unknown("plan", name, &[names, vec!["or a file"]].concat()));
    }
    fs::read_to_string(path)
        .with_context(|| format!("cannot read the plan {}", shown(path)))
        .map_err(|error| usage(one_line(&error)))
}

/// What a plan's text says it is: its first line, where that is a comment.
pub(super) fn title(text: &str) -> Option<String> {
    let first = text.lines().next()?.strip_prefix('#')?.trim();
    let first = first.trim_end_matches('.');
    (!first.is_empty()).then(|| first.to_string())
}

/// Writes a line a built-in plan.
///
/// # Errors
/// When `out` cannot be written.
pub(in crate::cli) fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = PLANS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in PLANS {
        writeln!(out, "{name:width$}  {}", title(text).unwrap_or_default())?;
    }
    writeln!(
        out,
        "\nshow one with 'mountmark plan --plan NAME', measure it with 'mountmark run --plan NAME'; \
         --short takes minutes"
    )
}

/// The names of the built-in plans.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    PLANS.iter().map(|(name, _)| *name).collect()
}
