//! The threads that carry a load, and the moments they have in common: all connected,
//! warm-up, released together into the measured period, ended.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::catalogue::Catalogue;
use super::client::{Client, Common, Rules};
use super::databases::Cell;
use super::driver::{Driver, Manner, places, threads};
use super::pace::Schedule;
use super::period::{Amount, Period};
use super::tally::{Beat, Pulse, Tally};
use super::turnstile::{LONGEST_DRAIN, Pauses, State, Turnstile};
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
    turnstile: Turnstile,
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
    /// What the turns took in the measured period.
    pub pauses: Pauses,
}

/// What the main thread does at the common moments. All calls are outside the windows of
/// the clients but [`sample`](Watcher::sample), which is beside them.
pub(super) trait Watcher {
    /// Comes to a period, in a duet beside the other case: until how much own time in it
    /// the turn is ours; `None` alone. A slice is to be `least` or longer.
    fn arrive(&mut self, least: Duration) -> Option<Duration>;
    /// Everybody is connected and warm, nobody works; `start` follows at once.
    fn before(&mut self) -> Result<()>;
    /// In a duet, nothing being under way after so much own time in the period and so
    /// many transactions: lets the other case play. As [`arrive`](Watcher::arrive).
    fn pause(&mut self, own: Duration, committed: u64, least: Duration) -> Option<Duration>;
    /// Beside the measured period: the sums so far, and when to be called next.
    fn sample(&mut self, elapsed: Duration, beat: Beat) -> Result<Duration>;
    /// The last client has had its last answer; all connections are open still.
    fn returned(&mut self) -> Result<()>;
    /// The clients' connections are closed.
    fn closed(&mut self) -> Result<()>;
}

