//! A client's script machine in the form in which a driver wants it.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::databases::{Cell, share};
use super::script::{
    self, Action, Builtin, Keep, Machine, Mix, ParamStyle, Program, RunError, Setup, Values,
};
use super::{Mode, Options};
use crate::engine::{Param, Table};
use crate::error::{Context, Error, Result, bail, usage};
use crate::sql::Dialect;

/// What a script does next.
pub(super) enum Move {
    Send,
    Sleep(Duration),
    OpenPipeline,
    SyncPipeline,
    ClosePipeline,
    Finished,
}

/// A statement of the mix.
pub(super) struct Prepared {
    /// With places for its values, as the engine writes them.
    pub text: String,
    /// As it stands in the script.
    pub shown: String,
    /// What is sent instead of its text, where the engine has another word for it.
    instead: Option<&'static str>,
    keeps_rows: bool,
}

/// All scripts of a load, compiled for one engine, their statements numbered through.
pub(super) struct Catalogue {
    shared: Arc<Shared>,
    names: Vec<String>,
    setup: Setup,
    scales: Scales,
}

struct Shared {
    mix: Arc<Mix>,
    dialect: Dialect,
    statements: Vec<Prepared>,
    /// The number of the first statement of each script.
    first: Vec<usize>,
    retries_duplicates: Vec<bool>,
}

/// What the keys of a client range over depends on its databases.
struct Scales {
    cell: Cell,
    scale: u64,
    rows: u64,
    tables: u64,
}

impl Catalogue {
    /// Compiles the scripts of `options`.
    ///
    /// # Errors
    /// What is wrong with a script, and where.
    pub fn new(options: &Options, cell: Cell, dialect: Dialect) -> Result<Self> {
        let values = match options.mode {
            Mode::Simple => Values::InText,
            Mode::Extended | Mode::Prepared => Values::AsParams,
        };
        let mut programs = Vec::new();
        let mut retries_duplicates = Vec::new();
        for script in &options.scripts {
            let (program, retries) = match &script.text {
                Some(text) => (Program::parse(&script.name, text).map_err(wrong)?, false),
                None => {
                    let builtin = Builtin::named(&script.name).map_err(wrong)?;
                    let program = builtin.program(values, options.tables()?).map_err(wrong)?;
                    (program, builtin.retries_duplicates)
                }
            };
            if program.uses_shell() && !options.allow_shell {
                return Err(usage(format!(
                    "script {} runs shell commands; allow it with --allow-shell",
                    script.name
                )));
            }
            programs.push((Arc::new(program), u64::from(script.weight)));
            retries_duplicates.push(retries);
        }
        let mix = Mix::new(programs).map_err(wrong)?;
        let scales = Scales {
            cell,
            scale: u64::from(options.scale),
            rows: options.preload,
            tables: u64::from(options.tables()?),
        };
        let defines = options.define.clone();
        let setup = Setup {
            client_id: 0,
            scale: 1,
            random_seed: options.seed,
            defines,
        };
        mix.check(values, &scales.defines(&setup.defines, 0))
            .map_err(wrong)?;
        let shared = Shared::new(mix, dialect, retries_duplicates);
        Ok(Catalogue {
            names: (0..shared.statements.len())
                .map(|n| format!("s{n}"))
                .collect(),
            shared: Arc::new(shared),
            setup,
            scales,
        })
    }

    /// Every statement, by its number.
    pub fn statements(&self) -> &[Prepared] {
        &self.shared.statements
    }

    /// The names under which they are prepared.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True when some script sends statements before earlier ones are answered.
    pub fn uses_pipeline(&self) -> bool {
        let mix = &self.shared.mix;
        (0..mix.len()).any(|script| mix.program(script).uses_pipeline())
    }

    /// The machine of `client`, counted from 0.
    pub fn player(&self, client: u32) -> Player {
        let setup = Setup {
            client_id: i64::from(client),
            scale: self.scales.scale(client) as i64,
            defines: self.scales.defines(&self.setup.defines, client),
            ..self.setup.clone()
        };
        Player {
            machine: Machine::new(&setup, Arc::clone(&self.shared.mix)),
            shared: Arc::clone(&self.shared),
            statement: 0,
            text: String::new(),
        }
    }
}

impl Scales {
    /// The smallest share among the databases of `client`.
    fn least(&self, client: u32, total: u64) -> u64 {
        let databases = self.cell.databases_of(client);
        let shares = databases.map(|index| share(total, self.cell.databases, index));
        shares.min().unwrap_or(total)
    }

    fn scale(&self, client: u32) -> u64 {
        self.least(client, self.scale)
    }

    /// What was defined, and what the built-in scripts need besides.
    fn defines(&self, given: &[(String, String)], client: u32) -> Vec<(String, String)> {
        let rows = self.least(client, self.rows) / self.tables;
        let mut defines = given.to_vec();
        for (name, value) in [
            ("tables", self.tables.to_string()),
            ("table_size", rows.to_string()),
            ("range_size", "100".to_string()),
        ] {
            if !defines.iter().any(|(defined, _)| defined == name) {
                defines.push((name.to_string(), value));
            }
        }
        defines
    }
}

impl Shared {
    fn new(mix: Mix, dialect: Dialect, retries_duplicates: Vec<bool>) -> Self {
        let style = match dialect {
            Dialect::Postgres => ParamStyle::Dollar,
            _ => ParamStyle::Question,
        };
        let mut statements = Vec::new();
        let mut first = Vec::new();
        for script in 0..mix.len() {
            first.push(statements.len());
            for statement in mix.program(script).statements() {
                let instead = other_word(&statement.text, dialect);
                statements.push(Prepared {
                    text: match instead {
                        Some(word) => word.to_string(),
                        None => statement.prepared_text(style),
                    },
                    shown: statement.first_line().to_string(),
                    instead,
                    keeps_rows: statement.keep != Keep::Nothing,
                });
            }
        }
        Shared {
            mix: Arc::new(mix),
            dialect,
            statements,
            first,
            retries_duplicates,
        }
    }
}

