//! What was seen of a phase from outside the measured loop.

use crate::record::{CpuRecord, PhaseRecord};
use crate::units::seconds;

/// A figure of a phase.
pub(super) struct Figure {
    /// Its value, where it was seen.
    pub value: fn(&PhaseRecord) -> Option<f64>,
    /// It in words.
    pub show: fn(f64) -> String,
}

/// All of them, until *returned*, by the name of their row.
pub(super) const FIGURES: [(&str, Figure); 6] = [
    (
        "client CPU, s",
        Figure {
            value: |phase| phase.client.map(total),
            show: seconds,
        },
    ),
    (
        "server CPU, s",
        Figure {
            value: |phase| phase.server.map(total),
            show: seconds,
        },
    ),
    (
        "CPU of the rest of the machine, s",
        Figure {
            value: |phase| phase.machine.map(|m| total(m.others)),
            show: seconds,
        },
    ),
    (
        "steal, s",
        Figure {
            value: |phase| {
                let steal = phase.machine.map(|m| m.steal_ns as f64 / 1e9);
                steal.filter(|s| *s > 0.0)
            },
            show: seconds,
        },
    ),
    (
        "server memory, stable, MiB",
        Figure {
            value: |phase| mib(phase.sampled?.server_memory_stable_bytes),
            show: whole,
        },
    ),
    (
        "server memory, final, MiB",
        Figure {
            value: |phase| mib(phase.server_memory_bytes),
            show: whole,
        },
    ),
];

fn total(cpu: CpuRecord) -> f64 {
    (cpu.user_ns + cpu.system_ns) as f64 / 1e9
}

fn mib(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|b| b as f64 / f64::from(1 << 20))
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}
