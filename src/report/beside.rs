//! A run beside a published study, for a terminal: today's ratios next to those of the study.

use std::io::{self, Write};

use super::grid::{Grid, wrapped};
use crate::compare::Metric;
use crate::compare::beside::{Beside, Direction, Row, Table};
use crate::units::seconds;

/// Writes `beside`.
///
/// # Errors
/// When `out` cannot be written.
pub fn beside(out: &mut dyn Write, beside: &Beside) -> io::Result<()> {
    let title = format!("beside the study: {}", beside.study.study);
    wrapped(out, &title, 0)?;
    for table in &beside.tables {
        writeln!(out)?;
        writeln!(out, "{}", self::title(table))?;
        grid(table).write(out, 2)?;
    }
    if !beside.tables.is_empty() {
        writeln!(out)?;
    }
    words(beside)
        .iter()
        .try_for_each(|text| wrapped(out, text, 2))
}

/// What is to be said with the tables, a sentence each.
pub(super) fn words(beside: &Beside) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    if beside.tables.is_empty() {
        all.push(
            "nothing to set side by side: run and study have no two cells in common that differ \
             in their target or memory alone"
                .to_string(),
        );
    } else {
        all.push(
            "figures are until returned, as the study took them; compare ratios and their order, \
             never seconds"
                .to_string(),
        );
        all.push(
            "the study has one run of each, so its ratios have no interval; whether two of them \
             differ it cannot tell"
                .to_string(),
        );
    }
    let once = |row: &Row| row.ratio.is_some() && row.interval.is_none();
    if beside.tables.iter().flat_map(|t| &t.rows).any(once) {
        all.push(
            "today's ratios have none either where there was one round; repeat with --rounds 5"
                .to_string(),
        );
    }
    let study = &beside.study;
    all.extend(study.notes.iter().map(|note| format!("how: {note}")));
    let against = |objection: &String| format!("what was said against it: {objection}");
    all.extend(study.objections.iter().map(against));
    for (what, labels) in [
        ("in the study, not in this run", &beside.only_then),
        ("in this run, not in the study", &beside.only_today),
    ] {
        if !labels.is_empty() {
            all.push(format!("{what}: {}", labels.join(", ")));
        }
    }
    all
}

/// What a table shows.
pub(super) fn title(table: &Table) -> String {
    let mut title = table.what.clone();
    if !table.context.is_empty() {
        title.push_str(&format!(", {}", table.context));
    }
    let baseline = table.axis.named(&table.baseline);
    match &table.value {
        Some(value) => title.push_str(&format!(": {} against {baseline}", table.axis.named(value))),
        None => title.push_str(&format!(", against {baseline}")),
    }
    title
}

/// Its figures.
pub(super) fn grid(table: &Table) -> Grid {
    let unit = match table.metric {
        Metric::TRANSACTIONS_PER_SECOND => "tps",
        _ => "s",
    };
    let mut grid = Grid::with_words_last();
    grid.row(
        [
            "",
            &format!("today {unit}"),
            "ratio",
            "interval",
            &format!("then {unit}"),
            "ratio",
            "",
        ]
        .map(String::from)
        .to_vec(),
    );
    table.rows.iter().for_each(|row| grid.row(cells(row)));
    grid
}

fn cells(row: &Row) -> Vec<String> {
    let dash = || "–".to_string();
    let figure = |value: Option<f64>| value.map_or_else(dash, seconds);
    let is_baseline = row.ratio.is_none() && row.ratio_then.is_none();
    let ratio = |value: Option<f64>| match (value, is_baseline) {
        (Some(value), _) => format!("{value:.2}"),
        (None, true) => String::new(),
        (None, false) => dash(),
    };
    let interval = row.interval.map(|i| i.to_string());
    let words = match row.direction {
        _ if is_baseline => "baseline",
        Direction::None | Direction::Open => "",
        Direction::Same => "as then",
        Direction::Reversed => "the other way round",
        Direction::OnlyToday => "no difference then",
    };
    let mut name = format!("{}{}", row.target, row.marks);
    if row.target != row.target_then {
        name.push_str(&format!(" (then {})", row.target_then));
    }
    vec![
        name,
        figure(row.today),
        ratio(row.ratio),
        interval.unwrap_or_default(),
        figure(row.then),
        ratio(row.ratio_then),
        words.to_string(),
    ]
}
