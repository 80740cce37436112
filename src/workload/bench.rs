//! What a workload is handed: sessions, the window of each operation, and the ends of a
//! phase.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::event::{EndTime, Ends, Event, PhaseResult, Quantiles};
use super::gate::Gate;
use super::operation::Op;
use crate::engine::{Address, Session, connect};
use crate::error::{Context, Error, Result};
use crate::host::busy_cpu;
use crate::measure::{CpuTime, DeviceCounters, Latency};

/// What is watched from beside the measured loop. Each call costs microseconds and is
/// made outside the windows; `None` where the thing cannot be seen.
pub trait Probe {
    /// The target's device counters.
    fn device(&mut self) -> Option<DeviceCounters>;
    /// CPU used by the server so far.
    fn server_cpu(&mut self) -> Option<CpuTime>;
    /// Memory of the server, bytes; may cost milliseconds.
    fn server_memory(&mut self) -> Option<u64>;
    /// Dirty and write-back bytes of the target's file system.
    fn dirty_bytes(&mut self) -> Option<u64>;
    /// syncfs of the target.
    ///
    /// # Errors
    /// The kernel's words.
    fn sync(&mut self) -> Result<()>;
}

/// All counters at one moment.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub wall: Instant,
    pub client: CpuTime,
    pub server: Option<CpuTime>,
    /// All of the machine, in ticks of 10 ms.
    pub machine: Option<CpuTime>,
    pub device: Option<DeviceCounters>,
}

/// What a workload is handed.
pub struct Bench<'a> {
    address: &'a Address,
    probe: &'a mut dyn Probe,
    observer: &'a mut dyn FnMut(Event) -> Result<()>,
    phase_start: Option<Stamp>,
    pub(super) gate: Gate,
    pub(super) latency: Latency,
    pub(super) time_limit: Duration,
}

impl<'a> Bench<'a> {
    /// For one phase on the server at `address`.
    pub fn new(
        address: &'a Address,
        probe: &'a mut dyn Probe,
        observer: &'a mut dyn FnMut(Event) -> Result<()>,
        time_limit: Duration,
    ) -> Self {
        Bench {
            address,
            probe,
            observer,
            phase_start: None,
            gate: Gate::Open,
            latency: Latency::new(),
            time_limit,
        }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// The engine's words.
    pub fn connect(&mut self) -> Result<Box<dyn Session>> {
        connect(self.address)
            .map_err(Error::new)
            .context("cannot connect to the server")
    }

    /// Where to connect, for workloads that time the connecting.
    pub fn address(&self) -> &'a Address {
        self.address
    }

    /// The phase's start stamp: its total counts from here. Taken at the start of the
    /// first operation when a phase does not say.
    pub fn phase_begins(&mut self) {
        if self.phase_start.is_none() {
            self.phase_start = Some(self.stamp_before());
        }
    }

    /// Opens the window of an operation that is to reach the count `planned`.
    ///
    /// # Errors
    /// When its start cannot be told.
    pub fn start<'b>(&'b mut self, operation: &str, planned: u64) -> Result<Op<'b, 'a>> {
        self.phase_begins();
        Op::open(self, operation, planned)
    }

    /// syncfs of the target, outside every window.
    ///
    /// # Errors
    /// The kernel's words.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.probe.sync().context("cannot flush the target")
    }

    pub(super) fn tell(&mut self, event: Event) -> Result<()> {
        (self.observer)(event)
    }

    /// Slow counters first, the clock last.
    pub(super) fn stamp_before(&mut self) -> Stamp {
        let device = self.probe.device();
        let server = self.probe.server_cpu();
        let machine = busy_cpu();
        let client = client_cpu();
        Stamp {
            wall: Instant::now(),
            client,
            server,
            machine,
            device,
        }
    }

    /// The clock first, slow counters last.
    pub(super) fn stamp_after(&mut self) -> Stamp {
        let wall = Instant::now();
        Stamp {
            wall,
            client: client_cpu(),
            machine: busy_cpu(),
            server: self.probe.server_cpu(),
            device: self.probe.device(),
        }
    }
}

