//! The statements of `/sql`, by phase and name. `statements.sql` holds the common text;
//! `statements.<dialect>.sql` only those statements that a dialect must write otherwise.
//!
//! A statement follows a line `-- name: NAME`; other comment lines are dropped, line
//! breaks become blanks and a closing semicolon goes.

use std::collections::BTreeMap;

use super::{Dialect, Template};

struct File {
    phase: &'static str,
    dialect: Option<Dialect>,
    text: &'static str,
}

macro_rules! files {
    ($($phase:literal $(. $dialect:ident $ending:literal)?),* $(,)?) => {
        &[$(File {
            phase: $phase,
            dialect: files!(@dialect $($dialect)?),
            text: include_str!(concat!("../../sql/", $phase, "/statements", $(".", $ending,)? ".sql")),
        }),*]
    };
    (@dialect) => { None };
    (@dialect $dialect:ident) => { Some(Dialect::$dialect) };
}

const FILES: &[File] = files![
    "ATIS",
    "ATIS".Sqlite "sqlite",
    "ATIS".Postgres "postgres",
    "alter-table",
    "alter-table".Mysql "mysql",
    "big-tables",
    "connect",
    "create",
    "insert",
    "insert".Sqlite "sqlite",
    "select",
    "transactions",
    "transactions".Mysql "mysql",
    "wisconsin",
];

/// The phases that have texts, in the order the suite runs them.
pub const PHASES: &[&str] = &[
    "alter-table",
    "ATIS",
    "big-tables",
    "connect",
    "create",
    "insert",
    "select",
    "transactions",
    "wisconsin",
];

/// The statements of one phase in one dialect.
#[derive(Clone, Debug)]
pub struct Texts {
    phase: &'static str,
    texts: BTreeMap<&'static str, String>,
}

impl Texts {
    /// The texts of `phase`, a name of [`PHASES`]; empty for another.
    pub fn of(phase: &'static str, dialect: Dialect) -> Self {
        let mut texts = BTreeMap::new();
        let rank = |file: &&File| match file.dialect {
            None => Some(0),
            Some(Dialect::Mysql) if dialect == Dialect::Mariadb => Some(1),
            Some(d) if d == dialect => Some(2),
            Some(_) => None,
        };
        let mut files: Vec<&File> = FILES
            .iter()
            .filter(|f| f.phase == phase && rank(f).is_some())
            .collect();
        files.sort_by_key(rank);
        for file in files {
            texts.extend(sections(file.text));
        }
        Texts { phase, texts }
    }

    /// The text called `name`.
    ///
    /// # Panics
    /// When the phase has no such text: a fault of this crate, found by its tests.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(text) => text,
            None => panic!("sql/{} has no statement called {name}", self.phase),
        }
    }

    /// The text called `name`, if this dialect has it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// The text called `name`, cut at its places.
    pub fn template(&self, name: &str) -> Template {
        Template::new(self.text(name))
    }

    /// Every name and text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (*name, text.as_str()))
    }
}

fn sections(file: &'static str) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for line in file.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("-- name:") {
            found.push((name.trim(), String::new()));
        } else if !line.is_empty()
            && !line.starts_with("--")
            && let Some((_, text)) = found.last_mut()
        {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(line.trim_end_matches(';'));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_texts_in_every_dialect() {
        for phase in PHASES {
            for dialect in Dialect::ALL {
                let texts = Texts::of(phase, dialect);
                assert!(texts.iter().count() > 0, "{phase} {dialect:?}");
                for (name, text) in texts.iter() {
                    assert!(!text.is_empty(), "{phase} {name}");
                }
            }
        }
    }

    #[test]
    fn sections_join_lines_and_drop_comments() {
        assert_eq!(
            sections("-- about\n-- name: a\nSELECT 1\n  FROM t;\n\n-- name: b\n-- why\nSELECT 2"),
            [("a", "SELECT 1 FROM t".into()), ("b", "SELECT 2".into())]
        );
    }
}
