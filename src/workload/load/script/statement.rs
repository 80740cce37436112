//! One SQL statement of a script and the places of its variables.

use std::fmt::Write;
use std::ops::Range;

use super::names::{Names, VarId, is_name_char, reference_length};
use super::scan::Raw;

/// How an engine writes a statement's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamStyle {
    /// `$1`, `$2`, …: PostgreSQL.
    Dollar,
    /// `?`: MySQL, MariaDB, SQLite.
    Question,
}

/// What becomes of a statement's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: they are received and dropped.
    Nothing,
    /// `\gset`: the last result must be one row, whose fields become variables.
    One,
    /// `\aset`: the last row of every result that has one becomes variables.
    All,
}

/// A variable in a statement's text.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub var: VarId,
    /// Where `:name` begins and ends.
    pub start: usize,
    pub end: usize,
    pub spot: Spot,
}

/// Where a variable stands, which says whether it can be a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Free,
    /// The whole of a quoted string, as in `':name'`: a parameter without the quotes.
    Whole,
    /// In a quoted string or name, together with something else.
    Quoted,
    Comment,
    /// Directly behind a word, as in `table:n`.
    Glued,
}

/// One SQL statement of a script.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Where it begins, from 1.
    pub line: usize,
    /// As it is sent, its variables not yet replaced.
    pub text: String,
    /// What becomes of its rows.
    pub keep: Keep,
    pub(super) at: usize,
    pub(super) prefix: String,
    pub(super) references: Vec<Reference>,
    params: Vec<VarId>,
}

impl Statement {
    /// Takes a `:` for a variable where pgbench does: everywhere when a letter or `_`
    /// follows, strings and comments included, but not behind another `:`.
    pub(super) fn new(raw: Raw, line: usize, names: &mut Names) -> Self {
        let text = raw.text;
        let mut references = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find(':') {
            let start = at + found;
            let length = reference_length(&text[start + 1..]);
            if length == 0 {
                let rest = text[start..].bytes();
                at = start + rest.take_while(|b| *b == b':').count();
                continue;
            }
            let end = start + 1 + length;
            let behind_word = start > 0 && is_name_char(text.as_bytes()[start - 1]);
            let whole = |c: &Range<usize>| {
                c.start + 1 == start && c.end == end + 1 && text.as_bytes()[c.start] == b'\''
            };
            let spot = if raw.quoted.iter().any(whole) {
                Spot::Whole
            } else if raw.quoted.iter().any(|c| c.contains(&start)) {
                Spot::Quoted
            } else if raw.comments.iter().any(|c| c.contains(&start)) {
                Spot::Comment
            } else if behind_word {
                Spot::Glued
            } else {
                Spot::Free
            };
            let var = names.number(&text[start + 1..end]);
            references.push(Reference {
                var,
                start,
                end,
                spot,
            });
            at = end;
        }
        Statement {
            line,
            keep: Keep::Nothing,
            at: raw.at,
            prefix: String::new(),
            params: Vec::new(),
            references,
            text,
        }
    }

    /// Decides which variables are parameters: those outside of strings, comments and
    /// words, and those that are the whole of a string and that the program `sets`; other
    /// strings are only texts with a colon.
    pub(super) fn settle(&mut self, sets: impl Fn(VarId) -> bool) {
        for reference in &mut self.references {
            if reference.spot == Spot::Whole && !sets(reference.var) {
                reference.spot = Spot::Quoted;
            }
        }
        self.params = self.parameters().map(|r| r.var).collect();
    }

    fn parameters(&self) -> impl Iterator<Item = &Reference> {
        let references = self.references.iter();
        references.filter(|r| matches!(r.spot, Spot::Free | Spot::Whole))
    }

    /// The text to prepare, with parameters for variables; one that occurs twice is two.
    pub fn prepared_text(&self, style: ParamStyle) -> String {
        let mut out = String::with_capacity(self.text.len());
        let (mut at, mut number) = (0, 0);
        for reference in self.parameters() {
            let quote = usize::from(reference.spot == Spot::Whole);
            out.push_str(&self.text[at..reference.start - quote]);
            number += 1;
            match style {
                ParamStyle::Dollar => {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "${number}");
                }
                ParamStyle::Question => out.push('?'),
            }
            at = reference.end + quote;
        }
        out.push_str(&self.text[at..]);
        out
    }

    /// The variables of the parameters, in order, as numbers of its own program.
    pub fn params(&self) -> &[VarId] {
        &self.params
    }

    /// The text with variables written in; those without a value stay as they are.
    pub(super) fn write_simple<'v>(
        &self,
        out: &mut String,
        value: impl Fn(VarId) -> Option<super::value::Param<'v>>,
    ) {
        let mut at = 0;
        for reference in &self.references {
            let Some(value) = value(reference.var) else {
                continue;
            };
            out.push_str(&self.text[at..reference.start]);
            // Writing to a string cannot fail.
            let _ = write!(out, "{value}");
            at = reference.end;
        }
        out.push_str(&self.text[at..]);
    }

    /// The first line of the text.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}
