//! A plan file: what could be typed after `run`, in TOML. It has no reader of options of its
//! own: its keys are the long options of `run`, their values are handed to the same parser,
//! and what is typed beside `--plan` goes before what the file says.
//!
//! One file is one plan: its values multiply as those of the command line do. What is not to be
//! multiplied is another file.

mod builtin;
mod entry;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, Parser};
use toml::de::{DeTable, DeValue};

use self::entry::{Entry, Reader};
use super::args::{Args, Command, RunArgs};
use crate::error::{Result, anyhow, ensure, usage};

pub(super) use builtin::list;

/// What `RunArgs` know of how they came about.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// The command line, with the options of the plan file in it.
    pub line: Vec<OsString>,
    /// Which plan file, and what was typed over it.
    pub notes: Vec<String>,
}

/// Puts the options of a plan file, where one is named, into `args`, which are what `line`
/// says.
///
/// # Errors
/// No such file or plan; a key or a value that is not one of the options, with its line.
pub(super) fn settled(mut args: Args, line: Vec<OsString>) -> Result<Args> {
    let named = run_args(&mut args.command).map(|run| (run.plan.clone(), run.short));
    let (line, notes) = match named {
        None => return Ok(args),
        Some((None, _)) => (line, Vec::new()),
        Some((Some(name), short)) => {
            let file = PlanFile::read(&name)?;
            let (line, notes) = file.put_into(&line, short)?;
            args = Args::try_parse_from(&line).map_err(|error| {
                usage(format!("plan {}: {}", file.name, entry::first_line(&error)))
            })?;
            (line, notes)
        }
    };
    if let Some(run) = run_args(&mut args.command) {
        run.typed = Typed { line, notes };
    }
    Ok(args)
}

fn run_args(command: &mut Command) -> Option<&mut RunArgs> {
    match command {
        Command::Run(run) => Some(run),
        Command::Plan(plan) => Some(&mut plan.run),
        _ => None,
    }
}

/// A plan file, read.
#[derive(Debug)]
struct PlanFile {
    /// As the user named it.
    name: String,
    /// What it says it is: its first line, a comment.
    title: Option<String>,
    entries: Vec<Entry>,
    short: Option<Vec<Entry>>,
}

impl PlanFile {
    fn read(name: &str) -> Result<Self> {
        let text = builtin::text(name)?;
        Self::parse(name, &text)
    }

    fn parse(name: &str, text: &str) -> Result<Self> {
        let command = Args::command();
        let reader = Reader::new(name, text, &command)?;
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            reader.wrong(at, error.message().trim())
        })?;
        let mut file = PlanFile {
            name: name.to_string(),
            title: builtin::title(text),
            entries: Vec::new(),
            short: None,
        };
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let at = key.span().start;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("short", DeValue::Table(short)) => file.short = Some(reader.entries(short)?),
                ("short", _) => {
                    return Err(reader.wrong(
                        at,
                        "'short' is a section: write [short] and its keys below it, at the end of \
                         the file",
                    ));
                }
                (section, value) if is_section(value) => {
                    return Err(reader.wrong(
                        at,
                        &format!(
                            "unknown section [{section}]; the only one is [short], and a file is \
                             one plan"
                        ),
                    ));
                }
                _ => file.entries.push(reader.entry(key, value.get_ref())?),
            }
        }
        Ok(file)
    }

    /// The command line `line` with what the file says before what was typed, and what there
    /// is to tell about it.
    fn put_into(&self, line: &[OsString], short: bool) -> Result<(Vec<OsString>, Vec<String>)> {
        let chosen = self.chosen(short)?;
        let typed = Args::command()
            .try_get_matches_from(line)
            .map_err(|error| anyhow!("{}", entry::first_line(&error)))?;
        let Some((_, typed)) = typed.subcommand() else {
            return Err(anyhow!("a plan file is for 'run' and 'plan'"));
        };
        let (over, used): (Vec<&Entry>, Vec<&Entry>) = chosen
            .into_values()
            .partition(|entry| is_typed(typed, &entry.id));
        let mut title = format!("plan {}", self.name);
        if short {
            title.push_str(", short form");
        }
        if let Some(text) = &self.title {
            title.push_str(&format!(": {text}"));
        }
        let mut notes = vec![title];
        for entry in over {
            notes.push(format!(
                "what was typed replaces the plan's {}",
                entry.text()
            ));
        }
        // The program and its command, then the file, then what was typed.
        let (head, tail) = line.split_at(line.len().min(2));
        let options = used.iter().flat_map(|entry| entry.options());
        let line = head.iter().cloned().chain(options.map(OsString::from));
        Ok((line.chain(tail.iter().cloned()).collect(), notes))
    }

    /// The keys with their entries, those of the short form over the others, in the order of
    /// the file.
    fn chosen(&self, short: bool) -> Result<BTreeMap<usize, &Entry>> {
        let mut chosen: BTreeMap<usize, &Entry> = BTreeMap::new();
        for entry in &self.entries {
            chosen.insert(entry.line, entry);
        }
        if !short {
            return Ok(chosen);
        }
        ensure!(
            self.short.is_some(),
            usage(format!(
                "plan {} has no section [short]; leave --short out",
                self.name
            ))
        );
        for entry in self.short.iter().flatten() {
            chosen.retain(|_, other| other.id != entry.id);
            chosen.insert(entry.line, entry);
        }
        Ok(chosen)
    }
}

fn is_typed(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// A table, or tables that `[[NAME]]` makes.
fn is_section(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(_) => true,
        DeValue::Array(values) => values.iter().any(|v| v.get_ref().is_table()),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
