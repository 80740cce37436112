//! From what was typed about the load to its options and cells.

use super::load_args::LoadArgs;
use crate::engine::{Kind, Settings, Spec};
use crate::error::{Context, Result, ensure, usage};
use crate::workload::load::script::Builtin;
use crate::workload::load::{Cell, Mode, Options, Script};

/// Connections of ours beside those of the clients, and those that PostgreSQL keeps for
/// its superuser.
const OTHER_CONNECTIONS: u32 = 10;
/// From here on the servers' own limits (100 and 151) may not be enough.
const FEW_CONNECTIONS: u32 = 90;

/// The cells and options of the load, for engines of these kinds.
///
/// # Errors
/// Values that make no sense, alone or together.
pub fn load(args: &LoadArgs, engines: &[Kind], seed: u64) -> Result<(Options, Vec<Cell>)> {
    let usual = Options::default();
    let options = Options {
        scripts: scripts(args)?,
        mode: args.protocol.unwrap_or_default(),
        preload: args.preload.unwrap_or(usual.preload),
        scale: args.scale.unwrap_or(usual.scale),
        threads: args.jobs.unwrap_or(0),
        transactions: args.transactions,
        seconds: args.time,
        tuples: args.tuples,
        warmup_s: args.warmup.unwrap_or(usual.warmup_s),
        rate: args.rate,
        limit_ms: args.latency_limit,
        reconnect: args.connect,
        max_tries: args.max_tries.unwrap_or(usual.max_tries),
        checkpoints: args.checkpoints.clone(),
        progress_s: args.progress,
        per_statement: args.report_per_command,
        keys: args.keys.keys()?,
        define: define(args)?,
        allow_shell: args.allow_shell,
        seed,
    }
    .with_amount();
    options.check()?;
    if let (Some(flag), false) = (args.keys.first_given(), options.has_sysbench()) {
        return Err(usage(format!(
            "{flag} says how sysbench's scripts choose their keys, and none of them is run; \
             name one, -b oltp_read_write, or use random_gaussian() and the like in a script"
        )));
    }
    let one = [1];
    let or_one = |given: &[u32]| match given {
        [] => one.to_vec(),
        given => given.to_vec(),
    };
    let mut cells = Vec::new();
    for databases in or_one(&args.databases) {
        for clients in or_one(&args.client) {
            let cell = Cell { clients, databases };
            options.check_cell(cell)?;
            cells.push(cell);
        }
    }
    options.check_scripts(cells[0])?;
    for kind in engines {
        check_engine((&options, cells[0]), args, *kind, engines)?;
    }
    Ok((options, cells))
}

fn check_engine(
    (options, cell): (&Options, Cell),
    args: &LoadArgs,
    kind: Kind,
    all: &[Kind],
) -> Result<()> {
    ensure!(
        kind == Kind::Postgres || options.mode != Mode::Extended,
        usage(format!(
            "--protocol extended is PostgreSQL's; {kind} has simple and prepared"
        ))
    );
    ensure!(
        args.jobs.is_none() || all.contains(&Kind::Postgres),
        usage("--jobs is for PostgreSQL; other engines have a thread a client")
    );
    ensure!(
        kind == Kind::Postgres || !options.uses_pipeline(cell)?,
        usage(format!(
            "the script uses a pipeline, which {kind} does not have"
        ))
    );
    Ok(())
}

fn scripts(args: &LoadArgs) -> Result<Vec<Script>> {
    let mut scripts = Vec::new();
    for given in &args.builtin {
        let (name, weight) = split(given)?;
        let builtin = Builtin::named(name).map_err(|error| usage(error.to_string()))?;
        scripts.push(Script {
            name: builtin.name.to_string(),
            text: None,
            weight,
        });
    }
    for given in &args.file {
        let (name, weight) = split(given)?;
        let text = std::fs::read_to_string(LoadArgs::file_of(given))
            .with_context(|| format!("cannot read the script {name}"))
            .map_err(|error| usage(crate::error::one_line(&error)))?;
        scripts.push(Script {
            name: name.to_string(),
            text: Some(text),
            weight,
        });
    }
    match scripts.is_empty() {
        true => Ok(Options::default().scripts),
        false => Ok(scripts),
    }
}

fn split(given: &str) -> Result<(&str, u32)> {
    let Some((name, weight)) = given.rsplit_once('@') else {
        return Ok((given, 1));
    };
    match weight.parse() {
        Ok(weight) if weight > 0 => Ok((name, weight)),
        _ => Err(usage(format!(
            "'{given}': a weight is a whole number from 1 up, {name}@2"
        ))),
    }
}

fn define(args: &LoadArgs) -> Result<Vec<(String, String)>> {
    let pairs = args.define.iter().map(|text| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(usage(format!("--define {text}: write it like NAME=VALUE"))),
    });
    pairs.collect()
}

/// Lets the servers take the connections of the largest cell, where they would not by
/// themselves.
///
/// # Errors
/// A limit that was asked for and is too low.
pub fn allow_connections(
    engines: &mut [(Spec, String, Vec<Settings>)],
    cells: &[Cell],
) -> Result<()> {
    let most = cells.iter().map(|cell| cell.connections()).max();
    let needed = most.unwrap_or(0) + OTHER_CONNECTIONS;
    for (spec, _, settings) in engines {
        if matches!(spec.kind, Kind::Sqlite | Kind::Null) {
            continue;
        }
        for cell in settings {
            match cell.get("max_connections").map(|v| v.parse::<u32>()) {
                None if needed > FEW_CONNECTIONS => {
                    cell.insert("max_connections".to_string(), needed.to_string());
                }
                Some(Ok(asked)) if asked < needed => {
                    return Err(usage(format!(
                        "max_connections={asked} is too low: the load needs {needed}"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
