//! The answer in words: what differs, by how much and how sure that is; what is not
//! durable; what could not be measured.

use maud::{Markup, html};

use super::run::Run;
use crate::compare::{Comparison, legend};
use crate::report::remarks;
use crate::report::verdicts::{Groups, Part, name, noise_floors, parts, silence};

/// More names than this of one verdict are counted; the table has them all.
const NAMES: usize = 12;

pub(super) fn section(run: &Run<'_>) -> Markup {
    let (results, comparisons) = (run.results, &run.comparisons);
    let figure = run.choice.figure.name();
    let marks = legend(results);
    let faults = remarks::faults(results);
    html! {
        @if let Some(reason) = silence(results, comparisons) {
            p.lead { (sentence(reason)) }
            @for floor in noise_floors(results, comparisons) { p { (sentence(&floor)) } }
        } @else {
            @for part in parts(results, comparisons, figure) { (words(&part)) }
        }
        @if !marks.is_empty() {
            h3 { "Read with a mark" }
            ul.marks { @for line in &marks { li { (line) } } }
        }
        @if !faults.is_empty() {
            h3 { "Could not be measured" }
            ul.faults { @for fault in &faults { li { (fault_lines(fault)) } } }
        }
    }
}

/// The first line, and the log's lines below it.
fn fault_lines(fault: &str) -> Markup {
    let (first, log) = fault.split_once('\n').unwrap_or((fault, ""));
    html! {
        (first)
        @if !log.is_empty() { pre { (log.lines().map(str::trim).collect::<Vec<_>>().join("\n")) } }
    }
}

fn words(part: &Part<'_>) -> Markup {
    html! {
        h3 { (sentence(part.title.trim_end_matches(':'))) }
        dl.answer {
            @for (context, members) in &part.contexts {
                div {
                    dt { (context) }
                    dd {
                        @for (kind, verdict, names) in groups(part, members).list() {
                            p {
                                span.chip.(kind_class(kind)) { (verdict) }
                                " "
                                (listed(names))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn groups(part: &Part<'_>, members: &[&Comparison]) -> Groups {
    let mut groups = Groups::default();
    for comparison in members {
        let name = name(part.axis, comparison);
        let much = how_much(comparison);
        groups.add_compared(comparison, format!("{name}{much}"));
    }
    groups
}

/// The ratio and its interval, with the digits of the table.
fn how_much(comparison: &Comparison) -> String {
    let Some(judgement) = &comparison.judgement else {
        return String::new();
    };
    let ratio = judgement.estimate.ratio();
    match judgement.interval {
        Some(interval) => format!(" × {ratio:.3} ({interval})"),
        None => format!(" × {ratio:.3}"),
    }
}

fn listed(names: &[String]) -> Markup {
    let more = names.len().saturating_sub(NAMES);
    html! {
        @for (number, name) in names.iter().take(NAMES).enumerate() {
            @if number > 0 { "; " }
            span.name { (name) }
        }
        @if more > 0 { " and " (more) " more" }
    }
}

/// The class of a verdict by the number of its kind.
pub(super) fn kind_class(kind: u8) -> &'static str {
    match kind {
        0 => "faster",
        1 => "slower",
        2 => "same",
        3 => "undecided",
        _ => "none",
    }
}

/// With a capital letter, as sentences begin; names of file systems and of options keep
/// theirs.
pub(super) fn sentence(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let word = word.trim_end_matches([',', ':', ';']);
    if word.ends_with("fs") || !word.chars().all(char::is_alphabetic) {
        return text.to_string();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_small_letter() {
        assert_eq!(sentence("two rounds"), "Two rounds");
        for name in [
            "ext2 is old",
            "xfs_defaults: slow",
            "btrfs, too",
            "--duet off",
            "",
        ] {
            assert_eq!(sentence(name), name);
        }
    }
}
