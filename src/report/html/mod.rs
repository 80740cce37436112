//! The report as one page of HTML: self-contained, readable without scripts, on paper and
//! on a narrow window. It shows the figures and says the words of the text report, through
//! the same functions; what it adds are drawings.

mod answer;
mod bars;
mod device;
mod figures;
mod load;
mod memory;
mod method;
mod plot;
mod run;
mod scale;
mod sync;
mod table;
mod times;
mod verdicts;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::run::Run;
use self::table::Budget;
use crate::compare::Choice;
use crate::record::{Ending, Results, RunRecord};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Nothing is fetched from anywhere, whatever a record says.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Writes one page with the reports of `runs`, each judged by its choice.
///
/// # Errors
/// When `out` cannot be written.
pub fn html(out: &mut dyn Write, runs: &[(&Results, Choice)]) -> io::Result<()> {
    let budget = Budget::of_page();
    let several = runs.len() > 1;
    let reports: Vec<Report> = runs
        .iter()
        .enumerate()
        .map(|(number, (results, choice))| {
            let prefix = match several {
                true => format!("r{}-", number + 1),
                false => String::new(),
            };
            report(&Run::new(results, choice, prefix, &budget))
        })
        .collect();
    let title = match reports.as_slice() {
        [one] => format!("{}: mountmark", one.title),
        all => format!("{} runs: mountmark", all.len()),
    };
    out.write_all(page(&title, &reports).into_string().as_bytes())?;
    out.write_all(b"\n")
}

/// The report of one run.
struct Report {
    title: String,
    id: String,
    head: Markup,
    sections: Vec<Section>,
}

struct Section {
    id: String,
    title: &'static str,
    content: Markup,
}

fn report(run: &Run<'_>) -> Report {
    let sections = [
        ("answer", "The answer", Some(answer::section(run))),
        ("verdicts", "Verdicts", verdicts::section(run)),
        ("notes", "To be read with this", verdicts::notes(run)),
        ("times", "Figures by workload", times::section(run)),
        ("load", "Load", load::section(run)),
        ("sync", "Sync methods", sync::section(run)),
        ("device", "What the device had to do", device::section(run)),
        ("memory", "Memory", memory::section(run)),
        ("trees", "Trees of files", figures::trees(run)),
        ("figures", "Every figure", figures::section(run)),
        ("method", "Method", Some(method::method(run))),
        ("settings", "Host and settings", Some(method::settings(run))),
    ];
    let present = sections.into_iter().filter_map(|(id, title, content)| {
        Some(Section {
            id: run.id(id),
            title,
            content: content?,
        })
    });
    let record = &run.results.run;
    Report {
        title: record.label.clone().unwrap_or_else(|| title(record)),
        id: run.id("run"),
        head: head(record),
        sections: present.collect(),
    }
}

/// What was measured on what: `create, insert on ext2_defaults, xfs_defaults`.
fn title(run: &RunRecord) -> String {
    let several = |names: Vec<&str>, what: &str| {
        let mut own: Vec<&str> = Vec::new();
        for name in names {
            if !own.contains(&name) {
                own.push(name);
            }
        }
        match own.len() {
            n if n > 4 => format!("{n} {what}"),
            _ => own.join(", "),
        }
    };
    let keys = &run.plan.cases;
    let workloads = several(
        keys.iter().map(|k| k.workload.as_str()).collect(),
        "workloads",
    );
    let targets = several(keys.iter().map(|k| k.target.as_str()).collect(), "targets");
    format!("{workloads} on {targets}")
}

/// What was run, when and where, in a few lines.
fn head(run: &RunRecord) -> Markup {
    let ending = match run.ending {
        Some(Ending::Complete) => "",
        Some(Ending::Interrupted) => "interrupted",
        None => "did not end",
    };
    html! {
        @for line in crate::report::text::head(run) { p { (answer::sentence(&line)) } }
        p { (run.started) @if !ending.is_empty() { ", " strong { (ending) } } }
    }
}

fn page(title: &str, reports: &[Report]) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("mountmark ", env!("CARGO_PKG_VERSION")));
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                @if reports.len() > 1 {
                    nav aria-label="runs" { ul { @for report in reports {
                        li { a href=(format!("#{}", report.id)) { (report.title) } }
                    } } }
                }
                @for report in reports { (article(report)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn article(report: &Report) -> Markup {
    html! {
        article id=(report.id) {
            header {
                h1 { (report.title) }
                (report.head)
            }
            nav aria-label="sections" { ul { @for section in &report.sections {
                li { a href=(format!("#{}", section.id)) { (section.title) } }
            } } }
            @for section in &report.sections {
                section id=(section.id) aria-labelledby=(format!("{}-h", section.id)) {
                    h2 id=(format!("{}-h", section.id)) { (section.title) }
                    (section.content)
                }
            }
        }
    }
}
