//! Every figure: the tables of the text report.

use maud::{Markup, html};

use super::answer::sentence;
use super::bars::{Bar, Bars, table};
use super::run::Run;
use super::table::of_grid;
use crate::report::grid::Grid;
use crate::report::load::figures::whole;
use crate::report::{files, text, tree};
use crate::units::seconds;
use crate::workload::sync::WORKLOAD;

/// The phases of databases, and below them every operation.
pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let blocks = text::blocks(run.results);
    (!blocks.is_empty()).then(|| {
        html! {
            p { "Seconds, medians over the rounds, where nothing else is said. Each phase ends three times: returned (the last statement was answered), flushed (and syncfs of the target), settled (and a WAL checkpoint of the server and syncfs)." }
            @for block in &blocks {
                h3 { (block.title()) }
                (of_grid(&block.phases(), "phases: ends, and what they took", run.budget))
                (operations(run, block))
            }
        }
    })
}

fn operations(run: &Run<'_>, block: &text::Block<'_>) -> Markup {
    let mut grid = Grid::default();
    block.operations(&mut grid);
    html! {
        @if grid.rows().len() > 1 {
            details open {
                summary { "Every operation (" (whole((grid.rows().len() - 1) as f64)) ")" }
                div.tall { (of_grid(&grid, "seconds of each operation; + the time limit ended it", run.budget)) }
            }
        }
    }
}

/// Trees of files, step by step.
pub(super) fn trees(run: &Run<'_>) -> Option<Markup> {
    let blocks = files::blocks(run.results);
    let blocks: Vec<_> = blocks
        .iter()
        .filter(|b| b.key.workload != WORKLOAD)
        .collect();
    (!blocks.is_empty()).then(|| {
        html! {
            @for block in blocks {
                h3 { (block.title()) }
                @if let Some(size) = tree::size(block) { p { (sentence(&size)) "." } }
                (table("seconds of each step until flushed; less is better", &["s", "relative"], &steps(run, block), run.budget))
                (of_grid(&tree::table(block, true), "every figure of the steps", run.budget))
                p.note { (sentence(tree::ABOUT)) "." }
            }
        }
    })
}

fn steps(run: &Run<'_>, block: &files::Block<'_>) -> Vec<Bars> {
    let bars = |step: &str| {
        let first = block
            .targets
            .first()
            .and_then(|(_, cases)| tree::flushed(cases, step));
        let bar = |(target, cases): &(&str, Vec<&crate::record::CaseRecord>)| {
            let value = tree::flushed(cases, step);
            let relative = value.zip(first).map(|(own, first)| own / first);
            Bar {
                name: files::label(target, cases),
                color: run.color(target),
                value,
                control: super::run::control(cases),
                cells: vec![
                    value.map_or_else(|| files::absent(cases).to_string(), seconds),
                    relative.map_or(String::new(), |r| format!("{r:.3}")),
                ],
                ..Bar::default()
            }
        };
        Bars {
            title: step.to_string(),
            bars: block.targets.iter().map(bar).collect(),
        }
    };
    tree::steps(block).into_iter().map(bars).collect()
}