/// Runs one phase that has no server: a step of a tree. It has two ends, as nothing but
/// the kernel holds anything back: *settled* is *flushed*.
///
/// # Errors
/// Those of the step; a sync that fails at the end.
pub(super) fn run_step(
    bench: &mut Bench<'_>,
    name: &str,
    body: impl FnOnce(&mut Bench<'_>) -> Result<()>,
) -> Result<()> {
    bench.tell(Event::PhaseStarted {
        phase: name.to_string(),
    })?;
    bench.phase_start = None;
    body(bench).with_context(|| format!("step {name}"))?;
    let after = bench.stamp_after();
    let Some(before) = bench.phase_start else {
        return Err(Error::msg(format!("step {name} measured nothing")));
    };
    let ends = settle(bench, None, before, after)?;
    bench.tell(Event::PhaseFinished(PhaseResult {
        name: name.to_string(),
        ends,
        client: after.client.since(before.client),
        server: None,
        machine: after
            .machine
            .zip(before.machine)
            .map(|(after, before)| after.since(before)),
        server_memory_bytes: None,
        settings: Default::default(),
    }))
}

/// Runs one phase and takes its three ends.
///
/// # Errors
/// Those of the phase; a session or sync that fails at the end.
pub fn run_phase(
    bench: &mut Bench<'_>,
    name: &str,
    body: impl FnOnce(&mut Bench<'_>) -> Result<()>,
) -> Result<()> {
    bench.tell(Event::PhaseStarted {
        phase: name.to_string(),
    })?;
    // This session stays open, so that the ends can be reached through it and closing
    // the phase's own is not the database's last close.
    let mut keeper = bench.connect()?;
    let settings = keeper.settings().map_err(Error::new)?;
    bench.phase_start = None;
    body(bench).with_context(|| format!("phase {name}"))?;
    let after = bench.stamp_after();
    let Some(before) = bench.phase_start else {
        return Err(Error::msg(format!("phase {name} measured nothing")));
    };
    let server_memory_bytes = bench.probe.server_memory();
    let ends = settle(bench, Some(keeper.as_mut()), before, after)?;
    bench.tell(Event::PhaseFinished(PhaseResult {
        name: name.to_string(),
        ends,
        client: after.client.since(before.client),
        server: after
            .server
            .zip(before.server)
            .map(|(after, before)| after.since(before)),
        machine: after
            .machine
            .zip(before.machine)
            .map(|(after, before)| after.since(before)),
        server_memory_bytes,
        settings,
    }))
}

/// Goes on to *flushed* and *settled*; the reading of counters in between is in none of
/// the times.
fn settle(
    bench: &mut Bench<'_>,
    session: Option<&mut dyn Session>,
    before: Stamp,
    returned: Stamp,
) -> Result<Ends> {
    let counters = |device: Option<DeviceCounters>| {
        device
            .zip(before.device)
            .map(|(now, before)| now.since(before))
    };
    let dirty_bytes = bench.probe.dirty_bytes();
    let returned_ns = (returned.wall - before.wall).as_nanos() as u64;

    let start = Instant::now();
    bench.probe.sync().context("cannot flush the target")?;
    let flushed_ns = returned_ns + start.elapsed().as_nanos() as u64;
    let flushed_device = bench.probe.device();

    let flushed = EndTime {
        wall_ns: flushed_ns,
        device: counters(flushed_device),
    };
    let settled = match session {
        None => flushed,
        Some(session) => {
            let start = Instant::now();
            session
                .checkpoint()
                .map_err(Error::new)
                .context("the WAL checkpoint after the phase failed")?;
            bench.probe.sync().context("cannot flush the target")?;
            EndTime {
                wall_ns: flushed_ns + start.elapsed().as_nanos() as u64,
                device: counters(bench.probe.device()),
            }
        }
    };
    Ok(Ends {
        returned: EndTime {
            wall_ns: returned_ns,
            device: counters(returned.device),
        },
        flushed,
        settled,
        dirty_bytes,
    })
}

/// CPU of this process, all threads.
fn client_cpu() -> CpuTime {
    let ns = |t: TimeVal| t.tv_sec() as u64 * 1_000_000_000 + t.tv_usec() as u64 * 1_000;
    match getrusage(UsageWho::RUSAGE_SELF) {
        Ok(usage) => CpuTime {
            user_ns: ns(usage.user_time()),
            system_ns: ns(usage.system_time()),
        },
        Err(_) => CpuTime::default(),
    }
}

impl Quantiles {
    /// The usual quantiles of a histogram, and the histogram itself in V2 form.
    pub fn of(histogram: &hdrhistogram::Histogram<u64>) -> Self {
        use base64::Engine;
        use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
        let hdr = written
            .map(|_| base64::engine::general_purpose::STANDARD.encode(&bytes))
            .unwrap_or_default();
        let at = |q: f64| histogram.value_at_quantile(q);
        Quantiles {
            count: histogram.len(),
            mean_ns: histogram.mean() as u64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: histogram.max(),
            hdr,
        }
    }
}
