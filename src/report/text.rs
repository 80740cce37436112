//! The report for a terminal: phases and operations down, targets across.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{files, grid::Grid, imported, load, memory, remarks, verdicts, watched};
use crate::compare::{Choice, Marks, legend, within};
use crate::measure::stats::median;
use crate::record::{
    CaseRecord, Completeness, EndRecord, Ending, EndsRecord, KeyRecord, OperationRecord, Outcome,
    PhaseRecord, Results, RunRecord,
};
use crate::units::{Bytes, seconds};

/// Longer lines than this get numbered columns and a legend.
const WIDEST: usize = 110;

/// What a text report shows.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Each operation too.
    pub operations: bool,
    /// How the run is judged.
    pub choice: Choice,
}

/// Writes the report of one run: the verdict first, then the figures.
///
/// # Errors
/// When `out` cannot be written.
pub fn text(out: &mut dyn Write, results: &Results, options: &TextOptions) -> io::Result<()> {
    for line in head(&results.run) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let comparisons = within(results, &options.choice);
    verdicts::write(out, results, &comparisons, options.choice.figure.name())?;
    memory::write(out, results, &comparisons, &options.choice.figure)?;
    for block in blocks(results) {
        writeln!(out)?;
        block.write(out, options.operations)?;
    }
    load::write(out, results, options.operations)?;
    files::write(out, results, options.operations)?;
    for line in legend(results) {
        writeln!(out, "  {line}")?;
    }
    lines(out, "", &remarks::faults(results))?;
    lines(out, "note: ", &remarks::notes(results))
}

/// Lines apart from what stands before them.
fn lines(out: &mut dyn Write, before: &str, lines: &[String]) -> io::Result<()> {
    if !lines.is_empty() {
        writeln!(out)?;
    }
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{before}{line}"))
}

/// Writes a line a run.
///
/// # Errors
/// When `out` cannot be written.
pub fn list(out: &mut dyn Write, runs: &[Results]) -> io::Result<()> {
    let mut grid = Grid::default();
    grid.row(
        ["run", "label", "cases", "failed", "ended"]
            .map(String::from)
            .to_vec(),
    );
    for results in runs {
        let failed = |c: &&CaseRecord| matches!(c.outcome, Outcome::Failed { .. });
        let ending = match results.run.ending {
            Some(Ending::Complete) => "complete",
            Some(Ending::Interrupted) => "interrupted",
            None => "did not end",
        };
        grid.row(vec![
            results.run.id.clone(),
            results.run.label.clone().unwrap_or_default(),
            results.cases.len().to_string(),
            results.cases.iter().filter(failed).count().to_string(),
            ending.to_string(),
        ]);
    }
    grid.write(out, 0)
}

/// What was run, on what machine.
pub(super) fn head(run: &RunRecord) -> Vec<String> {
    let label = run
        .label
        .as_ref()
        .map_or(String::new(), |l| format!(" '{l}'"));
    let mut lines = vec![format!(
        "run {}{label}, mountmark {}",
        run.id, run.mountmark
    )];
    if !run.imported.is_empty() {
        lines.extend(imported::head(run));
        return lines;
    }
    lines.push(machine(run));
    let times = |n: u32| {
        if n == 1 {
            "1 round".to_string()
        } else {
            format!("{n} rounds")
        }
    };
    let factor = match run.plan.loops {
        1.0 => String::new(),
        loops => format!(" × {loops}"),
    };
    lines.push(format!(
        "profile {}{factor}, {}",
        run.plan.profile,
        times(run.plan.rounds)
    ));
    lines
}

/// The machine in a line.
fn machine(run: &RunRecord) -> String {
    let host = &run.host;
    format!(
        "{}, Linux {}, {} × {}{}, {} of memory",
        host.system,
        host.kernel,
        host.cpus,
        host.cpu,
        if host.virtual_machine {
            " (virtual)"
        } else {
            ""
        },
        Bytes(host.memory_bytes).human(),
    )
}

/// What shares engine, settings, memory and placement: one table.
pub(super) struct Block<'r> {
    /// The key of its first case; only the axes of the block count.
    key: &'r KeyRecord,
    targets: Vec<&'r str>,
    workloads: Vec<&'r str>,
    cases: BTreeMap<(&'r str, &'r str), Vec<&'r CaseRecord>>,
}

fn same_block(a: &KeyRecord, b: &KeyRecord) -> bool {
    a.engine == b.engine
        && a.settings == b.settings
        && a.memory_bytes == b.memory_bytes
        && a.cpus == b.cpus
}

