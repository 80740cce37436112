//! From what was typed to a plan for this machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::args::RunArgs;
use super::duets;
use super::files::{self, FilesArgs};
use super::load_plan;
use super::memory;
use super::on;
use crate::compare;
use crate::engine::{self, Kind, Settings};
use crate::error::{Result, ensure, shown, unknown, usage};
use crate::plan::{Axes, Plan, UntilSure};
use crate::target::{self, FsType, Made, Privilege, Spec};
use crate::workload::{load, sqlbench};

/// A target that cannot be made here.
pub(super) struct NotHere {
    /// Its label.
    pub target: String,
    /// Why not.
    pub why: target::Missing,
}

impl std::fmt::Display for NotHere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.target, self.why)
    }
}

/// A plan, and what a user should know about how it came about.
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// Remarks on the choice of targets.
    pub notes: Vec<String>,
}

/// What is run for somebody who names nothing: what file systems differ in most, in minutes.
const FIRST_LOOK: [&str; 3] = ["create", "insert", "small-files"];
/// Enough rounds for a first verdict.
const FIRST_LOOK_ROUNDS: u32 = 3;
/// Where rounds are added, there are so many at most.
const MOST_ROUNDS: u32 = 30;

/// What `args` mean where file systems may be used as `privilege` says.
///
/// # Errors
/// Unknown names, values out of range, a setting for an engine that is not in the plan.
pub fn resolve(args: &RunArgs, privilege: &Privilege) -> Result<Resolved> {
    ensure!(
        args.loops().is_finite() && args.loops() > 0.0,
        usage(format!(
            "--loops {} is not a factor above zero",
            args.loops()
        ))
    );
    ensure!(
        args.time_limit.is_finite() && args.time_limit > 0.0,
        usage(format!(
            "--time-limit {} is not a time above zero",
            args.time_limit
        ))
    );
    let mut notes = Vec::new();
    let targets = match args.on.as_slice() {
        [] => default_targets(privilege, &mut notes)?,
        given => on::targets(given, &mut notes)?,
    };
    if !args.on.is_empty() && targets.len() > 1 && !targets.iter().any(is_ext2) {
        notes.push("ext2 is not among the targets; it is the usual reference".to_string());
    }
    devices(args, &targets)?;
    args.memory.check(&targets)?;
    let baseline = baseline(args, &targets)?;
    let (workloads, files) = match args.is_first_look() {
        true => workloads(&FIRST_LOOK.map(String::from), &args.files)?,
        false => workloads(&args.workloads, &args.files)?,
    };
    ensure!(
        !workloads.is_empty() || args.engine.is_empty() && args.set.is_empty(),
        usage(
            "--engine and --set fit no workload that was named; add one with a database: sql-bench"
        )
    );
    notes.extend(files::crowded(args, &files));
    let seed = args.seed.unwrap_or_else(rand::random);
    let mut engines = match workloads.is_empty() {
        true => Vec::new(),
        false => engines(args)?,
    };
    let (load, loads) = match workloads.iter().any(|w| w == load::NAME) {
        true => {
            let kinds: Vec<Kind> = engines.iter().map(|(spec, ..)| spec.kind).collect();
            let (options, cells) = load_plan::load(&args.load, &kinds, seed)?;
            load_plan::allow_connections(&mut engines, &cells)?;
            (Some(options), cells)
        }
        false => (None, Vec::new()),
    };
    if let (None, Some(flag)) = (&load, args.load.first_given()) {
        return Err(usage(format!(
            "{flag} is for the workload load, which is not in the plan; add it: mountmark run load"
        )));
    }
    let axes = Axes {
        workloads,
        files,
        targets,
        engines,
        memory: args.memory.axis(),
        cpus: args.cpus.clone(),
        loads,
    };
    let mut cases = axes.cases()?;
    args.memory.fit(&mut cases);
    let plan = Plan {
        cases,
        rounds: rounds(args),
        seed,
        load,
        sqlbench: sqlbench::Options {
            profile: args.profile,
            loops: args.loops(),
            fast: args.fast,
            read_key_loops: args.read_key_loops,
            many_keys_loops: args.many_keys_loops,
            atis_data: atis_data(args)?,
            time_limit_s: args.time_limit,
        },
        image_size: args.image_size,
        image_dir: args.image_dir.clone(),
        devices: args.device.clone(),
        label: args.label.clone(),
        baseline,
        threshold: fraction("--threshold", &args.threshold)?,
        until_sure: until_sure(args)?,
        tune_memory: args.memory.tune_memory,
        slice: None,
        units: Vec::new(),
    }
    .with_twins();
    let missing = missing(&plan, privilege);
    let plan = duets::arrange(plan, args, &missing, &mut notes)?;
    notes.extend(missing.iter().map(|m| format!("skipped: {m}")));
    notes.extend(memory::notes(&plan));
    Ok(Resolved { plan, notes })
}

