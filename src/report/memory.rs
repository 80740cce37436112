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
    match table.sizes.as_slice() {
        [smallest, .., largest] => writeln!(
            out,
            "memory: {name}, and {} against {}",
            size(*smallest),
            size(*largest)
        )?,
        _ => writeln!(out, "memory: {name}")?,
    }
    figures(out, &table, unit(name))?;
    whereabouts(out, &table)?;
    unfelt(out, &table)?;
    method(out, &MemoryMethod::of(results))
}

fn size(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_string(), |bytes| Bytes(bytes).to_string())
}

fn figures(out: &mut dyn Write, table: &MemoryTable, unit: &str) -> io::Result<()> {
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
    grid.write(out, 2)
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
fn ratio(row: &MemoryRow) -> [String; 4] {
    let Some(comparison) = &row.comparison else {
        return ["–", "–", "", ""].map(String::from);
    };
    let judgement = comparison.judgement.as_ref();
    let interval = judgement.and_then(|j| j.interval);
    [
        judgement.map_or("–".to_string(), |j| format!("{:.3}", j.estimate.ratio())),
        interval.map_or("–".to_string(), |i| {
            format!("{:.3} to {:.3}", i.low(), i.high())
        }),
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
fn whereabouts(out: &mut dyn Write, table: &MemoryTable) -> io::Result<()> {
    writeln!(
        out,
        "  where the data were (without logs), and what the limit did:"
    )?;
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
    grid.write(out, 4)
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
fn unfelt(out: &mut dyn Write, table: &MemoryTable) -> io::Result<()> {
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
            let text = format!(
                "{} was never reached, the data fit: {}",
                size(*limit),
                names.join("; ")
            );
            wrapped(out, &text, 2)?;
        }
    }
    Ok(())
}

fn method(out: &mut dyn Write, method: &MemoryMethod) -> io::Result<()> {
    if method.methods.is_empty() {
        return Ok(());
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
    wrapped(out, &text, 2)?;
    for fitted in &method.fitted {
        let pairs = fitted.settings.iter();
        let pairs: Vec<String> = pairs.map(|(n, v)| format!("{n}={v}")).collect();
        let text = format!(
            "{} was told to fit {}: {}",
            fitted.engine,
            Bytes(fitted.limit),
            pairs.join(" ")
        );
        wrapped(out, &text, 2)?;
    }
    Ok(())
}
