//! `mountmark report`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ALL_MEASURED;
use super::args::{Judging, Writing};
use super::commands::{find_runs, text_options};
use crate::compare::Choice;
use crate::error::{Context, Result, ensure, usage};
use crate::record::{self, Results};
use crate::report::sqlbench::{RunFile, run_files};
use crate::report::{self, Format};

/// Writes the report of the runs named, in those results; of the newest, if none is.
///
/// # Errors
/// A run that cannot be read, options that do not fit, a file that cannot be written.
pub(super) fn show(
    (named, results): (&[PathBuf], &Path),
    writing: &Writing,
    judging: &Judging,
    beside: Option<&str>,
) -> Result<u8> {
    ensure!(
        !writing.compat || writing.format == Format::SqlBench,
        usage("--compat is of --format sql-bench only")
    );
    let dirs = find_runs(named, results)?;
    let runs: Vec<Results> = dirs
        .iter()
        .map(|d| record::load(d))
        .collect::<Result<_>>()?;
    let study = beside
        .map(|name| super::beside::study(name, results))
        .transpose()?;
    ensure!(
        study.is_none() || matches!(writing.format, Format::Text | Format::Markdown),
        usage("--beside is of --format text and md only")
    );
    match writing.format {
        Format::Text | Format::Markdown => to_output(writing.output.as_deref(), |out| {
            tables(out, &runs, judging, writing.format, study.as_ref())
        })?,
        Format::Html => to_output(writing.output.as_deref(), |out| html(out, &runs, judging))?,
        Format::Csv => to_output(writing.output.as_deref(), |out| {
            Ok(report::tidy::csv(out, &runs)?)
        })?,
        Format::Json => to_output(writing.output.as_deref(), |out| json(out, &runs, judging))?,
        Format::SqlBench => sql_bench(&runs, writing)?,
    }
    Ok(ALL_MEASURED)
}

fn tables(
    out: &mut dyn Write,
    runs: &[Results],
    judging: &Judging,
    format: Format,
    study: Option<&Results>,
) -> Result<()> {
    for (number, results) in runs.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let options = text_options(results, judging, true)?;
        match format {
            Format::Markdown => report::markdown(out, results, &options)?,
            _ => report::text(out, results, &options)?,
        }
        if let Some(study) = study {
            super::beside::write(out, results, study, &options.choice, format)?;
        }
    }
    Ok(())
}

fn json(out: &mut dyn Write, runs: &[Results], judging: &Judging) -> Result<()> {
    Ok(report::tidy::json(out, &judged(runs, judging)?)?)
}

fn html(out: &mut dyn Write, runs: &[Results], judging: &Judging) -> Result<()> {
    Ok(report::html(out, &judged(runs, judging)?)?)
}

/// Each run with what is chosen for its verdicts.
fn judged<'r>(runs: &'r [Results], judging: &Judging) -> Result<Vec<(&'r Results, Choice)>> {
    let judged = runs.iter().map(|results| {
        let options = text_options(results, judging, true)?;
        Ok((results, options.choice))
    });
    judged.collect()
}

/// The page of a run, beside its records; its path.
///
/// # Errors
/// When it cannot be written.
pub(super) fn beside_records(dir: &Path, results: &Results) -> Result<PathBuf> {
    let path = dir.join("report.html");
    let runs = std::slice::from_ref(results);
    to_output(Some(&path), |out| html(out, runs, &Judging::default()))?;
    Ok(path)
}

/// One RUN file goes to the output; for several, and for the outputs of the phases, the
/// output is a directory.
fn sql_bench(runs: &[Results], writing: &Writing) -> Result<()> {
    let mut files: Vec<RunFile> = Vec::new();
    for results in runs {
        let of_run = run_files(results, writing.compat);
        ensure!(
            !of_run.is_empty(),
            usage(format!("run {} has no phase of sql-bench", results.run.id))
        );
        for mut file in of_run {
            // Two runs of one plan have the same tags.
            if files.iter().any(|f| f.tag.eq_ignore_ascii_case(&file.tag)) {
                file.tag = format!("{}_{}", file.tag, results.run.id.replace('-', "_"));
            }
            files.push(file);
        }
    }
    let output = writing.output.as_deref();
    let is_dir = |path: &Path| path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
    match (output, files.as_slice()) {
        (Some(dir), [_, _, ..]) => into_directory(dir, &files),
        (Some(dir), _) if is_dir(dir) => into_directory(dir, &files),
        _ => to_output(output, |out| {
            for (number, file) in files.iter().enumerate() {
                if number > 0 {
                    writeln!(out)?;
                }
                file.write(out)?;
            }
            Ok(())
        }),
    }?;
    if output.is_none() {
        let several = if files.len() > 1 {
            "one file each and "
        } else {
            ""
        };
        eprintln!("note: {several}the lines of the phases are written by --output DIR/");
    }
    Ok(())
}

fn into_directory(dir: &Path, files: &[RunFile]) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for file in files {
        let at = |kind: &str| dir.join(format!("{kind}-{}", file.tag));
        to_output(Some(&at("RUN")), |out| Ok(file.write(out)?))?;
        println!("{}", at("RUN").display());
        for phase in file.phases() {
            to_output(Some(&at(phase)), |out| Ok(file.write_phase(out, phase)?))?;
        }
    }
    Ok(())
}

/// Writes to `path`, or to standard output.
fn to_output(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let Some(path) = path else {
        return write(&mut io::stdout().lock());
    };
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
        .with_context(|| format!("cannot write {}", path.display()))
}
