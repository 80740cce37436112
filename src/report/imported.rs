//! What a report says of a run that was imported.

use std::io::{self, Write};

use crate::record::RunRecord;

/// Where an imported run comes from, in the words of its files; those that say the same
/// stand together.
pub(super) fn head(out: &mut dyn Write, run: &RunRecord) -> io::Result<()> {
    let mut origins: Vec<(String, Vec<&str>)> = Vec::new();
    for file in &run.imported {
        let text = |name: &str| file.header.get(name).map_or("", String::as_str);
        let said = [
            "Server version",
            "Arguments",
            "Running tests on",
            "Comments",
            "transaction type",
            "query mode",
            "duration",
            "number of transactions per client",
        ];
        let said: Vec<&str> = said
            .map(text)
            .into_iter()
            .filter(|t| !t.is_empty())
            .collect();
        let said = said.join(", ");
        match origins.iter_mut().find(|(words, _)| *words == said) {
            Some((_, files)) => files.push(&file.file),
            None => origins.push((said, vec![&file.file])),
        }
    }
    if let Some(published) = &run.published {
        writeln!(out, "published: {}", published.study)?;
        for note in &published.notes {
            writeln!(out, "  {note}")?;
        }
        for objection in &published.objections {
            writeln!(out, "  what was said against it: {objection}")?;
        }
    }
    for (said, files) in origins {
        let files = files.join(", ");
        match said.is_empty() {
            true => writeln!(out, "imported from {files}")?,
            false => writeln!(out, "imported from {files}: {said}")?,
        }
    }
    Ok(())
}
