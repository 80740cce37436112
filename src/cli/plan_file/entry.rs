//! Keys and values of a plan file, held against the options of `run`.

use std::borrow::Cow;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::resolve::workload_names;
use crate::error::{Error, Result, usage};

/// The key of what stands without an option on the command line.
const WORKLOAD: &str = "workload";

/// Options that have no place in a file, and why.
const TYPED_ONLY: [(&str, &str); 7] = [
    ("destroy", DANGEROUS),
    ("allow-shell", DANGEROUS),
    ("resume", "it belongs to a run, not to a plan"),
    ("plan", "a plan does not name another"),
    ("short", "write a section [short] at the end of the file"),
    ("help", "it is for the command line"),
    ("version", "it is for the command line"),
];
const DANGEROUS: &str = "plan files are handed on, so it is taken from the command line only";

/// One key with its values, as the command line would have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The parser's name of the option.
    pub id: String,
    pub key: String,
    /// Set, and without a value.
    pub flag: bool,
    pub values: Vec<String>,
    /// Where the key stands, counted from 1.
    pub line: usize,
}

impl Entry {
    /// What would be typed.
    pub fn options(&self) -> Vec<String> {
        let option = |value: &String| match self.key.as_str() {
            WORKLOAD => value.clone(),
            key if self.flag => format!("--{key}"),
            key => format!("--{key}={value}"),
        };
        self.values.iter().map(option).collect()
    }

    /// As it would be typed, on one line.
    pub fn text(&self) -> String {
        match self.options().as_slice() {
            [] => format!("{} = false", self.key),
            options => options.join(" "),
        }
    }
}

/// Reads the entries of one file.
pub(super) struct Reader<'f> {
    name: &'f str,
    text: &'f str,
    command: &'f Command,
    run: &'f Command,
}

impl<'f> Reader<'f> {
    pub fn new(name: &'f str, text: &'f str, command: &'f Command) -> Result<Self> {
        let run = command.find_subcommand("run");
        let run = run.ok_or_else(|| usage("there is no command 'run'"))?;
        Ok(Reader {
            name,
            text,
            command,
            run,
        })
    }

    /// The error `words` about what stands at `offset`.
    pub fn wrong(&self, offset: usize, words: &str) -> Error {
        usage(format!("{}:{}: {words}", self.name, self.line(offset)))
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    /// The entries of a section.
    pub fn entries(&self, table: &DeTable<'_>) -> Result<Vec<Entry>> {
        table
            .iter()
            .map(|(key, value)| self.entry(key, value.get_ref()))
            .collect()
    }

    /// One key with its value.
    pub fn entry(&self, key: &Spanned<Cow<'_, str>>, value: &DeValue<'_>) -> Result<Entry> {
        let at = key.span().start;
        let name = key.get_ref().as_ref();
        let arg = self.option(name).map_err(|words| self.wrong(at, &words))?;
        let values = values(name, arg, value).map_err(|words| self.wrong(at, &words))?;
        let entry = Entry {
            id: arg.get_id().to_string(),
            key: name.to_string(),
            flag: matches!(arg.get_action(), ArgAction::SetTrue),
            values,
            line: self.line(at),
        };
        match self.refused(&entry) {
            Some(words) => Err(self.wrong(at, &words)),
            None => Ok(entry),
        }
    }

    /// The option that a key is.
    fn option(&self, key: &str) -> Result<&'f Arg, String> {
        if let Some((_, why)) = TYPED_ONLY.iter().find(|(name, _)| *name == key) {
            return Err(format!("'{key}' cannot stand in a plan file: {why}"));
        }
        let mut all = self.run.get_arguments();
        let found = match key {
            WORKLOAD => all.find(|arg| arg.is_positional()),
            key => all.find(|arg| arg.get_long() == Some(key)),
        };
        found.ok_or_else(|| {
            let near = nearest(key, &self.keys());
            format!("unknown key '{key}'; {near}keys are the long options of 'run', and workload")
        })
    }

    /// What may stand in a file.
    pub fn keys(&self) -> Vec<&'f str> {
        let options = self.run.get_arguments().filter_map(Arg::get_long);
        let typed_only = |key: &&str| TYPED_ONLY.iter().any(|(name, _)| name == key);
        let options = options.filter(|key| !typed_only(key));
        std::iter::once(WORKLOAD).chain(options).collect()
    }

    /// What the parser has against an entry by itself, if anything.
    fn refused(&self, entry: &Entry) -> Option<String> {
        if entry.key == WORKLOAD {
            let names = workload_names();
            let unknown = entry.values.iter().find(|v| !names.contains(&v.as_str()))?;
            let near = nearest(unknown, &names);
            return Some(format!(
                "unknown workload '{unknown}'; {near}one of: {}",
                names.join(", ")
            ));
        }
        let line = ["mountmark".to_string(), "run".to_string()];
        let line = line.into_iter().chain(entry.options());
        let error = self.command.clone().try_get_matches_from(line).err()?;
        // That an option needs another is seen when all are together.
        let alone = [
            ErrorKind::MissingRequiredArgument,
            ErrorKind::ArgumentConflict,
        ];
        (!alone.contains(&error.kind())).then(|| first_line(&error))
    }
}

/// The words of the parser, without its hints on usage.
pub(super) fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}

/// "did you mean 'x'? " where a name is near to one of `names`.
fn nearest(name: &str, names: &[&str]) -> String {
    let name = name.to_lowercase().replace('_', "-");
    let distance = |other: &&&str| strsim::damerau_levenshtein(&name, &other.to_lowercase());
    let nearest = names.iter().min_by_key(distance);
    match nearest {
        Some(near) if distance(&near) <= 2 + name.chars().count() / 4 => {
            format!("did you mean '{near}'? ")
        }
        _ => String::new(),
    }
}

/// The values of a key as they would be typed; one empty for a flag that is set.
fn values(key: &str, arg: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value.as_bool() {
            Some(true) => Ok(vec![String::new()]),
            Some(false) => Ok(Vec::new()),
            None => Err(format!("'{key}' is true or false, not {}", kind(value))),
        };
    }
    let shape = shape(key, arg);
    let several = matches!(arg.get_action(), ArgAction::Append);
    match value {
        DeValue::Array(list) if several => {
            let values = list.iter().map(|v| one(v.get_ref()));
            let values: Option<Vec<String>> = values.collect();
            values.ok_or_else(|| format!("'{key}' is a list of values: {shape}"))
        }
        DeValue::Array(_) => Err(format!("'{key}' has one value, not a list: {shape}")),
        other => one(other)
            .map(|value| vec![value])
            .ok_or_else(|| format!("'{key}' is not {}: {shape}", kind(value))),
    }
}

/// How a key is written.
fn shape(key: &str, arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let name = names.first().map_or("VALUE", |n| n.as_str());
    let name = name.trim_end_matches(",…");
    match arg.get_action() {
        ArgAction::Append => format!("{key} = [\"{name}\", …]"),
        _ => format!("{key} = \"{name}\""),
    }
}

fn one(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a section",
    }
}
