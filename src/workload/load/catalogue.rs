//! All scripts of a load, compiled for one engine.

use std::sync::Arc;

use super::databases::{Cell, share};
use super::player::Player;
use super::script::{self, Builtin, Keep, Machine, Mix, ParamStyle, Program, Setup, Values};
use super::{Mode, Options};
use crate::error::{Error, Result, usage};
use crate::sql::Dialect;

/// A statement of the mix.
pub(super) struct Prepared {
    /// With places for its values, as the engine writes them.
    pub text: String,
    /// As it stands in the script.
    pub shown: String,
    /// What is sent instead of its text, where the engine has another word for it.
    pub instead: Option<&'static str>,
    pub keeps_rows: bool,
}

/// All scripts of a load, compiled for one engine, their statements numbered through.
pub(super) struct Catalogue {
    shared: Arc<Shared>,
    names: Vec<String>,
    setup: Setup,
    scales: Scales,
}

/// What all players of a load share.
pub(super) struct Shared {
    mix: Arc<Mix>,
    pub dialect: Dialect,
    pub statements: Vec<Prepared>,
    /// The number of the first statement of each script.
    pub first: Vec<usize>,
    pub retries_duplicates: Vec<bool>,
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
        let built_in = options.scripts.iter().map(|s| s.text.is_none()).collect();
        for script in &options.scripts {
            let (program, retries) = match &script.text {
                Some(text) => (Program::parse(&script.name, text).map_err(wrong)?, false),
                None => {
                    let builtin = Builtin::named(&script.name).map_err(wrong)?;
                    let tables = options.tables()?;
                    let program = builtin
                        .program(values, tables, &options.keys)
                        .map_err(wrong)?;
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
        let shared = Shared::new(mix, dialect, (retries_duplicates, built_in));
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

    /// True when some script waits for something else than answers.
    pub fn waits(&self) -> bool {
        let mix = &self.shared.mix;
        (0..mix.len()).any(|script| mix.program(script).waits())
    }

    /// The machine of `client`, counted from 0.
    pub fn player(&self, client: u32) -> Player {
        let setup = Setup {
            client_id: i64::from(client),
            scale: self.scales.scale(client) as i64,
            defines: self.scales.defines(&self.setup.defines, client),
            ..self.setup.clone()
        };
        let machine = Machine::new(&setup, Arc::clone(&self.shared.mix));
        Player::new(machine, Arc::clone(&self.shared))
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
    /// Of each script: whether a duplicate key means "try again", and whether it is ours.
    fn new(
        mix: Mix,
        dialect: Dialect,
        (retries_duplicates, built_in): (Vec<bool>, Vec<bool>),
    ) -> Self {
        let style = match dialect {
            Dialect::Postgres => ParamStyle::Dollar,
            _ => ParamStyle::Question,
        };
        let mut statements = Vec::new();
        let mut first = Vec::new();
        for (script, built_in) in built_in.iter().enumerate() {
            first.push(statements.len());
            let program = mix.program(script);
            let locks = *built_in && dialect == Dialect::Sqlite && writes(program);
            for statement in program.statements() {
                let instead = match locks {
                    true => lock_at_once(&statement.text),
                    false => other_word(&statement.text, dialect),
                };
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

/// On SQLite a transaction that has read cannot become one that writes while another
/// writes: all but one of them would fail. One that will write says so when it begins,
/// and waits for its turn there.
fn lock_at_once(text: &str) -> Option<&'static str> {
    bare(text)
        .eq_ignore_ascii_case("begin")
        .then_some("BEGIN IMMEDIATE")
}

/// Whether any statement of a built-in script changes rows.
fn writes(program: &Program) -> bool {
    let writes = |text: &str| {
        ["INSERT", "UPDATE", "DELETE"]
            .iter()
            .any(|w| text.starts_with(w))
    };
    program.statements().iter().any(|s| writes(&s.text))
}

/// Without what may follow a statement.
fn bare(text: &str) -> &str {
    text.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

/// MySQL knows no `END`.
fn other_word(text: &str, dialect: Dialect) -> Option<&'static str> {
    let text = bare(text);
    let ends = text.eq_ignore_ascii_case("end") || text.eq_ignore_ascii_case("end transaction");
    (dialect.is_mysql() && ends).then_some("COMMIT")
}

fn wrong(error: script::ScriptError) -> Error {
    usage(error.to_string())
}
