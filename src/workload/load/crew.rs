//! The threads that carry a load, and the moments they have in common: all connected,
//! warm-up, released together into the measured period, ended.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use super::catalogue::Catalogue;
use super::client::{Client, Common, Rules};
use super::databases::Cell;
use super::driver::{Driver, places, threads};
use super::pace::Schedule;
use super::period::{Alarm, Amount, Period};
use super::tally::{Beat, Pulse, Tally};
use super::{Options, blocking, epoll};
use crate::engine::{Address, BusyWaits};
use crate::error::{Context, Error, Result};

/// Everything that the threads share.
pub(super) struct Crew<'a> {
    pub options: &'a Options,
    pub cell: Cell,
    pub catalogue: &'a Catalogue,
    /// Of every database.
    pub addresses: &'a [Address],
    pub rules: Rules,
    pub warmup: Period,
    pub measured: Period,
    pub alarm: Alarm,
    pub pulses: Vec<Pulse>,
    running: AtomicUsize,
    barrier: Barrier,
}

/// What came of a load.
pub(super) struct Outcome {
    /// Of the measured period.
    pub tally: Tally,
    /// Committed in the warm-up, by database and by script.
    pub warm_by_database: Vec<u64>,
    pub warm_by_script: Vec<u64>,
    /// From release to the last answer.
    pub wall: Duration,
    pub busy: Option<BusyWaits>,
}

/// What the main thread does at the common moments. All calls are outside the windows of
/// the clients but [`sample`](Watcher::sample), which is beside them.
pub(super) trait Watcher {
    /// Everybody is connected and warm, nobody works; `start` follows at once.
    fn before(&mut self) -> Result<()>;
    /// Beside the measured period: the sums so far, and when to be called next.
    fn sample(&mut self, elapsed: Duration, beat: Beat) -> Result<Duration>;
    /// The last client has had its last answer; all connections are open still.
    fn returned(&mut self) -> Result<()>;
    /// The clients' connections are closed.
    fn closed(&mut self) -> Result<()>;
}

