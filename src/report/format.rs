//! The formats of a report.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, unknown};

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Tables for a terminal.
    #[default]
    Text,
    /// The same as Markdown.
    Markdown,
    /// A row a measurement.
    Csv,
    /// Verdicts and measurements for programs.
    Json,
    /// The RUN file of the original sql-bench, one for each engine and target.
    SqlBench,
    /// One page of HTML with everything in it.
    Html,
}

impl Format {
    const NAMES: [(&'static str, Format); 6] = [
        ("text", Format::Text),
        ("markdown", Format::Markdown),
        ("html", Format::Html),
        ("csv", Format::Csv),
        ("json", Format::Json),
        ("sql-bench", Format::SqlBench),
    ];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Format::NAMES.iter().find(|(_, format)| format == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = if text == "md" { "markdown" } else { text };
        let names = Format::NAMES.map(|(name, _)| name);
        Format::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, format)| *format)
            .ok_or_else(|| unknown("format", text, &names))
    }
}
