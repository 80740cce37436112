//! Bare sync calls: shapes down, targets across.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::files::{Block, absent, label, measured};
use super::grid::Grid;
use crate::compare::{Reach, faster_than_device, reach};
use crate::measure::stats::median;
use crate::record::{CaseRecord, DeviceRecord, LatencyRecord, OperationRecord};
use crate::workload::sync::DEVICE_FLUSH;

/// Longer lines than this get numbered columns and a legend.
const WIDEST: usize = 120;

/// Everything measured of one target.
pub(super) struct Column<'b> {
    pub label: String,
    cases: &'b [&'b CaseRecord],
    shapes: BTreeMap<&'b str, Vec<&'b OperationRecord>>,
    device: Option<&'b DeviceRecord>,
}

impl<'b> Column<'b> {
    pub fn new(target: &str, cases: &'b [&'b CaseRecord]) -> Self {
        let mut shapes: BTreeMap<&str, Vec<&OperationRecord>> = BTreeMap::new();
        for operation in operations(cases) {
            shapes.entry(&operation.name).or_default().push(operation);
        }
        let mut targets = measured(cases).filter_map(|c| c.target.as_ref());
        Column {
            label: label(target, cases),
            cases,
            shapes,
            device: targets.find_map(|t| t.device.as_ref()),
        }
    }

    /// The fastest median of a bare flush, over all rounds.
    fn bare_ns(&self) -> Option<f64> {
        let flushes = self.shapes.get(DEVICE_FLUSH)?;
        let medians = flushes
            .iter()
            .filter_map(|o| Some(o.latency.as_ref()?.p50_ns));
        medians.min().map(|ns| ns as f64)
    }

    pub fn median_ns(&self, shape: &str) -> Option<f64> {
        self.of_rounds(shape, |l| l.p50_ns)
    }

    /// The mean call, in nanoseconds.
    pub fn mean_ns(&self, shape: &str) -> Option<f64> {
        self.of_rounds(shape, |l| l.mean_ns)
    }

    /// The median over the rounds of one figure of each round's calls, in nanoseconds.
    fn of_rounds(&self, shape: &str, figure: impl Fn(&LatencyRecord) -> u64) -> Option<f64> {
        let rounds = self.shapes.get(shape)?.iter();
        let figures = rounds.filter_map(|o| Some(figure(o.latency.as_ref()?) as f64));
        median(&figures.collect::<Vec<f64>>())
    }

    fn reach(&self, shape: &str) -> Option<Reach> {
        self.shapes
            .get(shape)
            .map(|rounds| reach(rounds, self.device))
    }

    /// Only of a call whose flushes were not counted: of one that was seen to flush, it
    /// would say no more than that the machine was slower for a while.
    fn is_faster(&self, shape: &str) -> bool {
        let figures = self.median_ns(shape).zip(self.bare_ns());
        shape != DEVICE_FLUSH
            && self.reach(shape) != Some(Reach::Reached)
            && figures.is_some_and(|(call, bare)| faster_than_device(call, bare))
    }

    /// Mean and 99th percentile of a call, its flushes, and the marks of what is wrong with
    /// them. The mean, because it is what a rate says and what other tools print: where
    /// calls take either 25 or 90 µs, as the waking processor pleases, the median jumps
    /// between the two.
    fn cell(&self, shape: &str) -> String {
        let (Some(rounds), Some(reach)) = (self.shapes.get(shape), self.reach(shape)) else {
            return absent(self.cases).to_string();
        };
        if reach == Reach::Refused {
            return "refused   ".to_string();
        }
        let calls: u64 = rounds.iter().filter_map(|o| o.statements).sum();
        let flushes: Option<u64> = rounds.iter().map(|o| Some(o.device?.flushes)).sum();
        let flushes = flushes.map_or("–".to_string(), |f| {
            format!("{:.2}", f as f64 / calls.max(1) as f64)
        });
        let told = |ns: Option<f64>, decimals: usize| {
            ns.map_or("–".to_string(), |ns| format!("{:.decimals$}", ns / 1e3))
        };
        let mean = told(self.of_rounds(shape, |l| l.mean_ns), 1);
        let slow = told(self.of_rounds(shape, |l| l.p99_ns), 0);
        let mark = match reach {
            Reach::NotReached => '!',
            Reach::NoCache => '=',
            Reach::Unseen => '?',
            Reach::Reached | Reach::Refused => ' ',
        };
        let faster = if self.is_faster(shape) { '<' } else { ' ' };
        format!("{mean} {slow:>5} ({flushes}){mark}{faster}")
    }
}

