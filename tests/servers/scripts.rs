//! The scripts of `tests/scripts`, run on PostgreSQL by us and by the pgbench that is
//! installed beside it: the server must have got the same statements, which are those of
//! the `.expected` files. `MOUNTMARK_BLESS=1` writes these files from what pgbench sent.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread;

use mountmark::sql::Dialect;
use mountmark::workload::load::script::{
    Action, BUILTINS, Builtin, Keep, Keys, Machine, Mix, ParamStyle, Program, Schema, Setup, Values,
};
use postgres::SimpleQueryMessage;

use crate::corpus::{Script, corpus};
use crate::noting::Noting;

/// What a run left behind beside the server's log.
#[derive(Default)]
struct Ran {
    prepared: Vec<String>,
    debug: Vec<String>,
    failed: bool,
}

/// A trivial driver: one statement at a time, values written in.
fn drive(
    client: &mut postgres::Client,
    mix: Mix,
    defines: &[(String, String)],
    transactions: usize,
) -> Ran {
    let setup = Setup {
        client_id: 0,
        scale: 1,
        random_seed: 5,
        defines: defines.to_vec(),
    };
    let mut machine = Machine::new(&setup, Arc::new(mix));
    let mut ran = Ran::default();
    for _ in 0..transactions {
        machine.begin();
        if let Err(error) = transaction(client, &mut machine, &mut ran) {
            eprintln!("{error}");
            ran.failed = true;
            break;
        }
    }
    ran.debug.extend(machine.printed());
    ran
}

fn transaction(
    client: &mut postgres::Client,
    machine: &mut Machine,
    ran: &mut Ran,
) -> Result<(), String> {
    loop {
        match machine.next().map_err(|e| e.to_string())? {
            Action::Finished => return Ok(()),
            Action::Sleep(duration) => thread::sleep(duration),
            Action::Send(_) => send(client, machine, ran)?,
            Action::Shell => {
                let mut line = String::new();
                let wanted = machine
                    .shell_command(&mut line)
                    .map_err(|e| e.to_string())?;
                let output = Command::new("sh").args(["-c", &line]).output().unwrap();
                assert!(output.status.success(), "{line}");
                if wanted {
                    let text = String::from_utf8_lossy(&output.stdout).into_owned();
                    let first = text.lines().next().unwrap_or_default();
                    machine.shell_output(first).map_err(|e| e.to_string())?;
                }
            }
            Action::StartPipeline | Action::SyncPipeline | Action::EndPipeline => {}
        }
    }
}

fn send(client: &mut postgres::Client, machine: &mut Machine, ran: &mut Ran) -> Result<(), String> {
    let statement = machine.statement();
    ran.prepared
        .push(statement.prepared_text(ParamStyle::Dollar));
    assert_eq!(machine.params().len(), statement.params().len());
    let keep = statement.keep;
    let mut text = String::new();
    machine.simple_text(&mut text);
    let answer = client.simple_query(&text).map_err(|e| format!("{e:?}"))?;
    if keep == Keep::Nothing {
        return Ok(());
    }
    let ends: Vec<usize> = answer
        .iter()
        .enumerate()
        .filter(|(_, m)| matches!(m, SimpleQueryMessage::CommandComplete(_)))
        .map(|(n, _)| n)
        .collect();
    let mut start = 0;
    for (n, end) in ends.iter().enumerate() {
        let rows: Vec<_> = answer[start..*end]
            .iter()
            .filter_map(|m| match m {
                SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            })
            .collect();
        let fields = rows.last().into_iter().flat_map(|row| {
            let columns = row.columns().iter().enumerate();
            columns.map(|(n, column)| (column.name(), row.get(n)))
        });
        machine
            .received(rows.len() as u64, n + 1 == ends.len(), fields)
            .map_err(|e| e.to_string())?;
        start = end + 1;
    }
    Ok(())
}

fn prepare_tables(server: &Noting) {
    server
        .connect("tables")
        .batch_execute(
            "CREATE TABLE corpus (id int PRIMARY KEY, name text);
             INSERT INTO corpus VALUES (1, 'one'), (2, 'two'), (3, 'three');
             CREATE TABLE corpus1 (id int);
             CREATE TABLE corpus_ruled (id int);",
        )
        .unwrap();
}

/// The output of pgbench: what `debug()` wrote, and whether it gave up.
fn of_pgbench(script: &Script, output: &Output) -> (Vec<String>, bool) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let debug = errors.lines().filter(|l| l.starts_with("debug("));
    let debug = debug.map(str::to_string).collect();
    let failed = !output.status.success();
    assert_eq!(failed, script.fails, "{}: {errors}", script.name);
    (debug, failed)
}

/// One script in one mode, as it ran.
struct Run<'a> {
    script: &'a Script,
    mode: &'static str,
    ours: Ran,
    /// What pgbench's `debug()` wrote, and whether it gave up.
    theirs: Option<(Vec<String>, bool)>,
}

