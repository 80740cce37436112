//! Results of others become records: the outputs of the original sql-bench, its RUN
//! summaries and its file a phase; what pgbench prints and logs; and published tables.
//!
//! What a file does not tell is absent in the record; a line that cannot be read is told
//! and costs only itself.

mod assemble;
mod cases;
mod line;
mod names;
mod number;
mod pgbench;
mod phase_file;
mod phases;
mod published;
mod run_file;
mod server;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Context, Result, ensure, usage};
use crate::record::{CaseRecord, RunRecord};

use names::Named;
use phase_file::PhaseFile;
use run_file::RunFile;

/// A run made of files, not stored yet.
#[derive(Debug)]
pub struct Imported {
    /// The run.
    pub run: RunRecord,
    /// Its cases.
    pub cases: Vec<CaseRecord>,
    /// Lines and files that could not be read.
    pub faults: Vec<Fault>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1; `None`: the file as a whole.
    pub line: Option<usize>,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", self.reason)
    }
}

/// What the user says of the files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name of the run that is made.
    pub id: String,
    /// A label for it.
    pub label: Option<String>,
    /// Label of the target, where the file's own tag is not wanted.
    pub on: Option<String>,
}

/// A line's number, counted from 1, and why it could not be read.
type Bad = (usize, String);

/// One file, read.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    tag: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Run(RunFile),
    Phase(PhaseFile),
}

/// What a file turned out to be.
enum Read {
    SqlBench(Content),
    Pgbench(pgbench::File),
    Published(published::Table),
    Unknown,
}

/// Reads `files` and makes a run of them. Files of sql-bench of one directory and one tag belong
/// together, and so do a report and the logs of pgbench; the same target and engine once more
/// are another round.
///
/// # Errors
/// When a file cannot be opened, or when a published table is not alone. What is in a file is
/// told in the faults.
pub fn import(files: &[PathBuf], options: &Options) -> Result<Imported> {
    let mut sources = Vec::new();
    let mut of_pgbench = Vec::new();
    let mut faults = Vec::new();
    for (number, path) in files.iter().enumerate() {
        if files[..number].contains(path) {
            continue;
        }
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let (content, bad) = read(path, &String::from_utf8_lossy(&bytes));
        faults.extend(bad.into_iter().map(|(line, reason)| Fault {
            file: path.clone(),
            line: Some(line),
            reason,
        }));
        match content {
            Read::SqlBench(content) => sources.push(Source {
                path: path.clone(),
                tag: names::of(path).tag,
                content,
            }),
            Read::Pgbench(file) => of_pgbench.push(file),
            Read::Published(table) => {
                ensure!(
                    files.len() == 1,
                    usage(format!(
                        "{} is a published table, which is a run of its own; import it alone",
                        path.display()
                    ))
                );
                let mut imported = table.run(path, options);
                imported.run.remarks = assemble::not_imported(&faults);
                return Ok(Imported { faults, ..imported });
            }
            Read::Unknown => faults.push(Fault {
                file: path.clone(),
                line: None,
                reason: "neither a RUN file nor the output of a phase (it has no line of \
                         totals and no operation), no report or log of pgbench, and no table \
                         with the columns workload, target, figure and value"
                    .to_string(),
            }),
        }
    }
    let (run, cases) = assemble::run(&sources, &of_pgbench, &faults, options);
    Ok(Imported { run, cases, faults })
}

/// A published table that is at hand as text; `name` is what it is called by.
///
/// # Errors
/// When it is none.
pub fn published(name: &str, text: &str) -> Result<Imported> {
    ensure!(
        published::is_one(text),
        usage(format!("{name} is no published table"))
    );
    let (table, bad) = published::Table::read(text);
    let path = PathBuf::from(name);
    let options = Options {
        id: name.to_string(),
        ..Options::default()
    };
    let faults = bad.into_iter().map(|(line, reason)| Fault {
        file: path.clone(),
        line: Some(line),
        reason,
    });
    let faults: Vec<Fault> = faults.collect();
    let imported = table.run(&path, &options);
    Ok(Imported { faults, ..imported })
}

/// What kind of file it is shows in its lines: its name may have been changed.
fn read(path: &Path, text: &str) -> (Read, Vec<Bad>) {
    let Named { phase, .. } = names::of(path);
    let lines: Vec<&str> = text.lines().collect();
    if lines.iter().any(|l| run_file::begins_totals(l)) {
        let (file, bad) = RunFile::read(&lines);
        return (Read::SqlBench(Content::Run(file)), bad);
    }
    if published::is_one(text) {
        let (table, bad) = published::Table::read(text);
        return (Read::Published(table), bad);
    }
    if let Some((file, bad)) = pgbench::read(path, text) {
        return (Read::Pgbench(file), bad);
    }
    let (file, bad) = PhaseFile::read(&phase, &lines);
    match file.is_one() {
        true => (Read::SqlBench(Content::Phase(file)), bad),
        false => (Read::Unknown, bad),
    }
}
