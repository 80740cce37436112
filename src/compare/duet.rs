//! What a duet says beside the totals: the ratio slice by slice, what turns cost, and how
//! much a case went on while the other played.

use std::collections::BTreeMap;

use super::Figure;
use crate::measure::stats::median;
use crate::record::{CaseRecord, LoadRecord, OperationRecord, PhaseRecord};

/// More than this share of a case's writes, flushes or server CPU in the other's slices is
/// worth a remark: the other's figures then hold some of our work.
pub const CROSS_TALK: f64 = 0.05;

/// Both sides of a comparison in duets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Median over all pairs of slices of new / base: time a statement, of loads
    /// transactions a second; steadier than the totals, but blind to rare stalls.
    pub slice_ratio: Option<f64>,
    /// Time from giving a turn to the other's running, s; its mean.
    pub turn_s: f64,
    /// Share of the wall time of both that went into that.
    pub turn_share: f64,
    /// The largest share of a case's device bytes, flushes or server CPU that fell into
    /// the other's slices.
    pub cross_talk: f64,
    /// Of loads, the largest share of a case's own time in which clients waited for the
    /// last transactions of a slice to end.
    pub draining: Option<f64>,
}

impl Summary {
    /// From the rounds of both sides; `None` without duets.
    pub(super) fn of(
        base: &BTreeMap<u32, &CaseRecord>,
        new: &BTreeMap<u32, &CaseRecord>,
        figure: &Figure,
    ) -> Option<Self> {
        let phases: Vec<&PhaseRecord> = base
            .values()
            .chain(new.values())
            .flat_map(|c| &c.phases)
            .filter(|p| p.duet.is_some())
            .collect();
        if phases.is_empty() {
            return None;
        }
        let duets = || phases.iter().filter_map(|p| p.duet);
        let turns: u64 = duets().map(|d| d.turns).sum();
        let passing: u64 = duets().map(|d| d.passing_ns).sum();
        let own: u64 = phases
            .iter()
            .filter_map(|p| Some(p.ends?.returned.wall_ns))
            .sum();
        let ratios: Vec<f64> = base
            .iter()
            .filter_map(|(round, base)| Some((*base, *new.get(round)?)))
            .flat_map(|(base, new)| slice_ratios(base, new, figure))
            .collect();
        Some(Summary {
            slice_ratio: median(&ratios),
            turn_s: passing as f64 / 1e9 / turns.max(1) as f64,
            turn_share: passing as f64 / (passing + own).max(1) as f64,
            cross_talk: phases.iter().map(|p| cross_talk(p)).fold(0.0, f64::max),
            draining: base
                .values()
                .chain(new.values())
                .filter_map(|c| draining(c.load.as_ref()?))
                .reduce(f64::max),
        })
    }
}

/// The share of a load's own time in which clients waited for the last transactions of a
/// slice to end; `None` for one that played alone.
pub fn draining(load: &LoadRecord) -> Option<f64> {
    Some(load.draining_ns? as f64 / load.wall_ns.max(1) as f64)
}

/// The ratio of each pair of slices in which both sent statements.
fn slice_ratios(base: &CaseRecord, new: &CaseRecord, figure: &Figure) -> Vec<f64> {
    if let (Some(base), Some(new)) = (&base.load, &new.load) {
        // More is better: the rate, not the time that one took.
        return pairwise(&new.slices, &base.slices).collect();
    }
    let wanted = |o: &&OperationRecord| match figure {
        Figure::Operation(name) => o.name == *name,
        _ => true,
    };
    let (a, b) = (
        operations(base).filter(wanted),
        operations(new).filter(wanted),
    );
    a.zip(b)
        .flat_map(|(a, b)| pairwise(&a.slices, &b.slices))
        .collect()
}

/// Of each pair of slices the ratio b / a of the times that one statement took. The last
/// one of the longer side, played alone, is not paired.
fn pairwise(a: &[(u32, u64)], b: &[(u32, u64)]) -> impl Iterator<Item = f64> {
    let each = |(statements, ns): (u32, u64)| {
        (statements > 0 && ns > 0).then(|| ns as f64 / f64::from(statements))
    };
    a.iter()
        .zip(b)
        .filter_map(move |(a, b)| Some(each(*b)? / each(*a)?))
}

fn operations(case: &CaseRecord) -> impl Iterator<Item = &OperationRecord> {
    case.phases.iter().flat_map(|p| &p.operations)
}

/// The largest share of what the case did (device bytes, flushes, CPU of the server) that
/// fell into the other's slices; zero for one that played alone.
pub fn cross_talk(phase: &PhaseRecord) -> f64 {
    let (Some(duet), Some(ends)) = (phase.duet, phase.ends) else {
        return 0.0;
    };
    let share = |resting: u64, all: u64| match all {
        0 => 0.0,
        all => resting as f64 / all as f64,
    };
    let device = duet.resting_device.zip(ends.settled.and_then(|e| e.device));
    let device = device.map_or(0.0, |(resting, all)| {
        let bytes = share(resting.written_bytes, all.written_bytes);
        bytes.max(share(resting.flushes, all.flushes))
    });
    let server = duet.resting_server.zip(phase.server);
    let server = server.map_or(0.0, |(resting, all)| {
        share(
            resting.user_ns + resting.system_ns,
            all.user_ns + all.system_ns,
        )
    });
    device.max(server)
}
