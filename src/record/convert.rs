//! From what was measured to what is stored.

use super::schema::*;
use crate::host::Facts;
use crate::measure::{CpuTime, DeviceCounters};
use crate::plan::CaseKey;
use crate::workload::{DuetResult, EndTime, Ends, MachineUse, OperationResult, Quantiles};

impl From<&CaseKey> for KeyRecord {
    fn from(key: &CaseKey) -> Self {
        KeyRecord {
            target: key.target.clone(),
            engine: key.engine.clone(),
            settings: key.settings.clone(),
            memory_bytes: key.memory.map(|m| m.0),
            cpus: key.cpus.to_string(),
            workload: key.workload.clone(),
            load: key.load.map(Into::into),
            replicate: key.replicate,
        }
    }
}

impl From<Facts> for HostRecord {
    fn from(facts: Facts) -> Self {
        HostRecord {
            kernel: facts.kernel,
            kernel_build: facts.kernel_build,
            architecture: facts.architecture,
            system: facts.system,
            cpu: facts.cpu,
            cpus: facts.cpus,
            memory_bytes: facts.memory_bytes,
            swap_bytes: facts.swap_bytes,
            governor: facts.governor,
            virtual_machine: facts.virtual_machine,
            boot_id: facts.boot_id,
            clocksource: facts.clocksource,
        }
    }
}

impl From<CpuTime> for CpuRecord {
    fn from(cpu: CpuTime) -> Self {
        CpuRecord {
            user_ns: cpu.user_ns,
            system_ns: cpu.system_ns,
        }
    }
}

impl From<MachineUse> for MachineRecord {
    fn from(machine: MachineUse) -> Self {
        MachineRecord {
            others: machine.others.into(),
            steal_ns: machine.steal_ns,
            cpu_stalled_ns: machine.cpu_stalled_ns,
            io_stalled_ns: machine.io_stalled_ns,
        }
    }
}

impl From<DeviceCounters> for DeviceCountsRecord {
    fn from(counts: DeviceCounters) -> Self {
        DeviceCountsRecord {
            read_bytes: counts.read_bytes,
            written_bytes: counts.written_bytes,
            discarded_bytes: counts.discarded_bytes,
            flushes: counts.flushes,
        }
    }
}

impl From<EndTime> for EndRecord {
    fn from(end: EndTime) -> Self {
        EndRecord {
            wall_ns: end.wall_ns,
            device: end.device.map(Into::into),
        }
    }
}

impl From<Ends> for EndsRecord {
    fn from(ends: Ends) -> Self {
        EndsRecord {
            returned: ends.returned.into(),
            flushed: Some(ends.flushed.into()),
            settled: Some(ends.settled.into()),
            dirty_bytes: ends.dirty_bytes,
        }
    }
}

impl From<DuetResult> for DuetPhaseRecord {
    fn from(duet: DuetResult) -> Self {
        DuetPhaseRecord {
            turns: duet.turns,
            passing_ns: duet.passing_ns,
            paused_ns: duet.paused_ns,
            resting_device: duet.resting_device.map(Into::into),
            resting_server: duet.resting_server.map(Into::into),
        }
    }
}

impl From<Quantiles> for LatencyRecord {
    fn from(q: Quantiles) -> Self {
        LatencyRecord {
            count: q.count,
            mean_ns: q.mean_ns,
            p50_ns: q.p50_ns,
            p90_ns: q.p90_ns,
            p99_ns: q.p99_ns,
            p999_ns: q.p999_ns,
            max_ns: q.max_ns,
            hdr: q.hdr,
        }
    }
}

impl From<OperationResult> for OperationRecord {
    fn from(result: OperationResult) -> Self {
        OperationRecord {
            completeness: match result.time_limited {
                true => Completeness::TimeLimited,
                false => Completeness::Complete,
            },
            name: result.name,
            count: result.count,
            planned: result.planned,
            rows: result.rows,
            statements: Some(result.statements),
            rows_received: Some(result.rows_received),
            bytes: result.bytes,
            refused: result.refused,
            flags: String::new(),
            wall_ns: result.wall_ns,
            client: result.client.into(),
            server: result.server.map(Into::into),
            device: result.device.map(Into::into),
            latency: result.latency.map(Into::into),
            slices: result
                .slices
                .iter()
                .map(|s| (s.statements, s.wall_ns))
                .collect(),
        }
    }
}