impl<'a> Crew<'a> {
    pub fn new(
        (options, cell): (&'a Options, Cell),
        catalogue: &'a Catalogue,
        addresses: &'a [Address],
        rules: Rules,
    ) -> Self {
        let threads = threads(options, cell, addresses);
        Crew {
            options,
            cell,
            catalogue,
            addresses,
            rules,
            warmup: Period::new(
                Amount {
                    time: Some(Duration::from_secs_f64(options.warmup_s)),
                    ..Amount::default()
                },
                &[],
            ),
            measured: Period::new(
                Amount {
                    time: options.seconds.map(Duration::from_secs_f64),
                    each: options.transactions,
                    total: options.tuples,
                },
                &options.checkpoints,
            ),
            alarm: Alarm::default(),
            pulses: (0..threads).map(|_| Pulse::default()).collect(),
            running: AtomicUsize::new(threads),
            barrier: Barrier::new(threads + 1),
        }
    }

    /// Threads that serve clients.
    pub fn threads(&self) -> usize {
        self.pulses.len()
    }

    /// Runs the whole load.
    ///
    /// # Errors
    /// The first failure of a client; those of `watcher`.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Outcome> {
        let main = thread::current();
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads())
                .map(|index| {
                    let main = main.clone();
                    thread::Builder::new()
                        .name(format!("load-{index}"))
                        .stack_size(512 << 10)
                        .spawn_scoped(scope, move || self.work(index, &main))
                })
                .collect();
            let workers = workers.into_iter().map(|worker| match worker {
                Ok(worker) => worker,
                // Too few threads for the barrier: nothing could be undone in order.
                Err(error) => {
                    eprintln!("cannot start a thread for a client: {error}");
                    std::process::exit(1);
                }
            });
            let workers: Vec<_> = workers.collect();
            let watched = self.lead(watcher);
            let mut outcome: Option<Outcome> = None;
            for worker in workers {
                let own = worker
                    .join()
                    .map_err(|_| Error::msg("a client's thread panicked"))?;
                outcome = match (outcome, own) {
                    (None, own) => own,
                    (Some(all), None) => Some(all),
                    (Some(all), Some(own)) => Some(all.with(own)),
                };
            }
            if let Some(failure) = self.alarm.take() {
                return Err(failure);
            }
            watched?;
            outcome.context("no client did anything")
        })
    }

    /// The main thread's part. Whatever fails, the clients are taken through all moments.
    fn lead(&self, watcher: &mut dyn Watcher) -> Result<()> {
        self.barrier.wait();
        self.warmup.begin();
        self.barrier.wait();
        self.barrier.wait();
        let before = match self.alarm.is_raised() {
            true => Ok(()),
            false => watcher.before(),
        };
        if before.is_err() {
            self.alarm
                .raise(Error::msg("the load could not be watched"));
            self.alarm.take();
        }
        // The warm-up is in the pulses too.
        let base = Pulse::beat(&self.pulses);
        let start = self.measured.begin();
        self.barrier.wait();
        let mut sampled = before;
        let mut next = Duration::ZERO;
        while self.running.load(Ordering::Acquire) > 0 {
            let elapsed = start.elapsed();
            if elapsed >= next && sampled.is_ok() {
                match watcher.sample(elapsed, Pulse::beat(&self.pulses).since(base)) {
                    Ok(then) => next = then,
                    Err(error) => {
                        self.alarm.raise(error);
                        sampled = Ok(());
                        next = Duration::MAX;
                    }
                }
            }
            thread::park_timeout(next.saturating_sub(start.elapsed()));
        }
        let watch = sampled.is_ok() && !self.alarm.is_raised();
        let returned = if watch { watcher.returned() } else { Ok(()) };
        self.barrier.wait();
        self.barrier.wait();
        sampled.and(returned)?;
        if watch { watcher.closed() } else { Ok(()) }
    }

    /// A client thread: `None` when it failed.
    fn work(&self, index: usize, main: &Thread) -> Option<Outcome> {
        let mut driver = match self.open(index) {
            Ok(driver) => Some(driver),
            Err(error) => {
                self.alarm
                    .raise(error.context("a client cannot connect and prepare its statements"));
                None
            }
        };
        self.barrier.wait();
        self.barrier.wait();
        if self.options.warmup_s > 0.0 {
            self.drive(&mut driver, &self.warmup, index);
        }
        self.barrier.wait();
        let warm = driver.as_mut().map(|d| d.take_tally(&self.rules));
        self.barrier.wait();
        let waits = driver.as_ref().and_then(Driver::busy_waits);
        self.drive(&mut driver, &self.measured, index);
        self.running.fetch_sub(1, Ordering::Release);
        main.unpark();
        self.barrier.wait();
        let outcome = driver.zip(warm).map(|(mut driver, warm)| {
            let ended = driver.ended();
            Outcome {
                busy: driver
                    .busy_waits()
                    .zip(waits)
                    .map(|(now, before)| BusyWaits {
                        count: now.count - before.count,
                        wait_ns: now.wait_ns - before.wait_ns,
                    }),
                tally: driver.take_tally(&self.rules),
                warm_by_database: warm.by_database,
                warm_by_script: warm.by_script,
                wall: ended.map_or(Duration::ZERO, |end| end - self.measured.begin()),
            }
        });
        // The connections are closed by now.
        self.barrier.wait();
        outcome
    }

    fn drive(&self, driver: &mut Option<Driver<'_>>, period: &Period, index: usize) {
        let common = Common {
            period,
            alarm: &self.alarm,
            pulse: &self.pulses[index],
        };
        if let Some(driver) = driver
            && !self.alarm.is_raised()
            && let Err(error) = driver.drive(common)
        {
            self.alarm.raise(error);
        }
    }

    fn open(&self, index: usize) -> Result<Driver<'_>> {
        let (mode, connect) = (self.options.mode, !self.options.reconnect);
        let threads = self.threads();
        let own = (index as u32..self.cell.clients).step_by(threads);
        let mut clients: Vec<Client> = own.map(|client| self.client(client)).collect();
        let tally = Tally::new(self.rules.shape);
        match places(self.addresses) {
            Some(places) => {
                let driver =
                    epoll::Driver::open((clients, tally), places, self.catalogue, mode, connect)?;
                Ok(Driver::Epoll(Box::new(driver)))
            }
            None => {
                let client = clients.pop().context("a thread without a client")?;
                let addresses = self.addresses;
                let driver = blocking::Driver::open(
                    (client, tally),
                    addresses,
                    self.catalogue,
                    mode,
                    connect,
                )?;
                Ok(Driver::Blocking(Box::new(driver)))
            }
        }
    }

    fn client(&self, client: u32) -> Client {
        let options = self.options;
        let schedule = options
            .rate
            .map(|rate| Schedule::new(rate, self.cell.clients, options.seed, client));
        Client::new(
            self.catalogue.player(client),
            self.cell.databases_of(client).collect(),
            schedule,
            self.rules,
        )
    }
}

impl Outcome {
    fn with(mut self, other: Outcome) -> Self {
        self.tally.merge(&other.tally);
        let pairs = self
            .warm_by_database
            .iter_mut()
            .zip(&other.warm_by_database);
        pairs.for_each(|(own, others)| *own += others);
        let pairs = self.warm_by_script.iter_mut().zip(&other.warm_by_script);
        pairs.for_each(|(own, others)| *own += others);
        self.wall = self.wall.max(other.wall);
        if let (Some(own), Some(others)) = (&mut self.busy, other.busy) {
            own.count += others.count;
            own.wait_ns += others.wait_ns;
        }
        self
    }
}