/// Targets that cannot be made here, where others can.
fn missing(plan: &Plan, privilege: &Privilege) -> Vec<NotHere> {
    let mut missing: Vec<NotHere> = Vec::new();
    for case in &plan.cases {
        let (Spec::Made(made), Privilege::Full) = (&case.target, privilege) else {
            continue;
        };
        if missing.iter().any(|m| m.target == case.key.target) {
            continue;
        }
        if let Err(why) = target::probe(made.fs) {
            missing.push(NotHere {
                target: case.key.target.clone(),
                why,
            });
        }
    }
    missing
}

/// The directory of the original tables, made absolute: a worker may live elsewhere.
fn atis_data(args: &RunArgs) -> Result<Option<PathBuf>> {
    let Some(dir) = &args.atis_data else {
        return Ok(None);
    };
    let found = dir
        .canonicalize()
        .ok()
        .filter(|d| d.join("flight.txt").is_file());
    found.map(Some).ok_or_else(|| {
        usage(format!(
            "--atis-data {}: the original tables (aircraft.txt, …, transport.txt) are not in it",
            dir.display()
        ))
    })
}

/// Devices are for made targets, and only what is a device may be destroyed.
fn devices(args: &RunArgs, targets: &[Spec]) -> Result<()> {
    ensure!(
        args.device.is_empty() || on::needs_device(targets),
        usage("--device is for file systems that are made; name one, like --on ext4")
    );
    ensure!(
        args.device.len() <= 2,
        usage("--device can be given twice at most")
    );
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let devices: Vec<PathBuf> = args.device.iter().map(real).collect();
    ensure!(
        devices.len() < 2 || devices[0] != devices[1],
        usage("--device names the same device twice")
    );
    match args.destroy.iter().find(|d| !devices.contains(&real(d))) {
        Some(other) => Err(usage(format!(
            "--destroy {}: this is no --device of this run",
            shown(other)
        ))),
        None => Ok(()),
    }
}

/// Rounds to begin with: width alone decides after them.
fn rounds(args: &RunArgs) -> u32 {
    let usual = if args.is_first_look() {
        FIRST_LOOK_ROUNDS
    } else {
        1
    };
    let given = args.rounds.unwrap_or(usual);
    match args.until_sure {
        Some(_) => given.max(compare::UntilSure::LEAST as u32),
        None => given,
    }
}

fn until_sure(args: &RunArgs) -> Result<Option<UntilSure>> {
    let Some(width) = &args.until_sure else {
        ensure!(
            args.max_rounds.is_none(),
            usage("--max-rounds is for --until-sure WIDTH, which is not there; add it")
        );
        return Ok(None);
    };
    let width = fraction("--until-sure", width)?;
    ensure!(
        width > 0.0,
        usage("--until-sure 0% would never end; name a width above zero")
    );
    let most = args.max_rounds.unwrap_or(MOST_ROUNDS);
    ensure!(
        most >= rounds(args),
        usage(format!(
            "--max-rounds {most} is below the {} rounds that come first",
            rounds(args)
        ))
    );
    Ok(Some(UntilSure { width, most }))
}

/// The baseline's label; it must be among the targets.
fn baseline(args: &RunArgs, targets: &[Spec]) -> Result<Option<String>> {
    let Some(text) = &args.baseline else {
        return Ok(None);
    };
    let named = if args.on.is_empty() { &[] } else { targets };
    let labels: Vec<String> = named.iter().map(Spec::label).collect();
    let wanted = text
        .parse::<Spec>()
        .map_or_else(|_| text.clone(), |spec| spec.label());
    let found = labels.iter().find(|l| **l == *text || **l == wanted);
    let valid: Vec<&str> = labels.iter().map(String::as_str).collect();
    match found {
        _ if labels.is_empty() => Ok(Some(wanted)),
        Some(label) => Ok(Some(label.clone())),
        None => Err(unknown("baseline", text, &valid)),
    }
}

