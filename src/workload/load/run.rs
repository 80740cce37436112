//! One load from its first connection to its last check.

use std::time::Duration;

use super::catalogue::Catalogue;
use super::check::Acknowledged;
use super::client::Rules;
use super::crew::{Crew, Outcome};
use super::databases::Cell;
use super::remarks::remarks;
use super::result::LoadResult;
use super::tally::Shape;
use super::turnstile::LONGEST_DRAIN;
use super::watch::{Seen, Watch};
use super::{Checkpointed, Options};
use crate::engine::{Address, Session, Settings, connect};
use crate::error::{Context, Error, Result, bail};
use crate::workload::Bench;
use crate::workload::bench::{Stamp, settle};
use crate::workload::event::{Event, PhaseResult, Quantiles};

/// The name of the workload, and of its phase in a record.
pub const NAME: &str = "load";

/// Runs one load with its three ends and its checks.
///
/// Inside the measured period are the transactions of all clients, from their common
/// release to the last answer. Connecting (unless there is a new connection a
/// transaction), preparing of statements and the warm-up are before it, the closing of
/// the connections after it; reading of counters is around it, but for the progress figures, which
/// another thread takes from memory.
///
/// In a duet all times are the case's own: the clock stands still while the other plays,
/// with nothing of ours under way. The end of a slice, until the last transaction has
/// been answered, belongs to them.
///
/// # Errors
/// A statement that fails for good, with the statement and the server's words; counters
/// that do not add up; data that are not what was acknowledged.
pub fn run(bench: &mut Bench<'_>, options: &Options, cell: Cell) -> Result<()> {
    bench.tell(Event::PhaseStarted {
        phase: NAME.to_string(),
    })?;
    bench.gate.enter();
    let addresses: Vec<Address> = (0..cell.databases)
        .map(|index| bench.address().of_database(index))
        .collect();
    let mut keepers = Keepers::open(&addresses)?;
    let settings = keepers.first().settings().map_err(Error::new)?;
    let catalogue = Catalogue::new(options, cell, keepers.first().dialect())?;
    let rules = Rules {
        limit: options.limit_ms.map(|ms| Duration::from_secs_f64(ms / 1e3)),
        reconnect: options.reconnect,
        max_tries: options.max_tries,
        shape: Shape {
            scheduled: options.rate.is_some(),
            timed_statements: match options.per_statement {
                true => catalogue.statements().len(),
                false => 0,
            },
            databases: addresses.len(),
            scripts: options.scripts.len(),
        },
    };
    let crew = Crew::new((options, cell), &catalogue, &addresses, rules)?;
    let mut watch = Watch {
        bench,
        keeper: keepers.first(),
        progress: options.progress_s.map(Duration::from_secs_f64),
        seen: Seen::default(),
    };
    let outcome = crew.run(&mut watch)?;
    let seen = watch.seen;
    // The other case of a duet comes to its own end before ours goes on to what follows.
    bench.gate.arrive();
    if let Some(words) = outcome.tally.inconsistency() {
        bail!("the counters of the load do not add up: {words}");
    }
    let (before, after) = seen
        .before
        .zip(seen.after)
        .context("the load was not watched")?;
    let mut result = result(&crew, &outcome, &seen, (before, after), &settings);
    result.slices = bench.slices.finish(result.committed, outcome.wall);
    let pauses = outcome.pauses;
    bench.rest.paused = pauses.stood;
    let duet = bench.rest.result(&bench.gate);
    result.draining_ns = duet.map(|_| pauses.draining.as_nanos() as u64);
    if pauses.missed > 0 {
        result.remarks.push(format!(
            "{} slices went on, as transactions under way took longer than {} s",
            pauses.missed,
            LONGEST_DRAIN.as_secs()
        ));
    }
    bench.tell(Event::LoadFinished(Box::new(result)))?;
    let ends = settle(
        bench,
        &mut || keepers.checkpoint(),
        (before, after),
        pauses.stood,
    )?;
    bench.tell(Event::PhaseFinished(PhaseResult {
        name: NAME.to_string(),
        ends,
        client: after.client.since(before.client),
        server: after.server.zip(before.server).map(|(a, b)| a.since(b)),
        server_memory_bytes: seen.server_memory,
        settings,
        duet,
        machine: None,
    }))?;
    drop(keepers);
    let sums = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();
    let checked = Acknowledged {
        options,
        by_database: &sums(&outcome.tally.by_database, &outcome.warm_by_database),
        by_script: &sums(&outcome.tally.by_script, &outcome.warm_by_script),
    }
    .check(&addresses)?;
    bench.tell(Event::LoadChecked(checked))?;
    bench.gate.leave();
    Ok(())
}

