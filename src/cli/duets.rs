//! Which cases are measured side by side.

use super::args::{Duets, RunArgs};
use super::resolve::NotHere;
use crate::compare;
use crate::error::{Result, ensure, one_line, usage};
use crate::plan::{CaseKey, Plan};
use crate::record::KeyRecord;
use crate::target;
use crate::units::{Bytes, parse_duration};
use crate::workload::sqlbench;

/// Decides what is measured at a time: the pairs that verdicts compare in duets, if they
/// can be, and the other cases alone. What keeps it from being so is noted.
/// A target that is `missing` here plays with nobody, who would be skipped with it.
pub(super) fn arrange(
    mut plan: Plan,
    args: &RunArgs,
    missing: &[NotHere],
    notes: &mut Vec<String>,
) -> Result<Plan> {
    let slice = parse_duration(&args.slice).map_err(|e| usage(format!("--slice {e}")))?;
    ensure!(!slice.is_zero(), usage("--slice must be longer than zero"));
    let (mut pairs, refused) = pairs(&plan)?;
    let is_here = |index: &usize| {
        let target = &plan.cases[*index].key.target;
        missing.iter().all(|m| m.target != *target)
    };
    pairs.retain(|pair| pair.iter().all(is_here));
    match (args.duet, obstacle(&plan, (&pairs, refused))) {
        (Duets::Off, _) => {}
        (Duets::On, Some(reason)) => return Err(usage(format!("--duet on: {reason}"))),
        (Duets::Auto, Some(reason)) => {
            let wanted = !pairs.is_empty() || plan.load.is_some() || plan.limits_memory();
            if plan.rounds > 1 && wanted {
                notes.push(format!("one case after the other, not in duet: {reason}"));
            }
        }
        (_, None) => {
            if let Some(reason) = refused {
                notes.push(format!(
                    "some cases one after the other, not in duet: {reason}"
                ));
            }
            plan.slice = Some(slice);
            plan.units = pairs;
        }
    }
    for index in 0..plan.cases.len() {
        if !plan.units.iter().flatten().any(|i| *i == index) {
            plan.units.push(vec![index]);
        }
    }
    Ok(plan)
}

/// Why there can be no duets, if there cannot.
fn obstacle(plan: &Plan, (pairs, refused): (&[Vec<usize>], Option<&str>)) -> Option<String> {
    if plan.rounds < 2 {
        return Some("it takes two rounds or more".to_string());
    }
    if pairs.is_empty() {
        return Some(match refused {
            Some(reason) => reason.to_string(),
            None => "no two cases can play together".to_string(),
        });
    }
    if plan.devices.len() == 1 {
        return Some("two cases at a time need two devices; name a second --device".to_string());
    }
    if !plan.needs_image() {
        return None;
    }
    let both = Bytes(plan.image_size.0.saturating_mul(2));
    let error = target::check_space(&plan.image_dir, both).err()?;
    Some(format!("two images have no room: {}", one_line(&error)))
}

/// The pairs of cases that can play a duet: those that verdicts compare, and the A/A
/// pairs; and why some cannot, if so.
fn pairs(plan: &Plan) -> Result<(Vec<Vec<usize>>, Option<&'static str>)> {
    let keys: Vec<KeyRecord> = plan.cases.iter().map(|c| KeyRecord::from(&c.key)).collect();
    // The cases of replicate 0 come first: their indices are those of the plan.
    let first: Vec<&KeyRecord> = keys.iter().filter(|k| k.replicate == 0).collect();
    let mut pairs: Vec<Vec<usize>> = compare::matches(&first, plan.baseline.as_deref())
        .into_iter()
        .map(|(_, base, new)| vec![base, new])
        .collect();
    for (twin, key) in keys.iter().enumerate().filter(|(_, k)| k.replicate == 1) {
        let mut of = key.clone();
        of.replicate = 0;
        let first = keys.iter().position(|k| *k == of);
        pairs.extend(first.map(|first| vec![first, twin]));
    }
    let mut refused = None;
    let mut can = Vec::new();
    for pair in pairs {
        let mut reason = None;
        for case in &pair {
            reason = reason.or(no_duet(&plan.cases[*case].key, plan)?);
        }
        match reason {
            None => can.push(pair),
            Some(_) => refused = refused.or(reason),
        }
    }
    Ok((can, refused))
}

/// Why a case cannot take turns, if it cannot.
fn no_duet(key: &CaseKey, plan: &Plan) -> Result<Option<&'static str>> {
    if key.memory.is_some() {
        return Ok(Some(
            "two memory limits at a time would share what the kernel keeps of either",
        ));
    }
    match (plan.load.as_ref().zip(key.load), key.workload.as_str()) {
        (Some((options, cell)), _) => options.no_duet(cell),
        (None, name) if sqlbench::PHASES.contains(&name) => Ok(None),
        _ => Ok(Some(
            "trees of files and sync calls take no turns; they are measured one after the other",
        )),
    }
}
