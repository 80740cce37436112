//! What memory does, as the published tables show it: workloads and targets down, a column
//! for each size, their ratio; then where the data were, and how the limits were set.

use std::io::{self, Write};

use super::grid::{Grid, wrapped};
use super::verdicts::unit;
use crate::compare::{Comparisons, Felt, Figure, MemoryCell, MemoryMethod, MemoryRow, MemoryTable};
use crate::record::{Outcome, Results};
use crate::units::{Bytes, seconds};

/// Writes it, where the run has cases with a memory limit.
pub(super) fn write(
    out: &mut dyn Write,
    results: &Results,
    comparisons: &Comparisons,
    figure: &Figure,
) -> io::Result<()> {
    let Some(table) = MemoryTable::of(results, comparisons, figure) else {
        return Ok(());
    };
    writeln!(out)?;
    let name = figure.name();
    writeln!(out, "{}", title(&table, name))?;
    figures(&table, unit(name)).write(out, 2)?;
    writeln!(out, "  {WHEREABOUTS}:")?;
    whereabouts(&table).write(out, 4)?;
    let lines = said(results, &table);
    lines.iter().try_for_each(|line| wrapped(out, line, 2))
}

/// What is shown: the figure, and which size stands against which.
pub(super) fn title(table: &MemoryTable, figure: &str) -> String {
    match table.sizes.as_slice() {
        [smallest, .., largest] => format!(
            "memory: {figure}, and {} against {}",
            size(*smallest),
            size(*largest)
        ),
        _ => format!("memory: {figure}"),
    }
}

/// What the second table shows.
pub(super) const WHEREABOUTS: &str = "where the data were (without logs), and what the limit did";

/// What is to be said below the tables, a paragraph each.
pub(super) fn said(results: &Results, table: &MemoryTable) -> Vec<String> {
    let mut lines = unfelt(table);
    lines.extend(method(&MemoryMethod::of(results)));
    lines
}

fn size(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_string(), |bytes| Bytes(bytes).to_string())
}

/// Workloads and targets down, sizes across, then the smallest against the largest.
pub(super) fn figures(table: &MemoryTable, unit: &str) -> Grid {
    let compared = table.sizes.len() > 1;
    let mut grid = match compared {
        true => Grid::with_words_last(),
        false => Grid::default(),
    };
    let mut header = vec![unit.to_string()];
    header.extend(table.sizes.iter().map(|limit| size(*limit)));
    if compared {
        header.extend(["ratio", "interval", "", "verdict"].map(String::from));
    }
    grid.row(header);
    for block in &table.blocks {
        grid.row(vec![block.name.clone()]);
        for row in &block.rows {
            let mut cells = vec![format!("  {}{}", row.target, row.marks)];
            cells.extend(row.cells.iter().map(figure));
            if compared {
                cells.extend(ratio(row));
            }
            grid.row(cells);
        }
    }
    grid
}

fn figure(cell: &MemoryCell) -> String {
    match (cell.median, &cell.without) {
        (Some(value), _) => seconds(value),
        (None, Some(Outcome::Failed { .. })) => "failed".to_string(),
        (None, Some(Outcome::Skipped { .. })) => "skipped".to_string(),
        (None, Some(Outcome::Interrupted { .. })) => "interrupted".to_string(),
        (None, _) => "–".to_string(),
    }
}

/// Ratio, interval, disturbed rounds and verdict of the smallest against the largest. One
/// round has a ratio and no verdict.
pub(super) fn ratio(row: &MemoryRow) -> [String; 4] {
    let Some(comparison) = &row.comparison else {
        return ["–", "–", "", ""].map(String::from);
    };
    let judgement = comparison.judgement.as_ref();
    let interval = judgement.and_then(|j| j.interval);
    [
        judgement.map_or("–".to_string(), |j| format!("{:.3}", j.estimate.ratio())),
        interval.map_or("–".to_string(), |i| i.to_string()),
        match comparison.disturbed {
            0 => String::new(),
            n => format!("{n} disturbed"),
        },
        match (judgement, interval) {
            (Some(_), None) => "no verdict from one round".to_string(),
            _ => comparison.marked_verdict(),
        },
    ]
}

/// The amount of data, and for each size where they were and what the limit did.
pub(super) fn whereabouts(table: &MemoryTable) -> Grid {
    let mut grid = Grid::with_words_first(2 + table.sizes.len());
    let mut header = vec![String::new(), "data".to_string()];
    header.extend(table.sizes.iter().map(|limit| size(*limit)));
    grid.row(header);
    for block in &table.blocks {
        grid.row(vec![block.name.clone()]);
        for row in &block.rows {
            let data = row.cells.iter().filter_map(|cell| cell.data_bytes).max();
            let mut cells = vec![
                format!("  {}", row.target),
                data.map_or("–".to_string(), |bytes| Bytes(bytes).human()),
            ];
            cells.extend(row.cells.iter().map(seen));
            grid.row(cells);
        }
    }
    grid
}

fn seen(cell: &MemoryCell) -> String {
    let Some(felt) = cell.felt else {
        return "–".to_string();
    };
    let place = cell.whereabouts.map(|place| format!("{place}, "));
    let mut text = format!("{}{felt}", place.unwrap_or_default());
    if felt == Felt::Felt {
        let read = cell.refault_bytes.map(|b| Bytes(b as u64).human());
        let waited = cell
            .stalled_ns
            .map(|ns| format!("waited {} s", seconds(ns / 1e9)));
        let read = read.map(|read| format!("read again {read}"));
        let words: Vec<String> = read.into_iter().chain(waited).collect();
        text.push_str(&format!(" ({})", words.join(", ")));
    }
    text
}

/// A limit that never bit tells nothing of memory.
fn unfelt(table: &MemoryTable) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, limit) in table.sizes.iter().enumerate() {
        let mut names = Vec::new();
        for block in &table.blocks {
            let never = |row: &&MemoryRow| row.cells[at].felt == Some(Felt::Never);
            let unfelt: Vec<&str> = block
                .rows
                .iter()
                .filter(never)
                .map(|row| row.target.as_str())
                .collect();
            if unfelt.len() == block.rows.len() {
                names.push(block.name.clone());
            } else if !unfelt.is_empty() {
                names.push(format!("{} on {}", block.name, unfelt.join(", ")));
            }
        }
        if !names.is_empty() {
            lines.push(format!(
                "{} was never reached, the data fit: {}",
                size(*limit),
                names.join("; ")
            ));
        }
    }
    lines
}

fn method(method: &MemoryMethod) -> Vec<String> {
    if method.methods.is_empty() {
        return Vec::new();
    }
    let mut text = format!("limits by {}, without swap", method.methods.join(" and "));
    match method.dirty.as_slice() {
        [(words, _)] => text.push_str(&format!("; dirty data: {words}")),
        several => {
            text.push_str("; dirty data are not limited alike, which favours some: ");
            let each: Vec<String> = several
                .iter()
                .map(|(words, targets)| format!("{words}: {}", targets.join(", ")))
                .collect();
            text.push_str(&each.join("; "));
        }
    }
    let mut lines = vec![text];
    for fitted in &method.fitted {
        let pairs = fitted.settings.iter();
        let pairs: Vec<String> = pairs.map(|(n, v)| format!("{n}={v}")).collect();
        lines.push(format!(
            "{} was told to fit {}: {}",
            fitted.engine,
            Bytes(fitted.limit),
            pairs.join(" ")
        ));
    }
    lines
}
