//! The report as Markdown: what the text report says, its tables as Markdown's, its
//! paragraphs as headings, sentences and lists.

use std::io::{self, Write};

use super::beside::beside;
use super::grid;
use super::text::{TextOptions, text};
use crate::compare::beside::Beside;
use crate::record::Results;

/// Writes the report of one run as Markdown (GitHub's, for the tables).
///
/// # Errors
/// When `out` cannot be written.
pub fn markdown(out: &mut dyn Write, results: &Results, options: &TextOptions) -> io::Result<()> {
    paragraphs(out, true, |plain| text(plain, results, options))
}

/// Writes what [`beside`] writes, as Markdown.
///
/// # Errors
/// When `out` cannot be written.
pub fn beside_markdown(out: &mut dyn Write, set: &Beside) -> io::Result<()> {
    paragraphs(out, false, |plain| beside(plain, set))
}

/// Writes the paragraphs of a text report; with its `title`, the first line of all is one.
fn paragraphs(
    out: &mut dyn Write,
    title: bool,
    report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut plain = Vec::new();
    grid::as_markdown(|| report(&mut plain))?;
    let plain = String::from_utf8_lossy(&plain);
    for (number, paragraph) in plain.split("\n\n").enumerate() {
        let lines: Vec<&str> = paragraph.lines().filter(|l| !l.trim().is_empty()).collect();
        if number > 0 && !lines.is_empty() {
            writeln!(out)?;
        }
        write(out, &lines, title && number == 0)?;
    }
    Ok(())
}

/// What a line of the text report is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Heading,
    Table,
    Item,
    Sentence,
}

/// Writes one paragraph; the first line of the first is the title.
fn write(out: &mut dyn Write, lines: &[&str], first: bool) -> io::Result<()> {
    let mut before = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        let part = part(line, lines.get(at).copied(), first && at == 1);
        let goes_on = matches!(
            (before, part),
            (None, _) | (Some(Part::Table), Part::Table) | (Some(Part::Item), Part::Item)
        );
        if !goes_on {
            writeln!(out)?;
        }
        before = Some(part);
        match part {
            Part::Table => writeln!(out, "{line}")?,
            Part::Heading => {
                let level = if first { "#" } else { "##" };
                writeln!(out, "{level} {}", escaped(line.trim_end_matches(':')))?;
            }
            Part::Sentence => writeln!(out, "{}", escaped(line))?,
            Part::Item => {
                let mut item = line.trim_start().to_string();
                // What was broken into lines is one item.
                while let Some(more) = lines.get(at).filter(|l| indent(l) > indent(line)) {
                    item = format!("{item} {}", more.trim_start());
                    at += 1;
                }
                writeln!(out, "- {}", escaped(&item))?;
            }
        }
    }
    Ok(())
}

fn part(line: &str, next: Option<&str>, title: bool) -> Part {
    let heads = next.is_some_and(|next| next.starts_with('|') || indent(next) > 0);
    match () {
        () if line.starts_with('|') => Part::Table,
        () if title => Part::Heading,
        () if indent(line) > 0 || line.starts_with("note: ") => Part::Item,
        () if heads => Part::Heading,
        () => Part::Sentence,
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// With what Markdown would take for its own.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '*' | '`' | '<' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(text: &str, first: bool) -> String {
        let mut out = Vec::new();
        let lines: Vec<&str> = text.lines().collect();
        write(&mut out, &lines, first).expect("memory takes it");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn lines_become_headings_items_and_tables() {
        let text = "seconds, against ext2:\n  create: slower: xfs, and\n    btrfs\n| a | b |\n";
        let expected =
            "## seconds, against ext2\n\n- create: slower: xfs, and btrfs\n\n| a | b |\n";
        assert_eq!(paragraph(text, false), expected);
        assert_eq!(paragraph("run 1\nDebian", true), "# run 1\n\nDebian\n");
        assert_eq!(
            paragraph("note: a\nnote: b|c", false),
            "- note: a\n- note: b\\|c\n"
        );
    }
}
