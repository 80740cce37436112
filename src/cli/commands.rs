//! The commands.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::args::{Command, Judging, RunArgs};
use super::resolve::{Resolved, fraction, resolve};
use super::{ALL_MEASURED, INTERRUPTED, SOME_FAILED};
use crate::compare::{Choice, Figure, Rule};
use crate::error::{Context, Result, one_line, unknown, usage};
use crate::host::{interrupt, leftovers, utc};
use crate::plan::Plan;
use crate::record::{self, Results};
use crate::report::{self, Lines, StatusLine, TextOptions};
use crate::run::{self, Observer, Options, Stage, Summary};
use crate::target::{Privilege, Spec, namespace};
use crate::units::Bytes;

/// Does what `command` says and gives the exit code.
///
/// # Errors
/// Whatever kept it from running.
pub fn perform(command: Command) -> Result<u8> {
    match command {
        Command::Run(args) => measure(&args),
        Command::Plan(args) => plan(&args),
        Command::Report {
            runs,
            results,
            judging,
        } => show(&runs, &results, &judging),
        Command::List { results } => list(&results),
        Command::Clean => clean(),
        Command::Worker => run::worker_main().map(|()| ALL_MEASURED),
    }
}

fn measure(args: &RunArgs) -> Result<u8> {
    interrupt::install()?;
    // Before any thread exists: a namespace belongs to the thread that enters it.
    let privilege = namespace::enter_private()?;
    let Resolved { plan, notes } = resolve(args, &privilege)?;
    for note in notes {
        eprintln!("note: {note}");
    }
    let options = Options {
        run_id: run_id(),
        results: args.results.clone(),
        arguments: std::env::args().skip(1).collect(),
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
    writeln!(
        out,
        "\nstored in {}; 'mountmark report' shows every operation",
        summary.dir.display()
    )?;
    Ok(exit_code(&summary))
}

fn exit_code(summary: &Summary) -> u8 {
    if summary.interrupted {
        INTERRUPTED
    } else if summary.failed + summary.skipped > 0 {
        SOME_FAILED
    } else {
        ALL_MEASURED
    }
}

/// Date and time to the millisecond, which sort by age, and a random tail, so that two
/// runs of one moment differ.
fn run_id() -> String {
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

fn plan(args: &RunArgs) -> Result<u8> {
    let privilege = namespace::enter_private()?;
    let Resolved { plan, notes } = resolve(args, &privilege)?;
    let mut out = io::stdout().lock();
    for (number, case) in plan.cases.iter().enumerate() {
        writeln!(out, "{:4}  {}", number + 1, case.key)?;
    }
    writeln!(
        out,
        "\n{} cases × {} rounds = {} measurements; profile {}",
        plan.cases.len(),
        plan.rounds,
        plan.measurements(),
        plan.sqlbench.profile
    )?;
    if plan.needs_image() {
        disk_need(&mut out, &plan, &privilege)?;
    }
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(ALL_MEASURED)
}

fn disk_need(out: &mut dyn Write, plan: &Plan, privilege: &Privilege) -> Result<()> {
    if let Privilege::DirectoriesOnly { reason } = privilege {
        writeln!(
            out,
            "file systems cannot be made here ({reason}): those cases would be skipped; run as root"
        )?;
        return Ok(());
    }
    let fits = crate::target::check_space(&plan.image_dir, plan.image_size);
    writeln!(
        out,
        "a loop image of {} in {}: {}",
        Bytes::human(plan.image_size),
        plan.image_dir.display(),
        match fits {
            Ok(()) => "there is room".to_string(),
            Err(error) => one_line(&error),
        }
    )?;
    Ok(())
}

/// The directory that `run` names: a path, or a name under `results`.
fn find_run(run: &Path, results: &Path) -> Result<PathBuf> {
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
fn text_options(results: &Results, judging: &Judging, operations: bool) -> Result<TextOptions> {
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
            figure: figure(results, judging.figure.as_deref())?,
            rule: Rule::default().with_threshold(threshold)?,
        },
    })
}

fn figure(results: &Results, name: Option<&str>) -> Result<Figure> {
    let operations = || {
        let phases = results.cases.iter().flat_map(|c| &c.phases);
        phases.flat_map(|p| &p.operations).map(|o| o.name.as_str())
    };
    match name {
        None => Ok(Figure::Usual),
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

fn show(runs: &[PathBuf], results: &Path, judging: &Judging) -> Result<u8> {
    let dirs = match runs {
        [] => vec![record::newest(results)?],
        named => named
            .iter()
            .map(|run| find_run(run, results))
            .collect::<Result<_>>()?,
    };
    let mut out = io::stdout().lock();
    for (number, dir) in dirs.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let results = record::load(dir)?;
        let options = text_options(&results, judging, true)?;
        report::text(&mut out, &results, &options)?;
    }
    Ok(ALL_MEASURED)
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
    for leftover in leftovers()? {
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
