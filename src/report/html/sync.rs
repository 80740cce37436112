//! Sync calls: bare, and in the server.

use maud::{Markup, html};

use super::answer::sentence;
use super::bars::{Bar, Bars, table};
use super::run::Run;
use super::table::of_grid;
use crate::measure::stats::median;
use crate::report::load::bare::Bare;
use crate::report::load::figures::{hundredths, measured, rate, tenths};
use crate::report::load::{Column, Loads};
use crate::report::{files, sync};
use crate::workload::sync::WORKLOAD;

pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let blocks = files::blocks(run.results);
    let blocks: Vec<_> = blocks
        .iter()
        .filter(|b| b.key.workload == WORKLOAD)
        .collect();
    let beside = beside(run);
    if blocks.is_empty() && beside.is_none() {
        return None;
    }
    Some(html! {
        @if let Some(beside) = beside {
            h3 { "Bare and in the server" }
            (beside)
        }
        @for block in blocks {
            (bare(run, block))
        }
    })
}

fn bare(run: &Run<'_>, block: &files::Block<'_>) -> Markup {
    let columns = sync::columns(block);
    let groups: Vec<Bars> = sync::shapes(&columns, false)
        .into_iter()
        .map(|shape| Bars {
            title: shape.to_string(),
            bars: columns
                .iter()
                .zip(&block.targets)
                .map(|(column, (target, _))| {
                    let value = column.mean_ns(shape).map(|ns| ns / 1e3);
                    Bar {
                        name: column.label.clone(),
                        color: run.color(target),
                        value,
                        cells: vec![value.map_or("–".to_string(), tenths)],
                        ..Bar::default()
                    }
                })
                .collect(),
        })
        .collect();
    html! {
        h3 { (sentence(&block.title())) }
        (table("mean of a bare call, µs; less is better", &["µs"], &groups, run.budget))
        h4 { "Every shape" }
        (of_grid(&sync::table(&columns, true), "mean and 99th percentile µs (flushes of the device a call)", run.budget))
        ul { @for line in sync::judgements(&columns) { li { (line) } } }
    }
}

/// What the call that a server commits with costs alone, and what became of it in the
/// server, a row a load.
fn beside(run: &Run<'_>) -> Option<Markup> {
    let bare = Bare::of(run.results)?;
    let loads = Loads::of(run.results)?;
    let names = loads.names();
    let found: Vec<_> = loads
        .columns
        .iter()
        .zip(&names)
        .filter_map(|(column, name)| Some((column, name, bare.beside(column)?)))
        .collect();
    if found.is_empty() {
        return None;
    }
    let group = |title: &str,
                 show: fn(f64) -> String,
                 pick: &dyn Fn(&Column<'_>, f64) -> Option<f64>| Bars {
        title: title.to_string(),
        bars: found
            .iter()
            .map(|(column, name, (shape, us))| {
                let value = pick(column, *us);
                Bar {
                    name: format!("{name}: {shape}"),
                    color: run.color(&column.key.target),
                    value,
                    cells: vec![value.map_or("–".to_string(), show)],
                    ..Bar::default()
                }
            })
            .collect(),
    };
    let groups = [
        group("the bare call, µs", tenths, &|_, us| Some(us)),
        group("the server, transactions/s", rate, &|column, _| {
            of(column, |f| Some(f.load.tps()))
        }),
        group(
            "flushes of the device a commit",
            hundredths,
            &|column, _| of(column, flushes),
        ),
    ];
    Some(html! {
        p { "Each load beside the sync call that its server commits with, made alone on the same target. Fewer flushes than commits: one flush served several clients, or none was made." }
        (table("sync calls, bare and in the server", &["median"], &groups, run.budget))
    })
}

type Figures<'r> = crate::report::load::figures::Figures<'r>;

fn flushes(figures: Figures<'_>) -> Option<f64> {
    let device = figures.phase?.ends?.returned.device?;
    Some(device.flushes as f64 / figures.load.committed.max(1) as f64)
}

fn of(column: &Column<'_>, pick: impl Fn(Figures<'_>) -> Option<f64>) -> Option<f64> {
    let rounds = column.cases.iter().filter_map(|case| measured(case));
    median(&rounds.filter_map(pick).collect::<Vec<f64>>())
}
