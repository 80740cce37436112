//! Going on with a stored run: only what is missing is measured, and only if plan and
//! machine are still those of the run. What is stored is never rewritten.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Result, bail, usage};
use crate::host::now_utc;
use crate::plan::Plan;
use crate::record::{
    self, CaseRecord, DeviceRecord, HostRecord, KeyRecord, Outcome, PlanRecord, Results, RunRecord,
    Store,
};

/// What there is already.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Case, round, and with whom it played, if it did.
    measured: BTreeSet<(KeyRecord, u32, Option<KeyRecord>)>,
    /// Rounds that the run had decided on.
    pub rounds: u32,
}

impl Done {
    /// Of these cases: everything but what was interrupted.
    fn of(run: &RunRecord, cases: &[CaseRecord]) -> Self {
        let ended = |case: &&CaseRecord| !matches!(case.outcome, Outcome::Interrupted { .. });
        let ended = cases.iter().filter(ended);
        Done {
            measured: ended
                .map(|case| {
                    let partner = case.duet.as_ref().map(|d| d.partner.clone());
                    (case.case.clone(), case.round, partner)
                })
                .collect(),
            rounds: run.plan.rounds,
        }
    }

    /// Whether this unit of the plan, a case or the two of a duet, is there in this round.
    pub fn has(&self, plan: &Plan, unit: &[usize], round: u32) -> bool {
        let key = |index: &usize| KeyRecord::from(&plan.cases[*index].key);
        !self.measured.is_empty()
            && unit.iter().all(|index| {
                let partner = unit.iter().find(|other| *other != index).map(key);
                self.measured.contains(&(key(index), round, partner))
            })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.measured.len()
    }
}

/// Opens the run in `dir` to go on with it, as `new` would have begun it now, with the
/// made targets on `device`.
///
/// # Errors
/// When plan or machine differ, with the first difference; when it is damaged.
pub(super) fn open(
    dir: &Path,
    new: &RunRecord,
    device: Option<&DeviceRecord>,
) -> Result<(Store, Done, Vec<String>)> {
    let results = record::load(dir)?;
    let notes = check(&results, new, device)?;
    let done = Done::of(&results.run, &results.cases);
    let mut store = Store::open(dir, results.run)?;
    store.update(|run| {
        run.ended = None;
        run.ending = None;
        run.remarks.push(format!("resumed at {}", now_utc()));
        run.remarks.extend(notes.iter().cloned());
        for remark in &new.remarks {
            if !run.remarks.contains(remark) {
                run.remarks.push(remark.clone());
            }
        }
    })?;
    Ok((store, done, notes))
}

/// The run of that directory: what a command line needs to go on with it.
///
/// # Errors
/// When there is none.
pub fn stored(dir: &Path) -> Result<RunRecord> {
    Ok(record::load(dir)?.run)
}

fn check(results: &Results, new: &RunRecord, device: Option<&DeviceRecord>) -> Result<Vec<String>> {
    let run = &results.run;
    let refuse = |what: String| -> Result<Vec<String>> {
        Err(usage(format!(
            "run {} cannot be resumed: {what}; begin a new one",
            run.id
        )))
    };
    if run.mountmark != new.mountmark {
        return refuse(format!(
            "it was made by mountmark {}, this is {}",
            run.mountmark, new.mountmark
        ));
    }
    if let Some(difference) = plans_differ(&run.plan, &new.plan) {
        return refuse(format!("the plan differs: {difference}"));
    }
    if let Some(difference) = hosts_differ(&run.host, &new.host) {
        return refuse(format!("the machine differs: {difference}"));
    }
    if run.image.is_some() != new.image.is_some() {
        return refuse("one has a loop image, the other has not".to_string());
    }
    if let (Some(old), Some(new)) = (&run.image, &new.image)
        && (old.size_bytes, old.direct_io, old.in_memory)
            != (new.size_bytes, new.direct_io, new.in_memory)
    {
        return refuse("the loop image is of another kind or size".to_string());
    }
    if let (None, Some(device)) = (&run.image, device)
        && let Some(other) = other_device(&results.cases, device)
    {
        return refuse(format!(
            "it was measured on {other}, not on {}",
            device.device
        ));
    }
    if !results.damage.is_empty() && results.damage.len() > 1 {
        bail!("the run is damaged: {}", results.damage.join("; "));
    }
    Ok(host_notes(&run.host, &new.host))
}