/// Sessions that stay open while the load runs, so that the ends can be reached through
/// them and no client's closing is a database's last. One, or where each database has a
/// file of its own (SQLite) one each.
struct Keepers(Vec<Box<dyn Session>>);

impl Keepers {
    fn open(addresses: &[Address]) -> Result<Self> {
        let each = matches!(addresses.first(), Some(Address::Sqlite { .. }));
        let addresses = if each { addresses } else { &addresses[..1] };
        let open = |address| {
            connect(address)
                .map_err(Error::new)
                .context("cannot connect to the server")
        };
        Ok(Keepers(addresses.iter().map(open).collect::<Result<_>>()?))
    }

    fn first(&mut self) -> &mut dyn Session {
        self.0[0].as_mut()
    }

    fn checkpoint(&mut self) -> Checkpointed {
        self.0.iter_mut().try_for_each(|keeper| keeper.checkpoint())
    }
}

fn result(
    crew: &Crew<'_>,
    outcome: &Outcome,
    seen: &Seen,
    (before, after): (Stamp, Stamp),
    settings: &Settings,
) -> LoadResult {
    let (tally, options) = (&outcome.tally, crew.options);
    let quantiles = |latency: &crate::measure::Latency| Quantiles::of(latency.histogram());
    let client = after.client.since(before.client);
    let in_client = matches!(crew.addresses[0], Address::Sqlite { .. });
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let capacity = outcome.wall.as_nanos() as f64 * crew.threads().min(cpus) as f64;
    let wall_s = outcome.wall.as_secs_f64();
    let busy = client.total_ns() as f64 / capacity;
    let names = options.scripts.iter().map(|s| s.name.clone());
    let mut result = LoadResult {
        cell: crew.cell,
        threads: crew.threads() as u64,
        wall_ns: outcome.wall.as_nanos() as u64,
        attempted: tally.attempted,
        committed: tally.committed,
        failed: tally.failed,
        skipped: tally.skipped,
        late: tally.late,
        retried: tally.retried,
        retries: tally.retries,
        errors: tally.errors.clone(),
        statements: tally.statements,
        round_trips: tally.round_trips,
        connects: tally.connects,
        warmup_committed: outcome.warm_by_database.iter().sum(),
        checkpoints: crew.measured.checkpoints.reached(),
        progress: seen.series.clone(),
        latency: quantiles(&tally.latency),
        lag: tally.lag.as_ref().map(quantiles),
        service: tally.service.as_ref().map(quantiles),
        statement_latency: crew
            .catalogue
            .statements()
            .iter()
            .zip(&tally.statement_latency)
            .map(|(statement, latency)| (statement.shown.clone(), quantiles(latency)))
            .collect(),
        by_script: names.zip(tally.by_script.iter().copied()).collect(),
        by_database: (
            tally.by_database.iter().copied().min().unwrap_or(0),
            tally.by_database.iter().copied().max().unwrap_or(0),
        ),
        activity: seen.activity.clone(),
        wal_checkpoints: seen.wal_checkpoints.clone(),
        busy_waits: outcome.busy.map(|b| (b.count, b.wait_ns)),
        machine: seen.machine,
        client_memory_bytes: peak_memory(),
        server_memory_before_bytes: seen.server_memory_before,
        ceiling_tps: (!in_client && busy > 0.0).then(|| tally.committed as f64 / wall_s / busy),
        slices: Vec::new(),
        draining_ns: None,
        remarks: Vec::new(),
    };
    result.remarks = remarks(&result, settings);
    result
}

/// The most memory that this process ever had, bytes.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