/// MySQL knows no `END`.
fn other_word(text: &str, dialect: Dialect) -> Option<&'static str> {
    let text = text.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    let ends = text.eq_ignore_ascii_case("end") || text.eq_ignore_ascii_case("end transaction");
    (dialect.is_mysql() && ends).then_some("COMMIT")
}

fn wrong(error: script::ScriptError) -> Error {
    usage(error.to_string())
}

#[cold]
fn stuck(error: RunError) -> Error {
    Error::msg(error.to_string())
}

/// One client's machine.
pub(super) struct Player {
    machine: Machine,
    shared: Arc<Shared>,
    /// The number of the statement that is to be sent.
    statement: usize,
    text: String,
}

/// Statements with more values than this cost an allocation each time.
const USUAL_PARAMS: usize = 16;

impl Player {
    /// Chooses the script of the next transaction.
    #[inline]
    pub fn begin(&mut self) {
        self.machine.begin();
    }

    /// Starts the transaction over, with the same values.
    pub fn retry(&mut self) {
        self.machine.retry();
    }

    /// Runs up to the next thing that must be done outside.
    ///
    /// # Errors
    /// A script that cannot go on.
    #[inline]
    pub fn next(&mut self) -> Result<Move> {
        loop {
            return Ok(match self.machine.next().map_err(stuck)? {
                Action::Send(number) => {
                    self.statement = self.shared.first[self.machine.script()] + number;
                    Move::Send
                }
                Action::Sleep(time) => Move::Sleep(time),
                Action::StartPipeline => Move::OpenPipeline,
                Action::SyncPipeline => Move::SyncPipeline,
                Action::EndPipeline => Move::ClosePipeline,
                Action::Finished => {
                    // What debug() prints goes to the worker's log.
                    self.machine.printed().for_each(|line| eprintln!("{line}"));
                    Move::Finished
                }
                Action::Shell => {
                    self.shell()?;
                    continue;
                }
            });
        }
    }

    #[cold]
    fn shell(&mut self) -> Result<()> {
        let mut line = String::new();
        let wanted = self.machine.shell_command(&mut line).map_err(stuck)?;
        let output = Command::new("/bin/sh")
            .arg("-c")
            .arg(&line)
            .output()
            .with_context(|| format!("cannot run '{line}'"))?;
        if !output.status.success() {
            bail!("the command '{line}' failed: {}", output.status);
        }
        if wanted {
            let text = String::from_utf8_lossy(&output.stdout);
            let first = text.lines().next().unwrap_or_default();
            self.machine.shell_output(first).map_err(stuck)?;
        }
        Ok(())
    }

    /// The script that runs, by its place in the mix.
    #[inline]
    pub fn script(&self) -> usize {
        self.machine.script()
    }

    /// The number of the statement that is to be sent.
    #[inline]
    pub fn statement(&self) -> usize {
        self.statement
    }

    /// Its text with its values, for messages.
    pub fn statement_text(&self) -> String {
        let mut text = String::new();
        self.machine.simple_text(&mut text);
        text
    }

    /// Whether a key that exists already means that the transaction may be tried again.
    pub fn retries_duplicates(&self) -> bool {
        self.shared.retries_duplicates[self.machine.script()]
    }

    /// Whether the statement's results are to be given to [`received`](Self::received).
    #[inline]
    pub fn wants_rows(&self) -> bool {
        self.shared.statements[self.statement].keeps_rows
    }

    /// Takes the results of the statement.
    ///
    /// # Errors
    /// `\gset` did not get one row.
    pub fn received(&mut self, results: &[Table]) -> Result<()> {
        for (number, table) in results.iter().enumerate() {
            let last = number + 1 == results.len();
            let row = table.rows.last().into_iter().flatten();
            let columns = table.columns.iter().map(String::as_str);
            let fields = columns.zip(row.map(|field| field.as_deref()));
            self.machine
                .received(table.rows.len() as u64, last, fields)
                .map_err(stuck)?;
        }
        Ok(())
    }

    /// The statement's text with its values.
    #[inline]
    pub fn simple_text(&mut self) -> &str {
        if let Some(instead) = self.shared.statements[self.statement].instead {
            return instead;
        }
        self.text.clear();
        self.machine.simple_text(&mut self.text);
        &self.text
    }

    /// The values of the statement's parameters.
    #[inline]
    pub fn params(&self) -> impl Iterator<Item = Param<'_>> {
        let postgres = self.shared.dialect == Dialect::Postgres;
        self.machine.params().map(move |param| match param {
            script::Param::Null => Param::Null,
            script::Param::Int(value) => Param::Int(value),
            script::Param::Double(value) => Param::Float(value),
            script::Param::Text(text) => Param::Text(text),
            script::Param::Bool(true) if postgres => Param::Text("true"),
            script::Param::Bool(false) if postgres => Param::Text("false"),
            script::Param::Bool(value) => Param::Int(i64::from(value)),
        })
    }

    /// The same, side by side.
    #[inline]
    pub fn with_params<R>(&self, f: impl FnOnce(&[Param<'_>]) -> R) -> R {
        let count = self.machine.params().len();
        if count > USUAL_PARAMS {
            let all: Vec<Param<'_>> = self.params().collect();
            return f(&all);
        }
        let mut few = [Param::Null; USUAL_PARAMS];
        for (place, param) in few.iter_mut().zip(self.params()) {
            *place = param;
        }
        f(&few[..count])
    }
}
