//! What is said below the tables: why cases have no figures, and what a reader must know.

use std::collections::{BTreeMap, HashSet};

use super::names::case_name;
use crate::record::{CaseRecord, KeyRecord, Outcome, Results};

/// Why cases have no figures: each cause once, with the rounds it struck.
pub(super) fn faults(results: &Results) -> Vec<String> {
    let keys: Vec<&KeyRecord> = results.run.plan.cases.iter().collect();
    let name = |key: &KeyRecord| {
        let first = KeyRecord {
            replicate: 0,
            ..key.clone()
        };
        case_name(&keys, &first)
    };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut order = Vec::new();
    for case in &results.cases {
        let key = &case.case;
        let line = match &case.outcome {
            Outcome::Measured => continue,
            Outcome::Failed { stage, causes, log } => {
                let log: String = log.iter().map(|l| format!("\n    log: {l}")).collect();
                format!(
                    "failed: {}: in {stage}: {}{log}",
                    name(key),
                    causes.join(": ")
                )
            }
            Outcome::Skipped { reason, remedy } => {
                format!(
                    "skipped: {}, {}: {reason}; {remedy}",
                    key.target, key.engine
                )
            }
            Outcome::Interrupted { stage } => {
                format!("interrupted: {}: in {stage}", name(key))
            }
        };
        let count = seen.entry(line.clone()).or_default();
        if *count == 0 {
            order.push(line);
        }
        *count += 1;
    }
    let told = |line: String| match seen[&line] {
        1 => line,
        n => format!("{line} ({n} times)"),
    };
    order.into_iter().map(told).collect()
}

/// What a reader must know about the run and its cases.
pub(super) fn notes(results: &Results) -> Vec<String> {
    let run = &results.run;
    let mut notes: Vec<String> = Vec::new();
    if let Some(image) = &run.image {
        notes.push(format!(
            "made targets took turns on one loop image, held by {}",
            image.holder.as_deref().unwrap_or("unknown holder")
        ));
        if !image.direct_io {
            notes.push(
                "the loop device had no direct I/O: reads may have come from the host's cache"
                    .into(),
            );
        }
    }
    notes.extend(run.remarks.iter().cloned());
    let mut told: HashSet<&str> = run.remarks.iter().map(String::as_str).collect();
    for remark in results.cases.iter().flat_map(|c| &c.remarks) {
        if told.insert(remark) {
            notes.push(remark.clone());
        }
    }
    notes.extend(disturbed(&results.cases));
    if run.ending.is_none() {
        notes.push("the run did not come to its end; the cases shown had been stored".into());
    }
    notes.extend(results.damage.iter().map(|d| format!("not read: {d}")));
    notes
}

/// How many measurements others disturbed, and by what; they count all the same.
fn disturbed(cases: &[CaseRecord]) -> Option<String> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let disturbed: Vec<&CaseRecord> = cases.iter().filter(|c| !c.disturbed.is_empty()).collect();
    for reason in disturbed.iter().flat_map(|c| &c.disturbed) {
        // In brackets stands how much.
        let kind = reason.split(" (").next().unwrap_or(reason);
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, n)| format!("{kind} in {n}"))
        .collect();
    (!disturbed.is_empty()).then(|| {
        format!(
            "others disturbed {} of {} measurements ({}); they are kept and count",
            disturbed.len(),
            cases.len(),
            kinds.join(", ")
        )
    })
}
