//! Bars in tables: a row a case, its figure drawn and written.

use maud::{Markup, html};

use super::plot::color;
use super::scale::{Scale, percent};
use super::table::{Budget, framed, left_out};

/// One bar.
#[derive(Default)]
pub(super) struct Bar {
    /// Its name, with the marks of its case.
    pub name: String,
    /// The number of its colour.
    pub color: usize,
    /// Where it ends.
    pub value: Option<f64>,
    /// Where its first part ends; what comes after is drawn paler.
    pub first: Option<f64>,
    /// Lowest and highest round.
    pub range: Option<(f64, f64)>,
    /// What it does without: drawn as a line through all bars, too.
    pub control: Option<&'static str>,
    /// The columns of text behind it.
    pub cells: Vec<String>,
}

/// Bars that stand on one scale.
pub(super) struct Bars {
    pub title: String,
    pub bars: Vec<Bar>,
}

/// The groups as one table; `columns` names the cells of text.
pub(super) fn table(caption: &str, columns: &[&str], groups: &[Bars], budget: &Budget) -> Markup {
    let drawn: Vec<Markup> = groups.iter().map(|group| body(group, columns)).collect();
    let (shown, skipped): (Vec<_>, Vec<_>) = drawn
        .into_iter()
        .zip(groups)
        .partition(|(drawn, _)| budget.take(drawn));
    let skipped: usize = skipped.iter().map(|(_, group)| group.bars.len()).sum();
    let content = html! {
        thead { tr {
            th scope="col" { "" }
            th.plotted scope="col" aria-label="drawn" {}
            @for column in columns { th scope="col" { (column) } }
        } }
        @for (drawn, _) in shown { (drawn) }
    };
    html! {
        (framed(caption, "bars", content))
        @if skipped > 0 { (left_out(&format!("{skipped} bars"))) }
    }
}

fn body(group: &Bars, columns: &[&str]) -> Markup {
    let scale = scale(group);
    html! {
        tbody {
            tr.group { th colspan=(columns.len() + 2) scope="rowgroup" { (group.title) } }
            @for bar in &group.bars { (row(bar, columns, group, &scale)) }
        }
    }
}

fn scale(group: &Bars) -> Scale {
    let ends = group
        .bars
        .iter()
        .flat_map(|bar| [bar.value, bar.range.map(|r| r.1)]);
    Scale::from_zero(ends.flatten().fold(0.0, f64::max))
}

fn row(bar: &Bar, columns: &[&str], group: &Bars, scale: &Scale) -> Markup {
    html! {
        tr .control[bar.control.is_some()] {
            th scope="row" {
                (bar.name)
                @if let Some(words) = bar.control { span.tag { "control: " (words) } }
            }
            td.plotted { (drawn(bar, group, scale)) }
            @for (name, cell) in columns.iter().zip(&bar.cells) {
                td data-l=(name) { (cell) }
            }
        }
    }
}

fn drawn(bar: &Bar, group: &Bars, scale: &Scale) -> Markup {
    let at = |value: f64| percent(scale.at(value));
    let class = color(bar.color);
    html! {
        svg width="100%" height="22" role="img" {
            title { (bar.name) ": " (bar.cells.first().map_or("", String::as_str)) }
            @if let Some(value) = bar.value {
                @if let Some(first) = bar.first.filter(|first| *first < value) {
                    rect class=(format!("bar late {class}")) width=(at(value)) y="4" height="14" {}
                    rect class=(format!("bar {class}")) width=(at(first)) y="4" height="14" {}
                } @else {
                    rect class=(format!("bar {class}")) width=(at(value)) y="4" height="14" {}
                }
            }
            @if let Some((low, high)) = bar.range {
                line.whisker x1=(at(low)) x2=(at(high)) y1="11" y2="11" {}
                line.whisker x1=(at(low)) x2=(at(low)) y1="7" y2="15" {}
                line.whisker x1=(at(high)) x2=(at(high)) y1="7" y2="15" {}
            }
            @for control in group.bars.iter().filter(|b| b.control.is_some()) {
                @if let Some(value) = control.value {
                    line.control x1=(at(value)) x2=(at(value)) y1="0" y2="22" {
                        @if let Some(words) = control.control { title { "control: " (words) } }
                    }
                }
            }
        }
    }
}
