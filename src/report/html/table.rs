//! Tables of text, and how much of them one page takes.

use std::cell::Cell;

use maud::{Markup, html};

use crate::report::grid::Grid;

/// What a page takes, in bytes: it stays one that can be mailed.
pub(super) struct Budget(Cell<usize>);

impl Budget {
    /// Of the whole page: two megabytes, less what is never left out.
    pub fn of_page() -> Self {
        Budget(Cell::new(1_600_000))
    }

    /// Takes `part` if there is room for it.
    pub fn take(&self, part: &Markup) -> bool {
        let size = part.0.len();
        let enough = size <= self.0.get();
        if enough {
            self.0.set(self.0.get() - size);
        }
        enough
    }

    /// Whether so many cells have room, at the least that one takes; what has none need not
    /// be made.
    fn may_take(&self, cells: usize) -> bool {
        cells * "<td></td>".len() <= self.0.get()
    }

    /// `part`, or the words that `what` is left out.
    pub fn part(&self, part: Markup, what: &str) -> Markup {
        match self.take(&part) {
            true => part,
            false => left_out(what),
        }
    }
}

/// Said in place of what found no room.
pub(super) fn left_out(what: &str) -> Markup {
    html! { p.note { (what) " left out, to keep this page small; 'mountmark report' prints them." } }
}

/// A table in a box of its own, where the script puts a button that copies it; `caption` names it for those who hear it, too.
pub(super) fn framed(caption: &str, class: &str, content: Markup) -> Markup {
    html! {
        div.frame {
            div.scroll tabindex="0" role="region" aria-label=(caption) {
                table class=[(!class.is_empty()).then_some(class)] {
                    caption { (caption) }
                    (content)
                }
            }
        }
    }
}

/// A grid as a table.
pub(super) fn of_grid(grid: &Grid, caption: &str, budget: &Budget) -> Markup {
    let columns = grid.rows().iter().map(Vec::len).max().unwrap_or(0);
    let what = format!("{caption}: {} lines", grid.rows().len());
    if !budget.may_take(columns * grid.rows().len()) {
        return left_out(&what);
    }
    let words = |column: usize| column == 0 || grid.is_words(column, columns);
    let rows = grid.rows();
    let content = html! {
        @if let Some(header) = rows.first() {
            thead { tr {
                @for (column, cell) in header.iter().enumerate() {
                    th scope="col" .w[words(column)] { (cell) }
                }
            } }
        }
        tbody {
            @for row in rows.iter().skip(1).filter(|r| r.iter().any(|c| !c.is_empty())) {
                @if let [group] = row.as_slice() {
                    tr.group { th colspan=(columns) scope="colgroup" { (group.trim()) } }
                } @else { tr {
                    @for (column, cell) in row.iter().enumerate() {
                        @if column == 0 {
                            th scope="row" .sub[cell.starts_with("  ")] { (cell.trim()) }
                        } @else if words(column) {
                            td.w { (cell.trim()) }
                        } @else {
                            td { (cell.trim()) }
                        }
                    }
                } }
            }
        }
    };
    budget.part(framed(caption, "", content), &what)
}

/// Names and values.
pub(super) fn facts(caption: &str, rows: &[(String, String)], budget: &Budget) -> Markup {
    let content = html! {
        tbody {
            @for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
                tr { th scope="row" { (name) } td.w { (value) } }
            }
        }
    };
    budget.part(framed(caption, "facts", content), caption)
}