fn operations<'b>(cases: &'b [&'b CaseRecord]) -> impl Iterator<Item = &'b OperationRecord> {
    measured(cases)
        .flat_map(|c| &c.phases)
        .flat_map(|p| &p.operations)
}

pub(super) fn write(out: &mut dyn Write, block: &Block<'_>, full: bool) -> io::Result<()> {
    let columns = columns(block);
    let mut grid = table(&columns, full);
    if grid.width() > WIDEST {
        for (number, column) in columns.iter().enumerate() {
            writeln!(out, "  [{}] {}", number + 1, column.label)?;
        }
        let numbers = (1..=columns.len()).map(|number| format!("[{number}]   "));
        grid.replace_header(header(numbers));
    }
    grid.write(out, 2)?;
    for line in judgements(&columns) {
        writeln!(out, "  {line}")?;
    }
    if !full {
        writeln!(out, "  'mountmark report' shows the other sizes")?;
    }
    Ok(())
}

/// A column a target.
pub(super) fn columns<'b>(block: &'b Block<'_>) -> Vec<Column<'b>> {
    let targets = block.targets.iter();
    targets
        .map(|(target, cases)| Column::new(target, cases))
        .collect()
}

fn header(names: impl Iterator<Item = String>) -> Vec<String> {
    let first = "mean and p99 µs (flushes a call)".to_string();
    std::iter::once(first).chain(names).collect()
}

/// A line a shape.
pub(super) fn table(columns: &[Column<'_>], full: bool) -> Grid {
    let mut grid = Grid::default();
    grid.row(header(columns.iter().map(|c| c.label.clone())));
    for shape in shapes(columns, full) {
        let cells = columns.iter().map(|column| column.cell(shape));
        grid.row(std::iter::once(shape.to_string()).chain(cells).collect());
    }
    grid
}

/// The shapes in the order they ran; the brief table has those of 8 KiB and the logs.
pub(super) fn shapes<'b>(columns: &[Column<'b>], full: bool) -> Vec<&'b str> {
    let mut shapes: Vec<&str> = Vec::new();
    let all = columns.iter().flat_map(|c| operations(c.cases));
    for operation in all {
        let name = operation.name.as_str();
        let brief = !["4K", "16K", "64K"]
            .iter()
            .any(|size| name.split(' ').nth(1) == Some(size));
        if (full || brief) && !shapes.contains(&name) {
            shapes.push(name);
        }
    }
    shapes
}

/// In words: how many shapes reached the device of each target, and what is wrong with
/// the others.
pub(super) fn judgements(columns: &[Column<'_>]) -> Vec<String> {
    columns.iter().flat_map(judged).collect()
}

fn judged(column: &Column<'_>) -> Vec<String> {
    let mut of_reach: BTreeMap<Reach, Vec<&str>> = BTreeMap::new();
    for shape in column.shapes.keys().filter(|s| **s != DEVICE_FLUSH) {
        if let Some(reach) = column.reach(shape) {
            of_reach.entry(reach).or_default().push(shape);
        }
    }
    let mut lines = Vec::new();
    for (reach, shapes) in of_reach {
        let mark = match reach {
            Reach::NotReached => " (!)",
            Reach::NoCache => " (=)",
            Reach::Unseen => " (?)",
            Reach::Reached | Reach::Refused => "",
        };
        let mut line = format!("{}: {} shapes {reach}{mark}", column.label, shapes.len());
        if reach == Reach::Refused {
            line.push_str(&format!(": {}", why(column, &shapes)));
        }
        let faster = shapes.iter().filter(|s| column.is_faster(s)).count();
        if let (1.., Some(bare)) = (faster, column.bare_ns()) {
            line.push_str(&format!(
                "; {faster} faster (<) than the device's own flush of {:.1} µs",
                bare / 1e3
            ));
        }
        lines.push(line);
    }
    lines
}

/// The kernel's words, each with the shapes that got them.
fn why(column: &Column<'_>, shapes: &[&str]) -> String {
    let mut words: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for shape in shapes {
        let refused = column.shapes[shape]
            .iter()
            .find_map(|o| o.refused.as_deref());
        words
            .entry(refused.unwrap_or_default())
            .or_default()
            .push(shape);
    }
    let told = words
        .into_iter()
        .map(|(words, shapes)| match shapes.as_slice() {
            [one] => format!("{words} ({one})"),
            [first, ..] => format!("{words} ({first} and {} more)", shapes.len() - 1),
            [] => words.to_string(),
        });
    told.collect::<Vec<_>>().join("; ")
}