/// `5%` or `0.05` as a fraction.
pub(super) fn fraction(option: &str, text: &str) -> Result<f64> {
    let (digits, scale) = match text.trim().strip_suffix('%') {
        Some(digits) => (digits.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let value: Option<f64> = digits.parse().ok().map(|v: f64| v * scale);
    value.filter(|v| (0.0..1.0).contains(v)).ok_or_else(|| {
        usage(format!(
            "{option} {text}: write it like 5% or 0.05, below 100%"
        ))
    })
}

fn is_ext2(target: &Spec) -> bool {
    matches!(target, Spec::Made(made) if made.fs == FsType::Ext2)
}

/// Every file system that can be made here, or the current directory.
fn default_targets(privilege: &Privilege, notes: &mut Vec<String>) -> Result<Vec<Spec>> {
    if let Privilege::DirectoriesOnly { reason } = privilege {
        notes.push(format!(
            "file systems cannot be made here ({reason}): only the current directory is measured; run as root for more"
        ));
        return Ok(vec![Spec::Directory(std::env::current_dir()?)]);
    }
    let mut targets = Vec::new();
    for fs in [
        FsType::Ext2,
        FsType::Ext3,
        FsType::Ext4,
        FsType::Xfs,
        FsType::Btrfs,
    ] {
        match target::probe(fs) {
            Ok(()) => targets.push(Spec::Made(Made::plain(fs))),
            Err(missing) => notes.push(format!(
                "{fs} is left out: {}; {}",
                missing.reason, missing.remedy
            )),
        }
    }
    ensure!(
        !targets.is_empty(),
        usage("no file system can be made here; name a directory with --on")
    );
    Ok(targets)
}

/// What can be run, by name.
pub(super) fn workload_names() -> Vec<&'static str> {
    let mut names = vec!["sql-bench", load::NAME];
    names.extend(sqlbench::PHASES);
    names.extend(files::names());
    names
}

/// Workloads without an engine, with the settings of their cells.
type Files = Vec<(String, Vec<Settings>)>;

/// The workloads that need an engine, and those that do not.
fn workloads(given: &[String], args: &FilesArgs) -> Result<(Vec<String>, Files)> {
    let mut found: Vec<String> = Vec::new();
    let mut files = Files::new();
    let suite = ["sql-bench".to_string()];
    for name in if given.is_empty() { &suite } else { given } {
        let without_engine = files::cells(name, args)?;
        match name.as_str() {
            _ if !without_engine.is_empty() => files.extend(without_engine),
            "sql-bench" => found.extend(sqlbench::SUITE.iter().map(ToString::to_string)),
            phase if sqlbench::PHASES.contains(&phase) => found.push(phase.to_string()),
            load::NAME => found.push(load::NAME.to_string()),
            _ => return Err(unknown("workload", name, &workload_names())),
        }
    }
    Ok((found, files))
}

/// The engines, each with its build's label and the settings of its cells.
fn engines(args: &RunArgs) -> Result<Vec<(engine::Spec, String, Vec<Settings>)>> {
    let default = [engine::Spec {
        kind: Kind::Sqlite,
        path: None,
    }];
    let given: &[engine::Spec] = match args.engine.as_slice() {
        [] => &default,
        given => given,
    };
    check_wal_sync(&args.wal_sync, given)?;
    let mut asked = asked_settings(&args.set)?;
    let mut engines = Vec::new();
    for spec in given {
        let found = engine::find(spec);
        let mut values = BTreeMap::new();
        for setting in asked
            .iter_mut()
            .filter(|s| s.engine.is_none_or(|e| e == spec.kind))
        {
            setting.used = true;
            let of_name: &mut Vec<String> = values.entry(setting.name.clone()).or_default();
            of_name.push(setting.value.clone());
        }
        if let Some((name, _)) = spec.kind.wal_sync() {
            let fits = args.wal_sync.iter();
            let fits: Vec<String> = fits
                .filter_map(|method| spec.kind.wal_sync_value(method))
                .map(String::from)
                .collect();
            if !fits.is_empty() {
                ensure!(
                    !values.contains_key(name),
                    usage(format!(
                        "{name} is given by --set and by --wal-sync; keep one"
                    ))
                );
                values.insert(name.to_string(), fits);
            }
        }
        // One that is missing keeps its cases: they fail with the reason, the others run.
        let (label, defaults) = match &found {
            Ok(found) => (found.build().label(), found.defaults()),
            Err(_) => (format!("{spec} (missing)"), Settings::new()),
        };
        engines.push((spec.clone(), label, product(defaults, &values)));
    }
    if let Some(unused) = asked.iter().find(|s| !s.used) {
        return Err(usage(format!(
            "--set {}: no such engine is in the plan; name it with --engine",
            unused.text
        )));
    }
    Ok(engines)
}

/// Every method must fit one of the engines at least.
fn check_wal_sync(methods: &[String], engines: &[engine::Spec]) -> Result<()> {
    for method in methods {
        if engines
            .iter()
            .any(|spec| spec.kind.wal_sync_value(method).is_some())
        {
            continue;
        }
        let lists: Vec<String> = engines
            .iter()
            .map(|spec| match spec.kind.wal_sync() {
                Some((_, values)) => format!("{}: {}", spec.kind, values.join(", ")),
                None => format!("{}: none", spec.kind),
            })
            .collect();
        return Err(usage(format!(
            "--wal-sync {method} fits no engine of the plan; {}",
            lists.join("; ")
        )));
    }
    Ok(())
}

struct Asked {
    text: String,
    engine: Option<Kind>,
    name: String,
    value: String,
    used: bool,
}

fn asked_settings(given: &[String]) -> Result<Vec<Asked>> {
    let mut asked = Vec::new();
    for text in given {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("--set {text}: write it like [ENGINE:]NAME=VALUE")))?;
        let (engine, name) = match name.split_once(':') {
            Some((engine, name)) => (Some(engine.parse()?), name),
            None => (None, name),
        };
        ensure!(
            !name.is_empty(),
            usage(format!(
                "--set {text}: there is no name before the equals sign"
            ))
        );
        asked.push(Asked {
            text: text.clone(),
            engine,
            name: name.to_string(),
            value: value.to_string(),
            used: false,
        });
    }
    Ok(asked)
}

