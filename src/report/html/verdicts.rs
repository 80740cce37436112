//! The verdicts as a table, each with its interval drawn.

use maud::{Markup, html};

use super::answer::{kind_class, sentence};
use super::run::Run;
use super::scale::{Scale, percent, tick};
use super::table::framed;
use crate::compare::{Comparison, Verdict};
use crate::report::remarks;
use crate::report::verdicts::{Part, grounds, name, parts, silence, unit};
use crate::units::seconds;

/// Comparisons on one page at most.
const MOST: usize = 1000;

pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let (results, comparisons) = (run.results, &run.comparisons);
    if silence(results, comparisons).is_some() {
        return None;
    }
    let figure = run.choice.figure.name();
    let mut left = MOST;
    let notes = grounds(results, comparisons);
    Some(html! {
        @for part in parts(results, comparisons, figure) {
            (table(run, &part, unit(figure), &mut left))
        }
        h3 { "How sure" }
        ul { @for line in notes { li { (sentence(&line)) } } }
    })
}

/// What a reader must know about run and cases.
pub(super) fn notes(run: &Run<'_>) -> Option<Markup> {
    let notes = remarks::notes(run.results);
    (!notes.is_empty()).then(|| html! { ul { @for note in notes { li { (sentence(&note)) } } } })
}

fn table<'p>(run: &Run<'_>, part: &'p Part<'p>, unit: &str, left: &mut usize) -> Markup {
    let all = || part.contexts.iter().flat_map(|(_, members)| members.iter());
    let intervals = all().filter_map(|c| c.judgement.as_ref());
    let ratios = intervals.flat_map(|j| {
        let interval = j.interval;
        let ends = interval.map_or([None; 2], |i| [Some(i.low()), Some(i.high())]);
        [Some(j.estimate.ratio()), ends[0], ends[1]]
    });
    let scale = Scale::of_ratios(ratios.flatten());
    let shape = Shape {
        scale: &scale,
        threshold: run.comparisons.rule.threshold(),
        unit,
        slices: all().any(|c| c.duet.is_some()),
        disturbed: all().any(|c| c.disturbed > 0),
    };
    let count = all().count();
    let shown = count.min(*left);
    *left -= shown;
    let mut room = shown;
    let cut = |(context, members): &'p (String, Vec<&'p Comparison>)| {
        let members = &members[..members.len().min(room)];
        room -= members.len();
        (context, members)
    };
    let contexts: Vec<(&String, &[&Comparison])> = part.contexts.iter().map(cut).collect();
    let content = html! {
        (shape.header())
        @for (context, members) in contexts.iter().filter(|(_, members)| !members.is_empty()) {
            tbody {
                tr.group { th colspan=(shape.columns()) scope="rowgroup" { (context) } }
                @for comparison in members.iter() { (shape.row(part, comparison)) }
            }
        }
    };
    let caption = &sentence(part.title.trim_end_matches(':'));
    html! {
        (run.budget.part(framed(caption, "bars verdicts", content), caption))
        @if shown < count {
            p.note { "The first " (shown) " of " (count) " comparisons are shown; 'mountmark report' prints all." }
        }
    }
}

/// Scale and columns of one table.
struct Shape<'s> {
    scale: &'s Scale,
    threshold: f64,
    unit: &'s str,
    slices: bool,
    disturbed: bool,
}

impl Shape<'_> {
    fn columns(&self) -> usize {
        7 + usize::from(self.slices) + usize::from(self.disturbed)
    }

    fn header(&self) -> Markup {
        html! {
            thead { tr {
                th scope="col" { "" }
                th.plotted scope="col" aria-label="ratio, drawn" {
                    svg.scale width="100%" height="14" aria-hidden="true" {
                        @for ratio in self.scale.ticks() {
                            text x=(percent(self.scale.at(*ratio))) y="11" { (tick(*ratio)) }
                        }
                    }
                }
                th scope="col" { "baseline " (self.unit) }
                th scope="col" { (self.unit) }
                th scope="col" { "ratio" }
                th scope="col" { "interval" }
                @if self.slices { th scope="col" { "by slices" } }
                @if self.disturbed { th scope="col" { "disturbed" } }
                th.w scope="col" { "verdict" }
            } }
        }
    }

    fn row(&self, part: &Part<'_>, c: &Comparison) -> Markup {
        let figure = |value: Option<f64>| value.map_or("–".to_string(), seconds);
        let ratio = c.judgement.as_ref().map(|j| j.estimate.ratio());
        let interval = c.judgement.as_ref().and_then(|j| j.interval);
        let slices = c.duet.and_then(|d| d.slice_ratio);
        html! {
            tr {
                th scope="row" { (name(part.axis, c)) }
                td.plotted { (self.drawn(c)) }
                td data-l=(format!("baseline {}", self.unit)) { (figure(c.base_median)) (c.base_marks) }
                td data-l=(self.unit) { (figure(c.new_median)) (c.new_marks) }
                td data-l="ratio" { (ratio.map_or("–".to_string(), |r| format!("{r:.3}"))) }
                td data-l="interval" {
                    (interval.map_or("–".to_string(), |i| i.to_string()))
                }
                @if self.slices {
                    td data-l="by slices" { (slices.map_or(String::new(), |r| format!("{r:.3}"))) }
                }
                @if self.disturbed {
                    td data-l="rounds disturbed" { @if c.disturbed > 0 { (c.disturbed) } }
                }
                td.w { span.chip.(class(c)) { (c.marked_verdict()) } }
            }
        }
    }

    /// The interval over the line of no difference and the band of none that matters.
    fn drawn(&self, c: &Comparison) -> Markup {
        let at = |ratio: f64| percent(self.scale.at(ratio));
        let (low, high) = (1.0 / (1.0 + self.threshold), 1.0 + self.threshold);
        let width = self.scale.at(high) - self.scale.at(low);
        html! {
            svg width="100%" height="22" role="img" {
                title { @match &c.judgement { Some(judgement) => { (judgement) } None => { "not comparable" } } }
                rect.band x=(at(low)) width=(percent(width)) y="0" height="100%" {}
                line.one x1=(at(1.0)) x2=(at(1.0)) y1="0" y2="100%" {}
                @if let Some(judgement) = &c.judgement {
                    g class=(class(c)) {
                        @if let Some(i) = judgement.interval {
                            line.interval x1=(at(i.low())) x2=(at(i.high())) y1="11" y2="11" {}
                        }
                        circle cx=(at(judgement.estimate.ratio())) cy="11" r="4.5" {}
                    }
                }
            }
        }
    }
}

/// The class of its verdict.
fn class(c: &Comparison) -> &'static str {
    if !c.is_ranked() {
        return kind_class(5);
    }
    kind_class(match c.verdict {
        Verdict::Faster => 0,
        Verdict::Slower => 1,
        Verdict::Equivalent { .. } => 2,
        Verdict::Undecided { .. } => 3,
        Verdict::NotComparable(_) => 4,
    })
}
