//! What was seen of a phase from outside the measured loop.

use crate::record::{CpuRecord, DeviceCountsRecord, PhaseRecord};
use crate::units::seconds;

/// A figure of a phase.
pub(super) struct Figure {
    /// Its value, where it was seen.
    pub value: fn(&PhaseRecord) -> Option<f64>,
    /// It in words.
    pub show: fn(f64) -> String,
}

/// All of them by the name of their row; but for the device, until *returned*.
pub(super) const FIGURES: [(&str, Figure); 10] = [
    (
        "device writes until settled, MiB",
        Figure {
            value: |phase| Some(in_mib(settled(phase)?.written_bytes)),
            show: tenths,
        },
    ),
    (
        "device reads until settled, MiB",
        Figure {
            value: |phase| Some(in_mib(settled(phase)?.read_bytes)),
            show: tenths,
        },
    ),
    (
        "flushes until settled",
        Figure {
            value: |phase| Some(settled(phase)?.flushes as f64),
            show: whole,
        },
    ),
    (
        "dirty at returned, MiB",
        Figure {
            value: |phase| phase.ends?.dirty_bytes.map(in_mib),
            show: tenths,
        },
    ),
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
            value: |phase| phase.sampled?.server_memory_stable_bytes.map(in_mib),
            show: whole,
        },
    ),
    (
        "server memory, final, MiB",
        Figure {
            value: |phase| phase.server_memory_bytes.map(in_mib),
            show: whole,
        },
    ),
];

fn settled(phase: &PhaseRecord) -> Option<DeviceCountsRecord> {
    phase.ends?.settled?.device
}

fn total(cpu: CpuRecord) -> f64 {
    (cpu.user_ns + cpu.system_ns) as f64 / 1e9
}

fn in_mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}
