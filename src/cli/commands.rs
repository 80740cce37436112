//! The commands.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::args::{Command, Judging, RunArgs};
use super::beside;
use super::plan_file;
use super::planning;
use super::resolve::{Resolved, fraction, resolve};
use super::resume::resume;
use super::{ALL_MEASURED, INTERRUPTED, SOME_FAILED};
use crate::compare::{Choice, Figure, Rule};
use crate::error::{Context, Result, one_line, unknown, usage};
use crate::host::memory::scope;
use crate::host::{interrupt, leftovers, utc};
use crate::record::{self, Results};
use crate::report::{self, Format, Lines, StatusLine, TextOptions};
use crate::run::{self, Observer, Options, Stage, Summary};
use crate::target::{Spec, namespace};

/// Does what `command` says and gives the exit code.
///
/// # Errors
/// Whatever kept it from running.
pub fn perform(command: Command) -> Result<u8> {
    match command {
        Command::Run(args) => run_or_resume(&args),
        Command::Plan(args) if args.list => {
            plan_file::list(&mut io::stdout().lock())?;
            Ok(ALL_MEASURED)
        }
        Command::Plan(args) => planning::show(&args.run),
        Command::Report {
            runs,
            results,
            writing,
            judging,
            beside,
        } => super::show::show((&runs, &results), &writing, &judging, beside.as_deref()),
        Command::Import(args) => super::import::import(&args),
        Command::Compare(args) => super::compare::compare(&args),
        Command::List { results } => list(&results),
        Command::Doctor => super::doctor::doctor(),
        Command::Clean => clean(),
        Command::Completions { shell } => super::manual::completions(shell),
        Command::Man { dir } => super::manual::man(dir.as_deref()),
        Command::Worker => run::worker_main().map(|()| ALL_MEASURED),
    }
}

fn run_or_resume(args: &RunArgs) -> Result<u8> {
    match &args.resume {
        None => measure(args, None),
        Some(name) => {
            let resumed = resume(args, name)?;
            measure(&resumed.args, Some((resumed.id, resumed.dir)))
        }
    }
}

/// Runs what `args` say, or goes on with a run of that name and directory.
fn measure(args: &RunArgs, resumed: Option<(String, PathBuf)>) -> Result<u8> {
    if !args.memory.memory.is_empty() {
        scope::enter()?;
    }
    interrupt::install()?;
    // Before any thread exists: a namespace belongs to the thread that enters it.
    let privilege = namespace::enter_private()?;
    let Resolved { plan, notes } = resolve(args, &privilege).map_err(|e| args.blame(e))?;
    for note in args.typed.notes.iter().chain(&notes) {
        eprintln!("note: {note}");
    }
    let (id, dir) = resumed.unzip();
    let options = Options {
        run_id: id.unwrap_or_else(run_id),
        resume: dir,
        destroy: args.destroy.clone(),
        keep_on_failure: args.keep_on_failure,
        results: args.results.clone(),
        arguments: arguments(&args.typed.line),
        privilege,
        hold_at: hold_at()?,
    };
    let summary = match StatusLine::on_terminal() {
        Some(mut status) => run::execute(&plan, &options, &mut status),
        None => run::execute(
            &plan,
            &options,
            &mut Lines::new(io::stderr()) as &mut dyn Observer,
        ),
    }?;
    println!();
    let mut out = io::stdout().lock();
    let results = record::load(&summary.dir)?;
    let judging = Judging::default();
    let options = text_options(&results, &judging, false)?;
    report::text(&mut out, &results, &options)?;
    if let Some(study) = args.plan.as_deref().and_then(beside::of_plan) {
        beside::write(&mut out, &results, &study, &options.choice, Format::Text)?;
    }
    writeln!(
        out,
        "\nstored in {}; 'mountmark report' shows every operation",
        summary.dir.display()
    )?;
    let page = super::show::beside_records(&summary.dir, &results)?;
    writeln!(out, "report: {}", page.display())?;
    Ok(exit_code(&summary, args.skip_missing))
}

/// A command line as it is stored: without the program.
fn arguments(line: &[OsString]) -> Vec<String> {
    let words = line.iter().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn exit_code(summary: &Summary, skip_missing: bool) -> u8 {
    if summary.interrupted {
        INTERRUPTED
    } else if summary.failed > 0 || summary.skipped > 0 && !skip_missing {
        SOME_FAILED
    } else {
        ALL_MEASURED
    }
}

/// Date and time to the millisecond, which sort by age, and a random tail, so that two
/// runs of one moment differ.
pub(super) fn run_id() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let time: String = utc(since.as_secs())
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    let (day, clock) = time.split_at(8);
    let millis = since.subsec_millis();
    format!("{day}-{clock}-{millis:03}-{:02x}", rand::random::<u8>())
}