impl<'a> Crew<'a> {
    /// Before the threads are started.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn new(
        (options, cell): (&'a Options, Cell),
        catalogue: &'a Catalogue,
        addresses: &'a [Address],
        rules: Rules,
    ) -> Result<Self> {
        let threads = threads(options, cell, addresses);
        Ok(Crew {
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
            alarm: Alarm::new()?,
            pulses: (0..threads).map(|_| Pulse::default()).collect(),
            turnstile: Turnstile::new(),
            barrier: Barrier::new(threads + 1),
        })
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
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads())
                .map(|index| {
                    thread::Builder::new()
                        .name(format!("load-{index}"))
                        .stack_size(512 << 10)
                        .spawn_scoped(scope, move || self.work(index))
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
            let mut outcome = outcome.context("no client did anything")?;
            outcome.pauses = self.turnstile.pauses();
            Ok(outcome)
        })
    }

    /// The main thread's part. Whatever fails, the clients are taken through all moments.
    fn lead(&self, watcher: &mut dyn Watcher) -> Result<()> {
        self.barrier.wait();
        self.release(&self.warmup, watcher, |_| Ok(()));
        self.attend(&self.warmup, watcher, None);
        self.barrier.wait();
        // The warm-up is in the pulses too.
        let base = Pulse::beat(&self.pulses);
        self.release(&self.measured, watcher, |watcher| watcher.before());
        self.attend(&self.measured, watcher, Some(base));
        let watch = !self.alarm.is_raised();
        let returned = if watch { watcher.returned() } else { Ok(()) };
        self.barrier.wait();
        self.barrier.wait();
        returned?;
        if watch { watcher.closed() } else { Ok(()) }
    }

    /// Lets the clients into `period`; after an alarm only to find it over.
    fn release(
        &self,
        period: &Period,
        watcher: &mut dyn Watcher,
        before: impl FnOnce(&mut dyn Watcher) -> Result<()>,
    ) {
        let mut until = None;
        if !self.alarm.is_raised() {
            until = watcher.arrive(least_slice(Pulse::beat(&self.pulses)));
            if let Err(error) = before(watcher) {
                self.alarm.raise(error);
            }
        }
        let start = period.begin_at(self.turnstile.now());
        let until = until.map(|until| start + until);
        self.turnstile.begin(self.threads(), until);
        self.barrier.wait();
    }

    /// Stays beside the clients until they are done with `period`: passes the turns of a
    /// duet, and takes samples where the pulses count from `base`.
    fn attend(&self, period: &Period, watcher: &mut dyn Watcher, base: Option<Beat>) {
        let start = period.begin();
        let beat = || Pulse::beat(&self.pulses).since(base.unwrap_or_default());
        let mut next = match base {
            None => Duration::MAX,
            Some(_) => Duration::ZERO,
        };
        loop {
            match self.turnstile.state() {
                State::Over => return,
                State::AtRest { since, under_way } => {
                    let until = self.pass_turn((since, start), under_way, beat(), watcher);
                    self.turnstile.reopen(until);
                    continue;
                }
                State::Playing => {
                    if self.turnstile.give_up_drain() {
                        // Clients may rest on a thread that waits for others of its.
                        self.alarm.ring();
                    }
                }
            }
            let elapsed = self.turnstile.now() - start;
            if elapsed >= next {
                next = watcher.sample(elapsed, beat()).unwrap_or_else(|error| {
                    self.alarm.raise(error);
                    Duration::MAX
                });
            }
            let elapsed = self.turnstile.now() - start;
            thread::park_timeout(next.saturating_sub(elapsed).min(LONGEST_DRAIN));
        }
    }

    /// Lets the other case of a duet play, and comes back with the end of the next slice.
    fn pass_turn(
        &self,
        (since, start): (Instant, Instant),
        under_way: usize,
        beat: Beat,
        watcher: &mut dyn Watcher,
    ) -> Option<Instant> {
        if under_way > 0 {
            self.alarm.raise(Error::msg(format!(
                "the case rests with {under_way} transactions under way: this is a bug"
            )));
        }
        if self.alarm.is_raised() {
            return None;
        }
        let until = watcher.pause(since - start, beat.committed, least_slice(beat));
        until.map(|until| start + until)
    }

    /// A client thread: `None` when it failed.
    fn work(&self, index: usize) -> Option<Outcome> {
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
        self.turnstile.done();
        self.barrier.wait();
        let warm = driver.as_mut().map(|d| d.take_tally(&self.rules));
        self.barrier.wait();
        let waits = driver.as_ref().and_then(Driver::busy_waits);
        self.drive(&mut driver, &self.measured, index);
        self.turnstile.done();
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
                pauses: Pauses::default(),
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
            turnstile: &self.turnstile,
        };
        if let Some(driver) = driver
            && !self.alarm.is_raised()
            && let Err(error) = driver.drive(common)
        {
            self.alarm.raise(error);
        }
        if self.alarm.is_raised() {
            // Closes the connections: others may wait for locks that they hold.
            *driver = None;
        }
    }

    fn open(&self, index: usize) -> Result<Driver<'_>> {
        let manner = Manner {
            mode: self.options.mode,
            reconnect: self.options.reconnect,
            alone: self.cell.clients == 1,
        };
        let threads = self.threads();
        let own = (index as u32..self.cell.clients).step_by(threads);
        let mut clients: Vec<Client> = own.map(|client| self.client(client)).collect();
        let tally = Tally::new(self.rules.shape);
        match places(self.addresses) {
            Some(places) => {
                let driver = epoll::Driver::open(
                    (clients, tally),
                    places,
                    self.catalogue,
                    manner,
                    &self.alarm,
                )?;
                Ok(Driver::Epoll(Box::new(driver)))
            }
            None => {
                let client = clients.pop().context("a thread without a client")?;
                let addresses = self.addresses;
                let driver =
                    blocking::Driver::open((client, tally), addresses, self.catalogue, manner)?;
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

/// A slice lasts for this many transactions of one client at least: else the waiting for
/// the last ones to end would be most of it.
const LEAST_TRANSACTIONS: u32 = 10;
/// But no longer than this, for their sake.
const LONGEST_SLICE: Duration = Duration::from_secs(1);

/// The least that a slice should be, judging by the transactions of `beat`.
fn least_slice(beat: Beat) -> Duration {
    let mean = Duration::from_micros(beat.latency_us / beat.committed.max(1));
    (mean * LEAST_TRANSACTIONS).min(LONGEST_SLICE)
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
