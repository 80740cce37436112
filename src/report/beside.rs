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
    let study = &beside.study;
    wrapped(out, &format!("beside the study: {}", study.study), 0)?;
    if beside.tables.is_empty() {
        wrapped(
            out,
            "nothing to set side by side: run and study have no two cells in common that differ \
             in their target or memory alone",
            2,
        )?;
        return missing(out, beside);
    }
    for table in &beside.tables {
        writeln!(out)?;
        write_table(out, table)?;
    }
    writeln!(out)?;
    for text in [
        "figures are until returned, as the study took them; compare ratios and their order, never \
         seconds",
        "the study has one run of each, so its ratios have no interval; whether two of them differ \
         it cannot tell",
    ] {
        wrapped(out, text, 2)?;
    }
    let once = |row: &Row| row.ratio.is_some() && row.interval.is_none();
    if beside.tables.iter().flat_map(|t| &t.rows).any(once) {
        wrapped(
            out,
            "today's ratios have none either where there was one round; repeat with --rounds 5",
            2,
        )?;
    }
    for note in &study.notes {
        wrapped(out, &format!("how: {note}"), 2)?;
    }
    for objection in &study.objections {
        wrapped(out, &format!("what was said against it: {objection}"), 2)?;
    }
    missing(out, beside)
}

fn missing(out: &mut dyn Write, beside: &Beside) -> io::Result<()> {
    for (what, labels) in [
        ("in the study, not in this run", &beside.only_then),
        ("in this run, not in the study", &beside.only_today),
    ] {
        if !labels.is_empty() {
            wrapped(out, &format!("{what}: {}", labels.join(", ")), 2)?;
        }
    }
    Ok(())
}

fn write_table(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    let mut title = table.what.clone();
    if !table.context.is_empty() {
        title.push_str(&format!(", {}", table.context));
    }
    let baseline = table.axis.named(&table.baseline);
    match &table.value {
        Some(value) => title.push_str(&format!(": {} against {baseline}", table.axis.named(value))),
        None => title.push_str(&format!(", against {baseline}")),
    }
    writeln!(out, "{title}")?;
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
    for row in &table.rows {
        grid.row(cells(row));
    }
    grid.write(out, 2)
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
