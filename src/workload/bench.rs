//! What a workload is handed: sessions, the window of each operation, and the ends of a
//! phase.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::event::{EndTime, Ends, Event, MachineUse, PhaseResult, Quantiles};
use super::gate::Gate;
use super::operation::Op;
use super::rest::Rest;
use super::slices::Slices;
use crate::engine::{Address, Session, SqlError, connect};
use crate::error::{Context, Error, Result};
use crate::host::{Reading, Window};
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
    /// The machine's counters, of all processes and the kernel.
    fn machine(&mut self) -> Option<Reading> {
        None
    }
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
    pub device: Option<DeviceCounters>,
}

/// What a workload is handed.
pub struct Bench<'a> {
    address: &'a Address,
    probe: &'a mut dyn Probe,
    observer: &'a mut dyn FnMut(Event) -> Result<()>,
    phase_start: Option<Stamp>,
    machine_start: Option<Reading>,
    pub(super) gate: Gate,
    /// Pauses since the phase's start.
    pub(super) rest: Rest,
    pub(super) slices: Slices,
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
            slices: Slices::new(&Gate::Open),
            machine_start: None,
            gate: Gate::Open,
            rest: Rest::default(),
            latency: Latency::new(),
            time_limit,
        }
    }

    /// As one side of a duet.
    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.slices = Slices::new(&gate);
        self.gate = gate;
        self
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
            self.rest = Rest::new(&self.gate);
            self.machine_start = self.probe.machine();
            self.phase_start = Some(self.stamp_before());
        }
    }

    /// Opens the window of an operation that is to reach the count `planned`.
    ///
    /// # Errors
    /// When its start cannot be told.
    pub fn start<'b>(&'b mut self, operation: &str, planned: u64) -> Result<Op<'b, 'a>> {
        self.phase_begins();
        self.rest.paused += self.gate.arrive();
        Op::open(self, operation, planned)
    }

    /// syncfs of the target, outside every window.
    ///
    /// # Errors
    /// The kernel's words.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.probe.sync().context("cannot flush the target")
    }

    pub(super) fn server_memory(&mut self) -> Option<u64> {
        self.probe.server_memory()
    }

    pub(super) fn machine(&mut self) -> Option<Reading> {
        self.probe.machine()
    }

    /// True when the gate is to be passed by [`pause`](Bench::pause).
    #[inline]
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.gate.is_over(now)
    }

    /// Lets the other case of a duet play; how long that took.
    #[cold]
    pub(super) fn pause(&mut self) -> Duration {
        self.rest.pause(&mut self.gate, self.probe)
    }

    pub(super) fn tell(&mut self, event: Event) -> Result<()> {
        (self.observer)(event)
    }

    /// Slow counters first, the clock last.
    pub(super) fn stamp_before(&mut self) -> Stamp {
        let device = self.probe.device();
        let server = self.probe.server_cpu();
        let client = client_cpu();
        Stamp {
            wall: Instant::now(),
            client,
            server,
            device,
        }
    }

    /// The clock first, slow counters last.
    pub(super) fn stamp_after(&mut self) -> Stamp {
        let wall = Instant::now();
        Stamp {
            wall,
            client: client_cpu(),
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
    let machine = bench.machine_start.take().zip(bench.probe.machine());
    let dirty_bytes = bench.probe.dirty_bytes();
    let client = after.client.since(before.client);
    let ends = settle(bench, &mut || Ok(()), (before, after), Duration::ZERO)?;
    bench.tell(Event::PhaseFinished(PhaseResult {
        name: name.to_string(),
        ends: Ends {
            settled: ends.flushed,
            dirty_bytes,
            ..ends
        },
        client,
        server: None,
        machine: machine.map(|(from, to)| others(&from.until(&to), client, None)),
        server_memory_bytes: None,
        duet: None,
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
    bench.gate.enter();
    // This session stays open, so that the ends can be reached through it and closing
    // the phase's own is not the database's last close.
    let mut keeper = bench.connect()?;
    let settings = keeper.settings().map_err(Error::new)?;
    bench.phase_start = None;
    body(bench).with_context(|| format!("phase {name}"))?;
    let after = bench.stamp_after();
    let pauses = bench.rest;
    // The other comes to its own end before ours goes on to what follows.
    bench.gate.arrive();
    let Some(before) = bench.phase_start else {
        return Err(Error::msg(format!("phase {name} measured nothing")));
    };
    let machine = bench.probe.machine();
    let dirty_bytes = bench.probe.dirty_bytes();
    let server_memory_bytes = bench.probe.server_memory();
    let machine = bench.machine_start.take().zip(machine);
    // In a duet the rest of the machine is mostly the other case.
    let machine = machine.filter(|_| matches!(bench.gate, Gate::Open));
    let client = after.client.since(before.client);
    let server = after.server.zip(before.server);
    let server = server.map(|(after, before)| after.since(before));
    let ends = settle(
        bench,
        &mut || keeper.checkpoint(),
        (before, after),
        pauses.paused,
    )?;
    bench.tell(Event::PhaseFinished(PhaseResult {
        name: name.to_string(),
        ends: Ends {
            dirty_bytes,
            ..ends
        },
        client,
        server,
        machine: machine.map(|(from, to)| others(&from.until(&to), client, server)),
        server_memory_bytes,
        duet: pauses.result(&bench.gate),
        settings,
    }))?;
    drop(keeper);
    bench.gate.leave();
    Ok(())
}

/// What is left of the machine's work without the client's and the server's.
fn others(window: &Window, client: CpuTime, server: Option<CpuTime>) -> MachineUse {
    let busy = CpuTime {
        user_ns: window.user_ns,
        system_ns: window.system_ns,
    };
    MachineUse {
        others: busy.since(client).since(server.unwrap_or_default()),
        steal_ns: window.steal_ns,
        cpu_stalled_ns: window.cpu_stalled_ns,
        io_stalled_ns: window.io_stalled_ns,
    }
}

/// Goes on to *flushed* and *settled*; the reading of counters in between is in none of
/// the times.
pub(super) fn settle(
    bench: &mut Bench<'_>,
    checkpoint: &mut dyn FnMut() -> Result<(), SqlError>,
    (before, returned): (Stamp, Stamp),
    paused: Duration,
) -> Result<Ends> {
    let counters = |device: Option<DeviceCounters>| {
        device
            .zip(before.device)
            .map(|(now, before)| now.since(before))
    };
    let returned_ns = (returned.wall - before.wall - paused).as_nanos() as u64;

    let start = Instant::now();
    bench.probe.sync().context("cannot flush the target")?;
    let flushed_ns = returned_ns + start.elapsed().as_nanos() as u64;
    let flushed_device = bench.probe.device();

    let start = Instant::now();
    checkpoint()
        .map_err(Error::new)
        .context("the WAL checkpoint after the phase failed")?;
    bench.probe.sync().context("cannot flush the target")?;
    let settled_ns = flushed_ns + start.elapsed().as_nanos() as u64;

    Ok(Ends {
        returned: EndTime {
            wall_ns: returned_ns,
            device: counters(returned.device),
        },
        flushed: EndTime {
            wall_ns: flushed_ns,
            device: counters(flushed_device),
        },
        settled: EndTime {
            wall_ns: settled_ns,
            device: counters(bench.probe.device()),
        },
        dirty_bytes: None,
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
