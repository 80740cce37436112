//! From the lines of a published table to cases.

use std::collections::BTreeMap;

use super::csv;
use crate::import::{Bad, assemble};
use crate::record::*;
use crate::units::Bytes;
use crate::workload::load;

/// What a line gives.
enum Figure {
    Seconds(f64),
    User(f64),
    System(f64),
    /// Cumulative transactions a second at so many.
    Tps(u64, f64),
    Note(String),
}

/// One case of the table, in the making.
#[derive(Debug)]
pub(super) struct Case {
    key: KeyRecord,
    /// Seconds and CPU of each step, by its name; one without a name is the workload.
    steps: Vec<(String, Step)>,
    checkpoints: BTreeMap<u64, f64>,
    notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    wall_s: Option<f64>,
    user_s: Option<f64>,
    system_s: Option<f64>,
}

/// Reads the rows, the names of the columns first; also gives the lines that cannot be read.
pub(super) fn read(rows: &[(usize, &str)]) -> (Vec<Case>, Vec<Bad>) {
    let mut cases: Vec<Case> = Vec::new();
    let mut bad = Vec::new();
    let Some(((_, head), rows)) = rows.split_first() else {
        return (cases, bad);
    };
    let columns = csv::fields(head).unwrap_or_default();
    for (number, line) in rows {
        match row(&columns, line) {
            Ok((key, step, figure)) => take(&mut cases, key, step, figure),
            Err(why) => bad.push((*number, why)),
        }
    }
    (cases, bad)
}

fn row(columns: &[String], line: &str) -> Result<(KeyRecord, String, Figure), String> {
    let fields = csv::fields(line)?;
    if fields.len() != columns.len() {
        return Err(format!(
            "it has {} fields, the head names {}",
            fields.len(),
            columns.len()
        ));
    }
    let of = |name: &str| {
        let at = columns.iter().position(|c| c == name);
        at.map_or("", |at| fields[at].trim())
    };
    let number = |name: &str| match of(name) {
        "" => Ok(None),
        text => text.parse::<u32>().map(Some).map_err(|_| whole(name, text)),
    };
    let workload = of("workload");
    let load = match workload {
        load::NAME => Some(LoadKeyRecord {
            clients: number("clients")?.unwrap_or(0),
            databases: number("databases")?.unwrap_or(1),
        }),
        _ => None,
    };
    let memory = match of("memory") {
        "" => None,
        text => Some(text.parse::<Bytes>()?.0),
    };
    let engine = match of("engine") {
        "" => "files (published)".to_string(),
        kind => format!("{kind} (published)"),
    };
    let key = KeyRecord {
        target: of("target").to_string(),
        engine,
        settings: settings(of("settings"))?,
        memory_bytes: memory,
        cpus: "unknown".to_string(),
        workload: workload.to_string(),
        load,
        replicate: 0,
    };
    Ok((
        key,
        of("step").to_string(),
        figure(of("figure"), of("value"))?,
    ))
}

fn whole(name: &str, text: &str) -> String {
    format!("{name} '{text}' is not a whole number")
}

/// `NAME=VALUE`, blanks between several; what has no equals sign belongs to the value before.
fn settings(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut settings: Vec<(String, String)> = Vec::new();
    for word in text.split_whitespace() {
        match (word.split_once('='), settings.last_mut()) {
            (Some((name, value)), _) => settings.push((name.to_string(), value.to_string())),
            (None, Some((_, value))) => value.push_str(&format!(" {word}")),
            (None, None) => return Err(format!("setting '{word}' is not NAME=VALUE")),
        }
    }
    Ok(settings.into_iter().collect())
}

fn figure(name: &str, value: &str) -> Result<Figure, String> {
    if name == "note" {
        return Ok(Figure::Note(value.to_string()));
    }
    let number = value.parse::<f64>().ok();
    let number = number.filter(|v| v.is_finite() && *v >= 0.0);
    let number = number.ok_or_else(|| format!("'{value}' is not a figure from zero up"))?;
    match name {
        "seconds" => Ok(Figure::Seconds(number)),
        "user seconds" => Ok(Figure::User(number)),
        "system seconds" => Ok(Figure::System(number)),
        _ => {
            let count = name.strip_prefix("tps at ").and_then(|n| n.parse().ok());
            let count = count.filter(|_| number > 0.0);
            count.map(|n| Figure::Tps(n, number)).ok_or_else(|| {
                format!(
                    "unknown figure '{name}'; one of: seconds, user seconds, system seconds, \
                     tps at N, note"
                )
            })
        }
    }
}

fn take(cases: &mut Vec<Case>, key: KeyRecord, step: String, figure: Figure) {
    let at = cases.iter().position(|case| case.key == key);
    let at = at.unwrap_or_else(|| {
        cases.push(Case {
            key,
            steps: Vec::new(),
            checkpoints: BTreeMap::new(),
            notes: Vec::new(),
        });
        cases.len() - 1
    });
    let case = &mut cases[at];
    match figure {
        Figure::Seconds(value) => case.step(step).wall_s = Some(value),
        Figure::User(value) => case.step(step).user_s = Some(value),
        Figure::System(value) => case.step(step).system_s = Some(value),
        Figure::Tps(count, value) => drop(case.checkpoints.insert(count, value)),
        Figure::Note(text) => case.notes.push(text),
    }
}

fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

impl Case {
    fn step(&mut self, name: String) -> &mut Step {
        let at = self.steps.iter().position(|(known, _)| *known == name);
        let at = at.unwrap_or_else(|| {
            self.steps.push((name, Step::default()));
            self.steps.len() - 1
        });
        &mut self.steps[at].1
    }

    /// As a record of one round.
    pub fn record(self) -> CaseRecord {
        let name = &self.key.target;
        let notes = self.notes.iter().map(|note| format!("{name}: {note}"));
        let notes: Vec<String> = notes.collect();
        let load = (!self.checkpoints.is_empty()).then(|| self.load());
        let phases = self.steps.iter().map(|(name, step)| {
            let name = match name.as_str() {
                "" => &self.key.workload,
                name => name,
            };
            PhaseRecord {
                completeness: Completeness::Complete,
                ends: step.wall_s.map(|s| assemble::returned(ns(s))),
                client: step
                    .user_s
                    .zip(step.system_s)
                    .map(|(user, system)| CpuRecord {
                        user_ns: ns(user),
                        system_ns: ns(system),
                    }),
                ..assemble::blank_phase(name)
            }
        });
        CaseRecord {
            phases: phases.collect(),
            load,
            remarks: notes,
            ..assemble::blank_case(self.key)
        }
    }

    fn load(&self) -> LoadRecord {
        let last = self.checkpoints.last_key_value();
        let committed = last.map_or(0, |(count, _)| *count);
        let at = |(count, tps): (&u64, &f64)| CheckpointRecord {
            transactions: *count,
            elapsed_ns: ns(*count as f64 / tps),
        };
        let wall = self.steps.iter().find_map(|(_, step)| step.wall_s).map(ns);
        let last = last.map_or(0, |last| at(last).elapsed_ns);
        LoadRecord {
            wall_ns: wall.unwrap_or(last),
            attempted: committed,
            committed,
            checkpoints: self.checkpoints.iter().map(at).collect(),
            ..LoadRecord::default()
        }
    }
}
