//! The print itself.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::RunFile;
use super::figures::{End, Line, Phase, Times};
use super::header::Header;
use super::quirks::{colon, gap, preposition};

/// Wall time and the CPU of the client, which has no children. The suite's summary takes
/// digits and points only, so decimals are fixed; those of an imported time are its own.
fn timestr(times: &Times, imported: bool) -> String {
    let Times { wall, user, system } = times;
    let wall = match imported {
        true => format!("{:2}", (wall * 1e9).round() / 1e9),
        false => format!("{wall:.6}"),
    };
    format!(
        "{wall} wallclock secs ({user:5.2} usr {system:5.2} sys + {:5.2} cusr {:5.2} csys = {:5.2} CPU)",
        0.0,
        0.0,
        user + system
    )
}

fn estimated(is: bool, rest: &str) -> String {
    match (is, rest.strip_prefix('T')) {
        (true, Some(tail)) => format!("Estimated t{tail}"),
        _ => rest.to_string(),
    }
}

/// The output of one phase.
pub(super) fn phase(out: &mut dyn Write, header: &Header, phase: &Phase) -> io::Result<()> {
    let imported = header.imported;
    writeln!(
        out,
        "Testing server '{}' at {}\n",
        header.server, phase.date
    )?;
    for line in &phase.lines {
        if line.flags.contains('?') {
            writeln!(out, "Warning: the next result was marked as wrong")?;
        }
        writeln!(out, "{}", operation(&phase.name, line, imported))?;
    }
    match &phase.end {
        End::Failed(why) => writeln!(out, "\nGot error: {why}"),
        _ => writeln!(out, "\n{}", last(phase, "", imported)),
    }
}

fn operation(phase: &str, line: &Line, imported: bool) -> String {
    let count = match line.rows {
        Some(rows) => format!("{}:{rows}", line.count),
        None => line.count.to_string(),
    };
    let text = format!(
        "Time {} {}{}({count}){}{}",
        preposition(phase, &line.name),
        line.name,
        gap(phase, line),
        colon(phase, line),
        timestr(&line.times, imported)
    );
    estimated(line.flags.contains('+'), &text)
}

/// The last line of a phase's output, or the word for its failure.
fn last(phase: &Phase, tag: &str, imported: bool) -> String {
    match &phase.end {
        End::Total(times, is_estimated) => estimated(
            *is_estimated,
            &format!("Total time: {}", timestr(times, imported)),
        ),
        End::Skipped(reason) => format!("Test skipped because {}", on_one_line(reason)),
        End::Failed(_) => format!("Failed ({}-{tag})", phase.name),
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The RUN summary.
pub(super) fn run(out: &mut dyn Write, file: &RunFile) -> io::Result<()> {
    let header = &file.header;
    for (name, value) in [
        ("Benchmark DBD suite:", "2.15"),
        ("Date of test:", &header.date),
        ("Running tests on:", &header.machine),
        ("Arguments:", &header.arguments),
        ("Comments:", &header.comments),
        ("Limits from:", &header.limits),
        ("Server version:", &header.server),
        ("Optimization:", &header.optimization),
        ("Hardware:", &header.hardware),
    ] {
        writeln!(out, "{name:<21}{}", on_one_line(value))?;
    }
    writeln!(out)?;
    for phase in &file.phases {
        writeln!(
            out,
            "{}: {}",
            phase.name,
            last(phase, &file.tag, header.imported)
        )?;
    }
    let rows = rows(file);
    verdict(out, file, &rows)?;
    totals(out, &rows)
}

fn verdict(out: &mut dyn Write, file: &RunFile, rows: &BTreeMap<&str, Row>) -> io::Result<()> {
    let all = file.phases.len();
    let failed = |p: &&Phase| matches!(p.end, End::Failed(_));
    match file.phases.iter().filter(failed).count() {
        0 => writeln!(out, "\nAll {all} test executed successfully")?,
        failed => writeln!(out, "\nOf {all} tests, {failed} tests didn't work")?,
    }
    let has = |mark: char| rows.values().any(|row| row.flags.contains(mark));
    if has('+') {
        writeln!(out, "Tests with estimated time have a + at end of line")?;
    }
    if has('?') {
        writeln!(out, "Tests with a wrong result have a ? at end of line")?;
    }
    writeln!(out)
}

/// The lines of one name, added up.
#[derive(Default)]
struct Row {
    times: Times,
    count: u64,
    flags: String,
}

impl Row {
    fn add(&mut self, line: &Line) {
        self.times = self.times.plus(line.times);
        self.count += line.count;
        self.flags.push_str(&line.flags);
    }
}

/// The rows in byte order of their names; a phase without a total has no part in them.
fn rows(file: &RunFile) -> BTreeMap<&str, Row> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let whole = |p: &&Phase| matches!(p.end, End::Total(..));
    let phases = file.phases.iter().filter(whole);
    let lines = phases.flat_map(|p| &p.lines).chain(&file.rest);
    for line in lines.filter(|l| l.summed) {
        rows.entry(&line.name).or_default().add(line);
    }
    rows
}

fn totals(out: &mut dyn Write, rows: &BTreeMap<&str, Row>) -> io::Result<()> {
    writeln!(out, "Totals per operation:")?;
    writeln!(
        out,
        "Operation             seconds     usr     sys     cpu   tests"
    )?;
    let mut all = Row::default();
    for (name, row) in rows {
        total(out, name, row)?;
        all.times = all.times.plus(row.times);
        all.count += row.count;
        all.flags.push_str(&row.flags);
    }
    total(out, "TOTALS", &all)
}

fn total(out: &mut dyn Write, name: &str, row: &Row) -> io::Result<()> {
    let Times { wall, user, system } = row.times;
    let cpu = user + system;
    writeln!(
        out,
        "{name:<35.35} {wall:7.2} {user:7.2} {system:7.2} {cpu:7.2} {:7} {}",
        row.count, row.flags
    )
}