/// The defaults with every combination of the asked values put over them.
fn product(defaults: Settings, values: &BTreeMap<String, Vec<String>>) -> Vec<Settings> {
    let mut cells = vec![defaults];
    for (name, values) in values {
        cells = cells
            .iter()
            .flat_map(|cell| {
                values.iter().map(|value| {
                    let mut cell = cell.clone();
                    cell.insert(name.clone(), value.clone());
                    cell
                })
            })
            .collect();
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_twice_is_an_axis() {
        let values = BTreeMap::from([
            ("a".to_string(), vec!["1".to_string(), "2".to_string()]),
            ("b".to_string(), vec!["3".to_string()]),
        ]);
        let cells = product(
            Settings::from([("b".to_string(), "0".to_string())]),
            &values,
        );
        assert_eq!(cells.len(), 2);
        assert!(cells.iter().all(|c| c["b"] == "3"));
    }

    #[test]
    fn workloads_are_phases_or_the_suite_or_need_no_engine() {
        let args = FilesArgs {
            tree_scale: None,
            tree_jobs: vec![1],
            tree_archive: None,
            order: vec!["generated".parse().unwrap(), "shuffled".parse().unwrap()],
            sync_calls: 10,
        };
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            workloads(&names, &args)
        };
        assert!(of(&[]).unwrap().0.contains(&"insert".to_string()));
        assert_eq!(of(&["create"]).unwrap().0, ["create"]);
        let (phases, files) = of(&["create", "tree", "sync"]).unwrap();
        assert_eq!(phases, ["create"]);
        let cells: Vec<_> = files.iter().map(|(n, c)| (n.as_str(), c.len())).collect();
        assert_eq!(cells, [("small-files", 2), ("source-tree", 2), ("sync", 1)]);
        let message = of(&["sleect"]).unwrap_err().to_string();
        assert!(
            message.contains("sql-bench") && message.contains("tree"),
            "{message}"
        );
    }
}
