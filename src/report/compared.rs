//! Two runs compared: the verdicts in words, in what the sides differ, then the ratios.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::grid::{Grid, wrapped};
use super::names::case_name;
use super::verdicts::{Groups, demands, smallest_differences};
use crate::compare::{Between, Difference, LEAST_RUNS, Matched, Measured};
use crate::record::{KeyRecord, Results};
use crate::units::seconds;

/// A side and the name the user gave it by.
#[derive(Clone, Copy, Debug)]
pub struct Named<'r> {
    /// Its name.
    pub name: &'r str,
    /// Its runs.
    pub runs: &'r [Results],
}

/// More differences than this that are compared anyway are counted, not listed.
const LISTED: usize = 12;

/// Writes the comparison of `base` and `new` by `figure`.
///
/// # Errors
/// When `out` cannot be written.
pub fn compared(
    out: &mut dyn Write,
    (base, new): (Named<'_>, Named<'_>),
    between: &Between,
    figure: &str,
) -> io::Result<()> {
    for (role, side) in [("base", base), ("new", new)] {
        writeln!(out, "{role:4}  {}", describe(side))?;
    }
    let both = base.runs.iter().find(|run| {
        let mut others = new.runs.iter();
        others.any(|other| other.run.id == run.run.id)
    });
    if let Some(run) = both {
        writeln!(out, "note: run {} is on both sides", run.run.id)?;
    }
    writeln!(out, "\n{figure}, new against base:")?;
    words(out, between)?;
    writeln!(out)?;
    differences(out, between)?;
    writeln!(out)?;
    table(out, between)?;
    grounds(out, between)?;
    unmatched(out, "base", &between.only_base)?;
    unmatched(out, "new side", &between.only_new)
}

fn describe(side: Named<'_>) -> String {
    let ids: Vec<&str> = side.runs.iter().map(|r| r.run.id.as_str()).collect();
    match ids.as_slice() {
        [id] if side.name.ends_with(id) => format!("run {id}"),
        [id] => format!("{}: run {id}", side.name),
        _ => format!("{}: {} runs: {}", side.name, ids.len(), ids.join(", ")),
    }
}

/// What is said of each case, the reasons for saying nothing included.
fn words(out: &mut dyn Write, between: &Between) -> io::Result<()> {
    let mut groups = Groups::default();
    for matched in &between.list {
        groups.add(&matched.verdict, name(between, matched));
    }
    groups.write(out)?;
    let few = |m: &&Matched| m.judgement.as_ref().is_some_and(|j| j.interval.is_none());
    if let Some(matched) = between.list.iter().find(few) {
        let text = format!(
            "a verdict needs {LEAST_RUNS} runs a side, on different days or boots (base: {}, new: {}); until then, ratio and range of the rounds are all there is",
            matched.base.units.len(),
            matched.new.units.len()
        );
        wrapped(out, &text, 2)?;
    }
    Ok(())
}

/// The case; where the target is what is compared, both.
fn name(between: &Between, matched: &Matched) -> String {
    let keys: Vec<&KeyRecord> = between.list.iter().map(|m| &m.new_key).collect();
    let name = case_name(&keys, &matched.new_key);
    match (&matched.base_key.target, &matched.new_key.target) {
        (base, new) if base != new => format!("{name} (against {base})"),
        _ => name,
    }
}

/// In what the sides differ, each fact once.
fn differences(out: &mut dyn Write, between: &Between) -> io::Result<()> {
    let mut found: BTreeMap<&Difference, usize> = BTreeMap::new();
    for difference in between.list.iter().flat_map(|m| &m.differences) {
        *found.entry(difference).or_default() += 1;
    }
    if found.is_empty() {
        return writeln!(
            out,
            "nothing else that was recorded differs: machine, kernel, device, engine, settings, options, loops"
        );
    }
    let mut grid = Grid::with_words_last();
    grid.row(["differs", "base", "new", ""].map(String::from).to_vec());
    let (compared, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(d, _)| d.compared);
    let hidden = compared.len().saturating_sub(LISTED);
    for (difference, cases) in others.into_iter().chain(compared.into_iter().take(LISTED)) {
        let all = if cases == between.list.len() {
            String::new()
        } else {
            format!(" ({cases} of {} cases)", between.list.len())
        };
        grid.row(vec![
            difference.fact.name.clone(),
            short(&Difference::words(&difference.base)),
            short(&Difference::words(&difference.new)),
            format!("{}{all}", remedy(difference)),
        ]);
    }
    grid.write(out, 0)?;
    match hidden {
        0 => Ok(()),
        n => writeln!(out, "and {n} more that are compared"),
    }
}

fn remedy(difference: &Difference) -> String {
    match difference {
        d if d.compared => "compared".to_string(),
        d if d.base.len() > 1 || d.new.len() > 1 => {
            "in the way: the runs of a side must be alike".to_string()
        }
        d if d.fact.name == "start" => "in the way".to_string(),
        d => format!("in the way; to compare it: --axis {}", d.fact.aspect),
    }
}

/// Long values keep their head.
fn short(text: &str) -> String {
    const MOST: usize = 40;
    match text.chars().count() {
        n if n <= MOST => text.to_string(),
        _ => text.chars().take(MOST - 1).chain(['…']).collect(),
    }
}

fn table(out: &mut dyn Write, between: &Between) -> io::Result<()> {
    let mut grid = Grid::with_words_last();
    let header = [
        "", "base s", "range", "new s", "range", "ratio", "interval", "",
    ];
    grid.row(header.map(String::from).to_vec());
    for matched in &between.list {
        let judgement = matched.judgement.as_ref();
        let interval = judgement.and_then(|j| j.interval);
        let (base, new) = (figures(&matched.base), figures(&matched.new));
        let disturbed = matched.base.disturbed + matched.new.disturbed;
        grid.row(vec![
            name(between, matched),
            base.0,
            base.1,
            new.0,
            new.1,
            judgement.map_or("–".into(), |j| format!("{:.3}", j.estimate.ratio())),
            interval.map_or("–".into(), |i| i.to_string()),
            match disturbed {
                0 => String::new(),
                n => format!(
                    "{n} of {} rounds disturbed",
                    matched.base.rounds + matched.new.rounds
                ),
            },
        ]);
    }
    grid.write(out, 2)
}

/// Median, and lowest to highest round.
fn figures(side: &Measured) -> (String, String) {
    let range = match (side.range, side.rounds) {
        (Some((low, high)), 2..) => format!("{} to {}", seconds(low), seconds(high)),
        (_, 1) => "1 round".to_string(),
        _ => "–".to_string(),
    };
    (side.median().map_or("–".into(), seconds), range)
}

fn grounds(out: &mut dyn Write, between: &Between) -> io::Result<()> {
    let judged: Vec<_> = between
        .list
        .iter()
        .filter_map(|m| m.judgement.as_ref().filter(|j| j.interval.is_some()))
        .collect();
    if judged.is_empty() {
        return Ok(());
    }
    let text = format!(
        "a run is one value, the median of its rounds; runs of one day and boot are one; {}",
        demands(&between.rule)
    );
    wrapped(out, &text, 2)?;
    match smallest_differences(judged.into_iter(), "runs") {
        Some(text) => wrapped(out, &text, 2),
        None => Ok(()),
    }
}

fn unmatched(out: &mut dyn Write, side: &str, keys: &[KeyRecord]) -> io::Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    writeln!(out, "only in the {side}:")?;
    let all: Vec<&KeyRecord> = keys.iter().collect();
    for key in keys {
        writeln!(out, "  {}, {}", case_name(&all, key), key.engine)?;
    }
    Ok(())
}
