//! A run beside a published study: a table for each of its figures.

use maud::{Markup, html};

use super::run::Run;
use super::table::of_grid;
use crate::compare::beside::beside;
use crate::record::Results;
use crate::report::beside::{grid, title, words};

pub(super) fn section(run: &Run<'_>, study: &Results) -> Markup {
    let choice = run.choice;
    let set = beside(run.results, study, choice.baseline.as_deref(), &choice.rule);
    html! {
        p { (set.study.study) }
        @for table in &set.tables {
            (of_grid(&grid(table), &title(table), run.budget))
        }
        ul {
            @for text in words(&set) { li { (text) } }
        }
    }
}
