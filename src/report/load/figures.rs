//! The figures of a load, the row they make, and their printed forms.

use super::Column;
use crate::measure::stats::median;
use crate::record::{CaseRecord, EndRecord, EndsRecord, LoadRecord, Outcome, PhaseRecord};
use crate::report::grid::Grid;

/// The figures of one case in one round.
#[derive(Clone, Copy)]
pub(in crate::report) struct Figures<'r> {
    pub load: &'r LoadRecord,
    pub phase: Option<&'r PhaseRecord>,
}

pub(in crate::report) fn measured<'r>(case: &'r CaseRecord) -> Option<Figures<'r>> {
    let load = case
        .load
        .as_ref()
        .filter(|_| case.outcome == Outcome::Measured)?;
    Some(Figures {
        load,
        phase: case.phases.first(),
    })
}

pub(super) fn figures<'r>(columns: &'r [Column<'r>]) -> impl Iterator<Item = Figures<'r>> {
    columns
        .iter()
        .flat_map(|c| &c.cases)
        .filter_map(|c| measured(c))
}

pub(super) fn ends(
    figures: Figures<'_>,
    pick: fn(&EndsRecord) -> Option<EndRecord>,
) -> Option<f64> {
    Some(pick(&figures.phase?.ends?)?.wall_ns as f64 / 1e9)
}

/// A row of medians over the rounds; none where no case has the figure.
pub(super) fn row(
    grid: &mut Grid,
    columns: &[Column<'_>],
    name: &str,
    show: fn(f64) -> String,
    pick: impl Fn(Figures<'_>) -> Option<f64>,
) {
    let values: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let figures = column.cases.iter().filter_map(|c| measured(c));
            figures.filter_map(&pick).collect()
        })
        .collect();
    let first = grid.is_empty();
    if values.iter().all(Vec::is_empty) && !first && name != "whole load" {
        return;
    }
    let cells = columns
        .iter()
        .zip(values)
        .map(|(column, values)| median(&values).map_or_else(|| absent(column).to_string(), show));
    grid.row(std::iter::once(name.to_string()).chain(cells).collect());
}

pub(super) fn absent(column: &Column<'_>) -> &'static str {
    match column.cases.first().map(|c| &c.outcome) {
        None => "·",
        Some(Outcome::Measured) => "–",
        Some(Outcome::Failed { .. }) => "failed",
        Some(Outcome::Skipped { .. }) => "skipped",
        Some(Outcome::Interrupted { .. }) => "interrupted",
    }
}

pub(in crate::report) fn rate(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

pub(in crate::report) fn ms(value: f64) -> String {
    format!("{value:.3}")
}

pub(in crate::report) fn whole(value: f64) -> String {
    format!("{value:.0}")
}

pub(in crate::report) fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

pub(in crate::report) fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}
