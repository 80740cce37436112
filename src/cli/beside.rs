//! A run beside a published study: the studies that come with the program, and where others
//! are found.

use std::io::Write;
use std::path::Path;

use super::commands::find_run;
use crate::compare::{self, Choice};
use crate::error::{Result, ensure, unknown, usage};
use crate::import;
use crate::record::{self, Results};
use crate::report::{self, Format};

/// Name and text of each; a plan of the same name measures today what it measured then.
const STUDIES: [(&str, &str); 4] = [
    (
        "sql-bench-memory",
        include_str!("../../fixtures/published/sql-bench-memory.csv"),
    ),
    (
        "pgsql-insert-load",
        include_str!("../../fixtures/published/pgsql-insert-load.csv"),
    ),
    (
        "source-tree",
        include_str!("../../fixtures/published/source-tree.csv"),
    ),
    (
        "small-file-archive",
        include_str!("../../fixtures/published/small-file-archive.csv"),
    ),
];

/// The study that a built-in plan repeats, if it does.
pub(super) fn of_plan(plan: &str) -> Option<Results> {
    let (name, text) = STUDIES.iter().find(|(name, _)| *name == plan)?;
    builtin(name, text).ok()
}

/// The study `name`: a built-in one, or a run that a published table was imported as.
///
/// # Errors
/// No such study; a run that is none.
pub(super) fn study(name: &str, results: &Path) -> Result<Results> {
    if let Some((name, text)) = STUDIES.iter().find(|(known, _)| *known == name) {
        return builtin(name, text);
    }
    let Ok(dir) = find_run(Path::new(name), results) else {
        let mut valid: Vec<&str> = STUDIES.iter().map(|(name, _)| *name).collect();
        valid.push("or a run that a published table was imported as");
        return Err(unknown("study", name, &valid));
    };
    let run = record::load(&dir)?;
    ensure!(
        run.run.published.is_some(),
        usage(format!(
            "run {} is no published study; two runs are set side by side by 'mountmark compare'",
            run.run.id
        ))
    );
    Ok(run)
}

fn builtin(name: &str, text: &str) -> Result<Results> {
    let imported = import::published(name, text)?;
    Ok(Results {
        run: imported.run,
        cases: imported.cases,
        damage: Vec::new(),
    })
}

/// Writes `run` beside `study`, a blank line before.
///
/// # Errors
/// When `out` cannot be written.
pub(super) fn write(
    out: &mut dyn Write,
    run: &Results,
    study: &Results,
    choice: &Choice,
    format: Format,
) -> Result<()> {
    let beside = compare::beside::beside(run, study, choice.baseline.as_deref(), &choice.rule);
    writeln!(out)?;
    match format {
        Format::Markdown => report::beside_markdown(out, &beside)?,
        _ => report::beside(out, &beside)?,
    }
    Ok(())
}