fn run<'a>(
    server: &Noting,
    pgbench: Option<&Path>,
    script: &'a Script,
    mode: &'static str,
) -> Run<'a> {
    let program = Program::parse(&script.name, &script.text).unwrap_or_else(|e| panic!("{e}"));
    let mix = Mix::of(program).unwrap();
    let values = match mode {
        "simple" => Values::InText,
        _ => Values::AsParams,
    };
    mix.check(values, &script.defines)
        .unwrap_or_else(|e| panic!("{e}"));
    let theirs = pgbench.map(|pgbench| {
        let name = format!("pgbench {} {mode}", script.name);
        let output = server.run_pgbench(pgbench, &name, &script.arguments(mode));
        of_pgbench(script, &output)
    });
    let mut client = server.connect(&format!("ours {} {mode}", script.name));
    let ours = drive(&mut client, mix, &script.defines, script.transactions);
    assert_eq!(ours.failed, script.fails, "{}", script.name);
    Run {
        script,
        mode,
        ours,
        theirs,
    }
}

/// Where what was sent is not what is expected.
fn differences(run: Run<'_>, noted: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let (script, mode) = (run.script, run.mode);
    let sent = |by: &str| {
        let name = format!("{by} {} {mode}", script.name);
        noted.get(&name).cloned().unwrap_or_default()
    };
    let statements = match mode {
        "simple" => sent("ours"),
        _ => run.ours.prepared,
    };
    let ours = script.lines(&statements, &run.ours.debug, run.ours.failed);
    let theirs = run
        .theirs
        .map(|(debug, failed)| script.lines(&sent("pgbench"), &debug, failed));
    let file = script.path.with_extension(format!("{mode}.expected"));
    if let (Some(theirs), Some(_)) = (&theirs, std::env::var_os("MOUNTMARK_BLESS")) {
        fs::write(&file, theirs).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    let both = [("we", Some(ours)), ("pgbench", theirs)].into_iter();
    let wrong = both.filter_map(|(by, sent)| Some((by, sent.filter(|s| *s != expected)?)));
    wrong
        .map(|(by, sent)| {
            let name = &script.name;
            format!("{name} {mode}, {by} sent:\n{sent}expected:\n{expected}")
        })
        .collect()
}

pub fn send_what_pgbench_sends() {
    let Some(server) = Noting::start() else {
        return;
    };
    let pgbench = server.pgbench();
    if pgbench.is_none() {
        eprintln!("SKIPPED, no pgbench beside the server: only what is expected is compared");
    }
    prepare_tables(&server);
    let scripts = corpus();
    assert!(scripts.len() >= 40, "{} scripts", scripts.len());
    let mut runs = Vec::new();
    for script in &scripts {
        for mode in script.modes() {
            runs.push(run(&server, pgbench.as_deref(), script, mode));
        }
    }
    let noted = server.stop();
    let wrong: Vec<String> = runs
        .into_iter()
        .flat_map(|run| differences(run, &noted))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// pgbench's own scripts, on its own tables: the same texts but for the numbers.
pub fn built_in_scripts_send_what_pgbench_sends() {
    let Some(server) = Noting::start() else {
        return;
    };
    let Some(pgbench) = server.pgbench() else {
        eprintln!("SKIPPED, no pgbench beside the server");
        return;
    };
    let made = server.run_pgbench(&pgbench, "tables", &["-i".into(), "-q".into()]);
    assert!(made.status.success(), "{made:?}");
    let builtins = BUILTINS.iter().filter(|b| b.schema == Schema::Pgbench);
    let mut runs = Vec::new();
    for builtin in builtins {
        let arguments = ["-n", "-t", "3", "-M", "prepared", "-b", builtin.name].map(String::from);
        let name = format!("pgbench {}", builtin.name);
        let output = server.run_pgbench(&pgbench, &name, &arguments);
        assert!(output.status.success(), "{output:?}");
        let mut client = server.connect("ours");
        let program = builtin
            .program(Values::AsParams, 1, &Keys::default())
            .unwrap();
        let ran = drive(&mut client, Mix::of(program).unwrap(), &[], 3);
        assert!(!ran.failed, "{name}");
        runs.push((name, ran.prepared));
    }
    let noted = server.stop();
    assert_eq!(runs.len(), 3);
    for (name, prepared) in runs {
        assert_eq!(noted[&name], prepared, "{name}");
    }
}

/// Every built-in script on tables made from its own schema.
pub fn built_in_scripts_find_their_tables() {
    let Some(server) = Noting::start() else {
        return;
    };
    let mut client = server.connect("ours");
    for schema in [Schema::Tuples, Schema::Pgbench, Schema::Sysbench] {
        for statement in schema.statements(Dialect::Postgres, 2) {
            client.batch_execute(&statement).unwrap();
        }
    }
    for builtin in BUILTINS {
        for values in [Values::InText, Values::AsParams] {
            let ran = drive(&mut client, mix(builtin, values), &defines(builtin), 5);
            assert!(!ran.failed, "{}", builtin.name);
            for text in ran.prepared.iter().filter(|_| values == Values::AsParams) {
                client
                    .prepare(text)
                    .unwrap_or_else(|e| panic!("{text}: {e}"));
            }
        }
    }
}

fn mix(builtin: &Builtin, values: Values) -> Mix {
    Mix::of(builtin.program(values, 2, &Keys::default()).unwrap()).unwrap()
}

fn defines(builtin: &Builtin) -> Vec<(String, String)> {
    let defaults = builtin.defaults().iter();
    defaults
        .map(|(name, value)| match *name {
            "tables" => ("tables".into(), "2".into()),
            _ => (name.to_string(), value.to_string()),
        })
        .collect()
}
