//! What the device had to do: bytes and flushes, of loads a commit.

use maud::{Markup, html};

use super::bars::{Bar, Bars, table};
use super::run::{Group, Member, Run, groups};
use crate::record::{CaseRecord, DeviceCountsRecord};
use crate::report::load::figures::{hundredths, tenths, whole};
use crate::workload::sync::WORKLOAD;

/// A figure of the device.
struct Kind {
    name: &'static str,
    of_load: bool,
    value: fn(&CaseRecord) -> Option<f64>,
    show: fn(f64) -> String,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "written until settled, MiB",
        of_load: false,
        value: |case| settled(case, |d| d.written_bytes as f64 / f64::from(1 << 20)),
        show: tenths,
    },
    Kind {
        name: "flushes until settled",
        of_load: false,
        value: |case| settled(case, |d| d.flushes as f64),
        show: whole,
    },
    Kind {
        name: "written a commit, KiB",
        of_load: true,
        value: |case| a_commit(case, |d| d.written_bytes as f64 / 1024.0),
        show: tenths,
    },
    Kind {
        name: "flushes a commit",
        of_load: true,
        value: |case| a_commit(case, |d| d.flushes as f64),
        show: hundredths,
    },
];

/// Over all phases of the case.
fn settled(case: &CaseRecord, pick: fn(&DeviceCountsRecord) -> f64) -> Option<f64> {
    let phases = case.phases.iter();
    let counts: Option<Vec<f64>> = phases
        .map(|phase| phase.ends?.settled?.device.as_ref().map(pick))
        .collect();
    counts
        .filter(|c| !c.is_empty())
        .map(|counts| counts.iter().sum())
}

/// Until returned, by the transactions that were committed.
fn a_commit(case: &CaseRecord, pick: fn(&DeviceCountsRecord) -> f64) -> Option<f64> {
    let committed = case.load.as_ref()?.committed;
    let device = case.phases.first()?.ends?.returned.device?;
    (committed > 0).then(|| pick(&device) / committed as f64)
}

pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let groups = groups(run, |key| key.workload != WORKLOAD);
    let mut parts = KINDS
        .iter()
        .map(|kind| {
            let own = groups.iter().filter(|g| is_load(g) == kind.of_load);
            let bars: Vec<Bars> = own.filter_map(|group| bars(group, kind)).collect();
            (kind, bars)
        })
        .filter(|(_, bars)| !bars.is_empty())
        .peekable();
    parts.peek()?;
    Some(html! {
        p { "Counted by the kernel for the device of the target: exact on a loop device, too. Less for the same work is less wear, and less to wait for." }
        @for (kind, bars) in parts { (table(kind.name, &["median"], &bars, run.budget)) }
    })
}

fn is_load(group: &Group<'_>) -> bool {
    group.members.first().is_some_and(|m| m.key.load.is_some())
}

/// `None` where it was counted for no case.
fn bars(group: &Group<'_>, kind: &Kind) -> Option<Bars> {
    let bar = |member: &Member<'_>| {
        let value = member.median(kind.value);
        Bar {
            name: member.marked(),
            color: member.color,
            value,
            cells: vec![value.map_or("–".to_string(), kind.show)],
            ..Bar::default()
        }
    };
    let bars: Vec<Bar> = group.members.iter().map(bar).collect();
    bars.iter().any(|b| b.value.is_some()).then(|| Bars {
        title: group.title.clone(),
        bars,
    })
}
