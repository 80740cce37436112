//! What less memory costs: the smallest size against the largest, drawn, and the tables of
//! the text report.

use maud::{Markup, html};

use super::answer::sentence;
use super::bars::{Bar, Bars, table};
use super::run::Run;
use super::table::of_grid;
use crate::compare::{MemoryRow, MemoryTable};
use crate::report::memory::{WHEREABOUTS, figures, ratio, said, title, whereabouts};
use crate::report::verdicts::unit;

pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let figure = &run.choice.figure;
    let memory = MemoryTable::of(run.results, &run.comparisons, figure)?;
    let blocks = memory.blocks.iter().map(|block| Bars {
        title: block.name.clone(),
        bars: block.rows.iter().map(|row| bar(run, row)).collect(),
    });
    let drawn = |bars: &Bars| bars.bars.iter().any(|bar| bar.value.is_some());
    let bars: Vec<Bars> = blocks.filter(drawn).collect();
    let name = figure.name();
    Some(html! {
        @if !bars.is_empty() {
            p { "The figure with the least memory by that with the most: at 1 memory makes no difference. Of seconds more than 1 is slower with less memory, of transactions/s less than 1 is. The thin line is the interval." }
            (table("least memory by most memory", &["ratio", "interval", "verdict"], &bars, run.budget))
        }
        (of_grid(&figures(&memory, unit(name)), &title(&memory, name), run.budget))
        (of_grid(&whereabouts(&memory), WHEREABOUTS, run.budget))
        ul { @for line in said(run.results, &memory) { li { (sentence(&line)) } } }
    })
}

fn bar(run: &Run<'_>, row: &MemoryRow) -> Bar {
    let judgement = row.comparison.as_ref().and_then(|c| c.judgement.as_ref());
    let interval = judgement.and_then(|j| j.interval);
    let [ratio, ends, _, verdict] = ratio(row);
    Bar {
        name: format!("{}{}", row.target, row.marks),
        color: run.color(&row.target),
        value: judgement.map(|j| j.estimate.ratio()),
        // An interval that goes anywhere would leave no room for the bars.
        range: interval
            .map(|i| (i.low(), i.high()))
            .filter(|(_, high)| *high < 100.0),
        cells: vec![ratio, ends, verdict],
        ..Bar::default()
    }
}