pub(super) fn blocks(results: &Results) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    // Loads, trees and bare calls have tables of their own.
    let shown = |k: &&KeyRecord| k.replicate == 0 && k.load.is_none() && !files::is(k);
    for key in results.run.plan.cases.iter().filter(shown) {
        let at = blocks.iter().position(|b| same_block(b.key, key));
        let at = at.unwrap_or_else(|| {
            blocks.push(Block {
                key,
                targets: Vec::new(),
                workloads: Vec::new(),
                cases: BTreeMap::new(),
            });
            blocks.len() - 1
        });
        let block = &mut blocks[at];
        if !block.targets.contains(&key.target.as_str()) {
            block.targets.push(&key.target);
        }
        if !block.workloads.contains(&key.workload.as_str()) {
            block.workloads.push(&key.workload);
        }
    }
    for case in results.cases.iter().filter(|c| c.case.replicate == 0) {
        if let Some(block) = blocks.iter_mut().find(|b| same_block(b.key, &case.case)) {
            let cell = (case.case.workload.as_str(), case.case.target.as_str());
            block.cases.entry(cell).or_default().push(case);
        }
    }
    blocks
}

impl Block<'_> {
    fn write(&self, out: &mut dyn Write, operations: bool) -> io::Result<()> {
        writeln!(out, "{}", self.title())?;
        let mut grid = self.phases();
        if operations {
            grid.row(vec![String::new()]);
            self.operations(&mut grid);
        }
        if grid.width() <= WIDEST {
            return grid.write(out, 2);
        }
        for (number, target) in self.targets.iter().enumerate() {
            writeln!(out, "  [{}] {}", number + 1, self.label(target))?;
        }
        grid.replace_header(self.header("seconds", true));
        grid.write(out, 2)
    }

    /// What its cases have in common.
    pub fn title(&self) -> String {
        let memory = self
            .key
            .memory_bytes
            .map(|b| format!(", {} of memory", Bytes(b).human()));
        format!(
            "{}{}, cpus {}{}",
            self.key.engine,
            memory.unwrap_or_default(),
            self.key.cpus,
            self.settings(),
        )
    }

    /// The ends and figures of each phase.
    pub fn phases(&self) -> Grid {
        let mut grid = Grid::default();
        grid.row(self.header("seconds", false));
        for workload in &self.workloads {
            self.phase_rows(workload, &mut grid);
        }
        grid
    }

    /// Adds each operation to `grid`, after a header where it has none.
    pub fn operations(&self, grid: &mut Grid) {
        if grid.is_empty() {
            grid.row(self.header("seconds", false));
        }
        for workload in &self.workloads {
            self.operation_rows(workload, grid);
        }
    }

    fn settings(&self) -> String {
        let asked = self.key.settings.iter();
        asked
            .map(|(name, value)| format!(", {name}={value}"))
            .collect()
    }

    /// The label, marked when the target could not be made cold and with what must be
    /// said of it beside others.
    fn label(&self, target: &str) -> String {
        let mut cases = self.of_target(target);
        let warm = cases.any(|c| {
            let target = c.target.as_ref();
            c.outcome == Outcome::Measured && target.is_some_and(|t| !t.cold)
        });
        let warm = if warm { " (warm)" } else { "" };
        format!("{target}{warm}{}", self.marks(target))
    }

    fn marks(&self, target: &str) -> Marks {
        Marks::of(self.of_target(target))
    }

    /// Its cases, of all workloads.
    fn of_target<'b>(&'b self, target: &'b str) -> impl Iterator<Item = &'b CaseRecord> {
        let keys = self.workloads.iter().map(move |w| (*w, target));
        keys.filter_map(|key| self.cases.get(&key))
            .flatten()
            .copied()
    }

    fn header(&self, unit: &str, numbered: bool) -> Vec<String> {
        let column = |(number, target): (usize, &&str)| match numbered {
            true => format!("[{}]{}", number + 1, self.marks(target)),
            false => self.label(target),
        };
        let columns = self.targets.iter().enumerate().map(column);
        std::iter::once(unit.to_string()).chain(columns).collect()
    }

    fn row(
        &self,
        name: String,
        workload: &str,
        cell: impl Fn(&[&CaseRecord]) -> String,
    ) -> Vec<String> {
        let cells = self.targets.iter().map(|target| {
            let cases = self.cases.get(&(workload, *target));
            cases.map_or_else(|| "·".to_string(), |cases| cell(cases))
        });
        std::iter::once(name).chain(cells).collect()
    }

    /// The three ends, and what the device had to do for them.
    fn phase_rows(&self, workload: &str, grid: &mut Grid) {
        let mut cases = self.cases.iter().filter(|((w, _), _)| *w == workload);
        if !cases.any(|(_, cases)| measured(cases).next().is_some()) {
            grid.row(self.row(workload.to_string(), workload, |cases| {
                cell(cases, Vec::new(), seconds)
            }));
            return;
        }
        let end = |name: &str, pick: fn(&EndsRecord) -> Option<EndRecord>| {
            self.row(format!("{workload} {name}"), workload, |cases| {
                let times = ends(cases).filter_map(|e| pick(&e));
                let times = times.map(|e| e.wall_ns as f64 / 1e9).collect();
                cell(cases, times, seconds)
            })
        };
        grid.row(end("returned", |e| Some(e.returned)));
        let mut all = self.cases.values().flat_map(|cases| ends(cases));
        if all.all(|e| e.flushed.is_none()) {
            // Imported: nothing more is known of any.
            return;
        }
        grid.row(end("flushed", |e| e.flushed));
        grid.row(end("settled", |e| e.settled));
        for (name, figure) in watched::FIGURES {
            let values = |cases: &[&CaseRecord]| -> Vec<f64> {
                let phases = measured(cases).flat_map(|c| &c.phases);
                phases.filter_map(figure.value).collect()
            };
            let mut all = self.cases.iter().filter(|((w, _), _)| *w == workload);
            if all.any(|(_, cases)| !values(cases).is_empty()) {
                grid.row(self.row(format!("  {name}"), workload, |cases| {
                    cell(cases, values(cases), figure.show)
                }));
            }
        }
    }

    /// Each operation; those of one name are summed, as the suite does.
    fn operation_rows(&self, workload: &str, grid: &mut Grid) {
        let mut names: Vec<&str> = Vec::new();
        let all = self.cases.iter().filter(|((w, _), _)| *w == workload);
        for operation in all.flat_map(|(_, cases)| cases).flat_map(|c| operations(c)) {
            if !names.contains(&operation.name.as_str()) {
                names.push(&operation.name);
            }
        }
        for name in names {
            grid.row(self.row(format!("{workload} {name}"), workload, |cases| {
                operation_cell(cases, name)
            }));
        }
    }
}

