//! Plain tables: a column of names, then columns of right-aligned cells.

use std::cell::Cell;
use std::io::{self, Write};

use super::markdown::escaped;

thread_local! {
    static MARKDOWN: Cell<bool> = const { Cell::new(false) };
}

/// While `write` runs, tables are written as Markdown's, a line that begins with `|` a row.
pub(super) fn as_markdown<T>(write: impl FnOnce() -> T) -> T {
    MARKDOWN.set(true);
    let written = write();
    MARKDOWN.set(false);
    written
}

/// Writes `text`, broken at blanks where a line would get longer than a reader likes; the
/// first line begins at `indent`, the others two columns further.
pub(super) fn wrapped(out: &mut dyn Write, text: &str, indent: usize) -> io::Result<()> {
    const WIDEST: usize = 100;
    let mut line = " ".repeat(indent);
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDEST {
            writeln!(out, "{line}")?;
            line = " ".repeat(indent + 2);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    writeln!(out, "{line}")
}

/// A table under construction.
#[derive(Debug, Default)]
pub(super) struct Grid {
    rows: Vec<Vec<String>>,
    words_last: bool,
    /// Columns of words at the left, beside the first.
    more_words: usize,
}

impl Grid {
    /// The last column holds words, which stand to the left.
    pub fn with_words_last() -> Self {
        Grid {
            words_last: true,
            ..Grid::default()
        }
    }

    /// The first `columns` hold words, which stand to the left.
    pub fn with_words_first(columns: usize) -> Self {
        Grid {
            more_words: columns - 1,
            ..Grid::default()
        }
    }

    /// Adds a row; the first cell is its name.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Puts other cells into the first row.
    pub fn replace_header(&mut self, cells: Vec<String>) {
        if let Some(first) = self.rows.first_mut() {
            *first = cells;
        }
    }

    /// Writes the table, `indent` blanks before each line.
    pub fn write(&self, out: &mut dyn Write, indent: usize) -> io::Result<()> {
        match MARKDOWN.get() {
            true => self.write_markdown(out),
            false => self.write_plain(out, indent),
        }
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let empty = String::new();
        // Blanks that set a name back would be dropped.
        let cell = |row: &Vec<String>, column: usize| {
            let text = row.get(column).unwrap_or(&empty);
            let name = text.trim_start();
            "&nbsp;".repeat(text.len() - name.len()) + &escaped(name)
        };
        let is_empty = |row: &&Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
        for (number, row) in self.rows.iter().filter(|row| !is_empty(row)).enumerate() {
            let cells: Vec<String> = (0..columns).map(|column| cell(row, column)).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
            if number == 0 {
                let rule = |column: usize| match column {
                    n if n <= self.more_words => ":--",
                    n if self.words_last && n + 1 == columns => ":--",
                    _ => "--:",
                };
                let rules: Vec<&str> = (0..columns).map(rule).collect();
                writeln!(out, "| {} |", rules.join(" | "))?;
            }
        }
        Ok(())
    }

    fn write_plain(&self, out: &mut dyn Write, indent: usize) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column] - cell.chars().count());
                match column {
                    0 => line.push_str(&format!("{cell}{pad}")),
                    n if n <= self.more_words => line.push_str(&format!("  {cell}{pad}")),
                    n if self.words_last && n + 1 == columns => line.push_str(&format!("  {cell}")),
                    _ => line.push_str(&format!("  {pad}{cell}")),
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// All rows, the header first.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Whether the cells of this column are words, in a table of so many columns.
    pub fn is_words(&self, column: usize, columns: usize) -> bool {
        column <= self.more_words || self.words_last && column + 1 == columns
    }

    /// True before the first row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Characters of the widest line.
    pub fn width(&self) -> usize {
        let mut out = Vec::new();
        drop(self.write_plain(&mut out, 0));
        let text = String::from_utf8_lossy(&out);
        text.lines().map(|l| l.chars().count()).max().unwrap_or(0)
    }
}
