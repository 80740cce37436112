//! What a report says of a run that was imported.

use crate::record::RunRecord;

/// Where an imported run comes from, in the words of its files; those that say the same
/// stand together.
pub(super) fn head(run: &RunRecord) -> Vec<String> {
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
    let mut lines = Vec::new();
    if let Some(published) = &run.published {
        lines.push(format!("published: {}", published.study));
        let notes = published.notes.iter();
        lines.extend(notes.map(|note| format!("  {note}")));
        let objections = published.objections.iter();
        lines.extend(objections.map(|o| format!("  what was said against it: {o}")));
    }
    lines.extend(origins.into_iter().map(|(said, files)| {
        let files = files.join(", ");
        match said.is_empty() {
            true => format!("imported from {files}"),
            false => format!("imported from {files}: {said}"),
        }
    }));
    lines
}