/// For tests that look at every stage of a case: the run stops there until a signal.
fn hold_at() -> Result<Option<Stage>> {
    let Ok(name) = std::env::var("MOUNTMARK_HOLD_AT") else {
        return Ok(None);
    };
    let stage = Stage::ALL.into_iter().find(|s| s.name() == name);
    let names = Stage::ALL.map(Stage::name);
    stage
        .map(Some)
        .ok_or_else(|| crate::error::unknown("stage", &name, &names))
}

/// The directory that `run` names: a path, or a name under `results`.
pub(super) fn find_run(run: &Path, results: &Path) -> Result<PathBuf> {
    [run.to_path_buf(), results.join(run)]
        .into_iter()
        .find(|dir| dir.join("run.json").is_file())
        .ok_or_else(|| {
            usage(format!(
                "there is no run {} in {}; 'mountmark list' shows them",
                run.display(),
                results.display()
            ))
        })
}

/// How `results` are judged where the user says nothing, or what the user says.
pub(super) fn text_options(
    results: &Results,
    judging: &Judging,
    operations: bool,
) -> Result<TextOptions> {
    let threshold = match &judging.threshold {
        Some(text) => fraction("--threshold", text)?,
        None => results.run.plan.threshold,
    };
    let labels: Vec<&str> = results
        .run
        .plan
        .cases
        .iter()
        .map(|k| k.target.as_str())
        .collect();
    let baseline = match &judging.baseline {
        None => None,
        Some(text) => {
            let label = text
                .parse::<Spec>()
                .map_or_else(|_| text.clone(), |s| s.label());
            let known = labels.iter().find(|l| **l == *text || **l == label);
            Some(
                known
                    .ok_or_else(|| unknown("baseline", text, &labels))?
                    .to_string(),
            )
        }
    };
    Ok(TextOptions {
        operations,
        choice: Choice {
            baseline,
            figure: figure(&[results], judging.figure.as_deref())?,
            rule: Rule::default().with_threshold(threshold)?,
        },
    })
}

/// The figure of that name, where some case of `runs` has it.
pub(super) fn figure(runs: &[&Results], name: Option<&str>) -> Result<Figure> {
    let operations = || {
        let cases = runs.iter().flat_map(|r| &r.cases);
        let phases = cases.flat_map(|c| &c.phases);
        phases.flat_map(|p| &p.operations).map(|o| o.name.as_str())
    };
    match name {
        None => Ok(Figure::usual(runs.iter().flat_map(|r| &r.cases))),
        Some("settled") => Ok(Figure::Settled),
        Some("tps") => Ok(Figure::Transactions),
        Some("flushed") => Ok(Figure::Flushed),
        Some("returned") => Ok(Figure::Returned),
        Some(name) if operations().any(|o| o == name) => Ok(Figure::Operation(name.to_string())),
        Some(name) => {
            let mut valid = vec!["settled", "flushed", "returned", "tps"];
            for operation in operations() {
                if !valid.contains(&operation) {
                    valid.push(operation);
                }
            }
            Err(unknown("figure", name, &valid))
        }
    }
}

/// The directories of the runs named, or of the newest.
pub(super) fn find_runs(runs: &[PathBuf], results: &Path) -> Result<Vec<PathBuf>> {
    match runs {
        [] => Ok(vec![record::newest(results)?]),
        named => named.iter().map(|run| find_run(run, results)).collect(),
    }
}

fn list(results: &Path) -> Result<u8> {
    let mut runs = Vec::new();
    for dir in record::runs(results)? {
        match record::load(&dir) {
            Ok(run) => runs.push(run),
            Err(error) => eprintln!("mountmark: {}", one_line(&error)),
        }
    }
    if runs.is_empty() {
        println!("no runs in {}", results.display());
    } else {
        report::list(&mut io::stdout().lock(), &runs)?;
    }
    Ok(ALL_MEASURED)
}

fn clean() -> Result<u8> {
    let mut found = false;
    // The newest first: what it changed may have been changed before by an older one.
    for leftover in leftovers()?.into_iter().rev() {
        found = true;
        let name = leftover.run_id.clone();
        for removed in leftover
            .clean()
            .with_context(|| format!("cannot clean up after run {name}"))?
        {
            println!("{removed}");
        }
    }
    if !found {
        println!("nothing to clean");
    }
    Ok(ALL_MEASURED)
}
