//! Trees of files: for each step, a line a target.

use std::io::{self, Write};

use super::files::{Block, absent, label, measured, of_phase};
use super::grid::Grid;
use crate::record::{CaseRecord, CpuRecord, EndRecord, EndsRecord, PhaseRecord};
use crate::units::{Bytes, seconds};

const MIB: f64 = 1048576.0;

type Column = (
    &'static str,
    fn(&PhaseRecord) -> Option<f64>,
    fn(f64) -> String,
);

const BRIEF: usize = 6;

/// What is shown of a step; the first ones in the brief table too.
const COLUMNS: [Column; 12] = [
    ("returned s", |p| Some(wall(p.ends?.returned)), seconds),
    ("flushed s", |p| Some(wall(p.ends?.flushed?)), seconds),
    ("CPU %", cpu_percent, |v| format!("{v:.0}")),
    (
        "dirty MiB",
        |p| Some(p.ends?.dirty_bytes? as f64 / MIB),
        |v| format!("{v:.1}"),
    ),
    (
        "files/s",
        |p| Some(p.operations.first()?.statements? as f64 / wall(p.ends?.flushed?)),
        |v| format!("{v:.0}"),
    ),
    (
        "MB/s",
        |p| Some(p.operations.first()?.bytes? as f64 / 1e6 / wall(p.ends?.flushed?)),
        |v| format!("{v:.1}"),
    ),
    ("user s", |p| Some(p.client?.user_ns as f64 / 1e9), seconds),
    (
        "system s",
        |p| Some(p.client?.system_ns as f64 / 1e9),
        seconds,
    ),
    ("rest s", rest, seconds),
    (
        "read MiB",
        |p| Some(p.ends?.flushed?.device?.read_bytes as f64 / MIB),
        |v| format!("{v:.1}"),
    ),
    (
        "written MiB",
        |p| Some(p.ends?.flushed?.device?.written_bytes as f64 / MIB),
        |v| format!("{v:.1}"),
    ),
    (
        "flushes",
        |p| Some(p.ends?.flushed?.device?.flushes as f64),
        |v| format!("{v:.0}"),
    ),
];

fn wall(end: EndRecord) -> f64 {
    end.wall_ns as f64 / 1e9
}

/// Seconds until flushed; until returned of what was imported, which tells no more.
fn whole(phase: &PhaseRecord) -> Option<f64> {
    let ends = phase.ends?;
    Some(wall(ends.flushed.unwrap_or(ends.returned)))
}

fn total(cpu: CpuRecord) -> f64 {
    (cpu.user_ns + cpu.system_ns) as f64 / 1e9
}

fn cpu_percent(phase: &PhaseRecord) -> Option<f64> {
    Some(100.0 * total(phase.client?) / wall(phase.ends?.returned))
}

/// CPU time of all others: the kernel's own threads, and who else was there.
fn rest(phase: &PhaseRecord) -> Option<f64> {
    Some(total(phase.machine?.others))
}

pub(super) fn write(out: &mut dyn Write, block: &Block<'_>, full: bool) -> io::Result<()> {
    if let Some(size) = size(block) {
        writeln!(out, "  {size}")?;
    }
    table(block, full).write(out, 2)?;
    if full {
        writeln!(out, "  {ABOUT}")?;
    }
    Ok(())
}

/// What the columns are.
pub(super) const ABOUT: &str = "files/s and MB/s are until flushed; rest: CPU time of everybody \
                                else on the machine until returned, the kernel's own threads \
                                among them";

/// For each step, a line a target.
pub(super) fn table(block: &Block<'_>, full: bool) -> Grid {
    let columns = &COLUMNS[..if full { COLUMNS.len() } else { BRIEF }];
    let mut grid = Grid::with_words_first(2);
    let mut header = vec!["step".to_string(), "target".to_string()];
    header.extend(columns.iter().map(|(name, ..)| name.to_string()));
    // Beside the time it is made from.
    header.insert(4, "relative".to_string());
    grid.row(header);
    let steps = steps(block);
    for step in &steps {
        let first = block.targets.first().map(|(_, cases)| cases.as_slice());
        let first = first.and_then(|cases| of_phase(cases, step, whole));
        for (number, (target, cases)) in block.targets.iter().enumerate() {
            let mut row = vec![
                if number == 0 {
                    step.to_string()
                } else {
                    String::new()
                },
                label(target, cases),
            ];
            row.extend(columns.iter().map(|(_, pick, show)| {
                of_phase(cases, step, pick).map_or_else(|| absent(cases).to_string(), show)
            }));
            let own = of_phase(cases, step, whole);
            let relative = own.zip(first).map(|(own, first)| own / first);
            row.insert(4, relative.map_or("–".to_string(), |r| format!("{r:.3}")));
            grid.row(row);
        }
    }
    all_steps(block, &mut grid, 3 + columns.len());
    grid
}

/// Seconds of a step until flushed, the median over the rounds.
pub(super) fn flushed(cases: &[&CaseRecord], step: &str) -> Option<f64> {
    of_phase(cases, step, COLUMNS[1].1)
}

/// The sum over the steps, as the verdict takes it.
fn all_steps(block: &Block<'_>, grid: &mut Grid, width: usize) {
    let sum = |cases: &[&CaseRecord], end: fn(EndsRecord) -> Option<EndRecord>| -> Option<f64> {
        let sums: Vec<f64> = measured(cases)
            .filter_map(|c| c.phases.iter().map(|p| Some(wall(end(p.ends?)?))).sum())
            .collect();
        crate::measure::stats::median(&sums)
    };
    let first = block
        .targets
        .first()
        .and_then(|(_, c)| sum(c, |e| e.flushed));
    for (number, (target, cases)) in block.targets.iter().enumerate() {
        let (returned, flushed) = (sum(cases, |e| Some(e.returned)), sum(cases, |e| e.flushed));
        let relative = flushed.zip(first).map(|(own, first)| own / first);
        let shown = |v: Option<f64>| v.map_or_else(|| absent(cases).to_string(), seconds);
        let mut row = vec![
            if number == 0 { "all steps" } else { "" }.to_string(),
            label(target, cases),
            shown(returned),
            shown(flushed),
            relative.map_or("–".to_string(), |r| format!("{r:.3}")),
        ];
        row.resize(width, String::new());
        grid.row(row);
    }
}

/// The steps, in their order.
pub(super) fn steps<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    let mut steps = Vec::new();
    for (_, cases) in &block.targets {
        for phase in measured(cases).flat_map(|c| &c.phases) {
            if !steps.contains(&phase.name.as_str()) {
                steps.push(&phase.name);
            }
        }
    }
    steps
}

/// How much was unpacked.
pub(super) fn size(block: &Block<'_>) -> Option<String> {
    let mut cases = block.targets.iter().flat_map(|(_, cases)| measured(cases));
    let operation = cases.find_map(|c| c.phases.first()?.operations.first())?;
    Some(format!(
        "{} files and links of {}",
        operation.statements?,
        Bytes(operation.bytes?).human()
    ))
}