fn operations(case: &CaseRecord) -> impl Iterator<Item = &OperationRecord> {
    case.phases.iter().flat_map(|phase| &phase.operations)
}

fn measured<'c>(cases: &'c [&'c CaseRecord]) -> impl Iterator<Item = &'c CaseRecord> {
    cases
        .iter()
        .copied()
        .filter(|c| c.outcome == Outcome::Measured)
}

fn ends<'c>(cases: &'c [&'c CaseRecord]) -> impl Iterator<Item = EndsRecord> {
    measured(cases)
        .flat_map(|c| &c.phases)
        .filter_map(|p: &PhaseRecord| p.ends)
}

/// Sum of the operations called `name` in each round, median over the rounds; a plus
/// sign marks one that the time limit cut short.
fn operation_cell(cases: &[&CaseRecord], name: &str) -> String {
    let mut limited = false;
    let mut sums = Vec::new();
    for case in measured(cases) {
        let own: Vec<_> = operations(case).filter(|o| o.name == name).collect();
        limited |= own
            .iter()
            .any(|o| o.completeness == Completeness::TimeLimited);
        if !own.is_empty() {
            sums.push(own.iter().map(|o| o.wall_ns as f64 / 1e9).sum());
        }
    }
    let mark = if limited { "+" } else { "" };
    cell(cases, sums, |v| format!("{}{mark}", seconds(v)))
}

/// The median of `values`, or in a word why there are none.
fn cell(cases: &[&CaseRecord], values: Vec<f64>, show: impl Fn(f64) -> String) -> String {
    if let Some(value) = median(&values) {
        return show(value);
    }
    match cases.first().map(|c| &c.outcome) {
        Some(Outcome::Failed { .. }) => "failed".to_string(),
        Some(Outcome::Skipped { .. }) => "skipped".to_string(),
        Some(Outcome::Interrupted { .. }) => "interrupted".to_string(),
        _ => "–".to_string(),
    }
}