/// A device of a made target that is not this one.
fn other_device<'c>(cases: &'c [CaseRecord], device: &DeviceRecord) -> Option<&'c str> {
    let targets = cases.iter().filter_map(|case| case.target.as_ref());
    let made = targets.filter(|target| target.mkfs.is_some());
    let mut devices = made.filter_map(|target| target.device.as_ref());
    let other =
        devices.find(|old| (&old.device, old.size_bytes) != (&device.device, device.size_bytes));
    other.map(|old| old.device.as_str())
}

/// The first thing in which they differ. Rounds may have been added to the stored one.
fn plans_differ(old: &PlanRecord, new: &PlanRecord) -> Option<String> {
    let only_in = |a: &PlanRecord, b: &PlanRecord| {
        let missing = a.cases.iter().find(|key| !b.cases.contains(key));
        missing.map(|key| format!("{} on {}, {}", key.workload, key.target, key.engine))
    };
    if let Some(case) = only_in(old, new) {
        return Some(format!("'{case}' with its settings is not in the new one"));
    }
    if let Some(case) = only_in(new, old) {
        return Some(format!(
            "'{case}' with its settings is not in the stored one"
        ));
    }
    let plain = |plan: &PlanRecord| PlanRecord {
        rounds: 0,
        order: Vec::new(),
        until_sure: None,
        ..plan.clone()
    };
    let (a, b) = (plain(old), plain(new));
    if a.cases != b.cases {
        return Some("the cases stand in another order".to_string());
    }
    if old.until_sure.is_none() && new.until_sure.is_none() && old.rounds != new.rounds {
        return Some(format!("{} rounds and {}", old.rounds, new.rounds));
    }
    let rule = |plan: &PlanRecord| plan.until_sure.map(|u| (u.width, u.most));
    if rule(old) != rule(new) {
        return Some("rounds are added by another rule".to_string());
    }
    (a != b).then(|| {
        "seed, profile, loops, time limit, baseline, threshold or memory settings".to_string()
    })
}

fn hosts_differ(old: &HostRecord, new: &HostRecord) -> Option<String> {
    let pairs = [
        ("architecture", &old.architecture, &new.architecture),
        ("cpu", &old.cpu, &new.cpu),
    ];
    for (name, a, b) in pairs {
        if a != b {
            return Some(format!("{name} {a} and {b}"));
        }
    }
    if old.cpus != new.cpus {
        return Some(format!("{} cpus and {}", old.cpus, new.cpus));
    }
    // A kernel keeps some of the memory for itself, each another part.
    let apart = old.memory_bytes.abs_diff(new.memory_bytes);
    (apart > old.memory_bytes / 50)
        .then(|| format!("memory {} and {} bytes", old.memory_bytes, new.memory_bytes))
}

/// What may differ and must be said.
fn host_notes(old: &HostRecord, new: &HostRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if old.kernel != new.kernel || old.kernel_build != new.kernel_build {
        notes.push(format!(
            "the kernel changed within the run, from {} to {}",
            old.kernel, new.kernel
        ));
    } else if old.boot_id != new.boot_id {
        notes.push("the machine was booted within the run".to_string());
    }
    if old.governor != new.governor {
        let name = |g: &Option<String>| g.clone().unwrap_or_else(|| "none".to_string());
        notes.push(format!(
            "the frequency governor changed within the run, from {} to {}",
            name(&old.governor),
            name(&new.governor)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> HostRecord {
        HostRecord {
            kernel: "6.1".into(),
            cpu: "x".into(),
            cpus: 2,
            memory_bytes: 1 << 30,
            boot_id: "a".into(),
            ..HostRecord::default()
        }
    }

    #[test]
    fn another_machine_is_refused_and_another_boot_noted() {
        let change = |f: fn(&mut HostRecord)| {
            let mut new = host();
            f(&mut new);
            (hosts_differ(&host(), &new), host_notes(&host(), &new).len())
        };
        assert_eq!(change(|_| {}), (None, 0));
        assert_eq!(change(|h| h.boot_id = "b".into()), (None, 1));
        assert_eq!(change(|h| h.kernel = "6.2".into()), (None, 1));
        assert_eq!(change(|h| h.memory_bytes += 1 << 20), (None, 0));
        assert!(change(|h| h.cpus = 3).0.is_some());
        assert!(change(|h| h.cpu = "y".into()).0.is_some());
        assert!(change(|h| h.memory_bytes *= 2).0.is_some());
    }
}
