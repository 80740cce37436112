//! What holds a load up in a duet, and its own time.
//!
//! The clients end a slice: one that comes to the end of a transaction when the slice is
//! over rests instead of beginning another. When nothing of the case is under way any
//! more (until then it *drains*), the thread that came to rest last wakes the main
//! thread, which gives the turn away, waits for its return and lets everybody go on.
//! Draining belongs to the case's own time, as its transactions are being served; rest
//! does not: the clock stands still.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::engine::sqlite;

/// A case that takes longer than this to come to rest goes on for as long: some
/// transaction may be waiting for one that rests.
pub(super) const LONGEST_DRAIN: Duration = Duration::from_secs(10);

/// Of `until_ns`: nobody is held up.
const OPEN: u64 = u64::MAX;

/// All clients of a case pass it between two transactions. Open for a case that plays
/// alone.
pub(super) struct Turnstile {
    origin: Instant,
    /// For how long the clock has stood still, ns.
    stood_ns: AtomicU64,
    /// Own time since `origin` from which on no transaction begins, ns.
    until_ns: AtomicU64,
    threads: Mutex<Threads>,
    reopened: Condvar,
    /// The thread that made it and attends to it.
    main: Thread,
}

/// The threads that carry the clients.
#[derive(Default)]
struct Threads {
    /// Not done with the period.
    playing: usize,
    resting: usize,
    /// How often they were let go on.
    reopenings: u64,
    /// Transactions under way on threads that rest: there must be none.
    under_way: usize,
    /// When the last one came to rest, while all of them do; own time.
    at_rest: Option<Instant>,
    pauses: Pauses,
}

/// What the turns of one period took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pauses {
    /// The clock stood still.
    pub stood: Duration,
    /// Own time from the ends of slices until nothing was under way.
    pub draining: Duration,
    /// Ends of slices at which the case did not come to rest in time.
    pub missed: u64,
}

/// What the threads are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Some have transactions under way or may begin one.
    Playing,
    /// All of them rest, since this moment of own time.
    AtRest {
        since: Instant,
        /// Transactions under way; other than zero, the turnstile is broken.
        under_way: usize,
    },
    /// All are done with the period.
    Over,
}

impl Turnstile {
    /// Open; the present thread will attend to it.
    pub fn new() -> Self {
        Turnstile {
            origin: Instant::now(),
            stood_ns: AtomicU64::new(0),
            until_ns: AtomicU64::new(OPEN),
            threads: Mutex::default(),
            reopened: Condvar::new(),
            main: thread::current(),
        }
    }

    /// Own time: the clock, less the time for which it stood still.
    #[inline]
    pub fn now(&self) -> Instant {
        // Changed only while everybody rests.
        Instant::now() - Duration::from_nanos(self.stood_ns.load(Ordering::Relaxed))
    }

    /// Whether a client must rest that would begin a transaction `now`.
    #[inline]
    pub fn is_closed(&self, now: Instant) -> bool {
        self.since_origin(now) >= self.until_ns.load(Ordering::Relaxed)
    }

    /// Begins a period of so many threads, before they are released; the end of the
    /// first slice, if slices end.
    pub fn begin(&self, threads: usize, until: Option<Instant>) {
        *self.lock() = Threads {
            playing: threads,
            ..Threads::default()
        };
        self.close_at(until);
    }

    /// A thread rests, none of its clients having anything to do: until all may go on.
    /// `under_way`: transactions of its clients that have begun and not ended.
    pub fn rest(&self, under_way: usize) {
        let mut threads = self.lock();
        if !self.is_closed(self.now()) {
            return;
        }
        if threads.resting == 0 {
            sqlite::hurry(true);
        }
        threads.resting += 1;
        threads.under_way += under_way;
        self.look(&mut threads);
        let before = threads.reopenings;
        while threads.reopenings == before {
            threads = self
                .reopened
                .wait(threads)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A thread is done with the period.
    pub fn done(&self) {
        let mut threads = self.lock();
        threads.playing -= 1;
        self.look(&mut threads);
        if threads.playing == 0 {
            self.main.unpark();
        }
    }

    /// What the threads are doing; for the main thread, which is woken when they have
    /// come to rest and when all are done.
    pub fn state(&self) -> State {
        let threads = self.lock();
        match threads.at_rest {
            _ if threads.playing == 0 => State::Over,
            Some(since) => State::AtRest {
                since,
                under_way: threads.under_way,
            },
            None => State::Playing,
        }
    }

    /// Lets everybody go on, after the turn came back: the clock goes on too.
    pub fn reopen(&self, until: Option<Instant>) {
        let mut threads = self.lock();
        let closed = self.until_ns.load(Ordering::Relaxed);
        if let Some(since) = threads.at_rest {
            let stood = self.now().saturating_duration_since(since);
            threads.pauses.stood += stood;
            let drained = self.since_origin(since).saturating_sub(closed);
            threads.pauses.draining += Duration::from_nanos(drained);
            self.stood_ns
                .fetch_add(stood.as_nanos() as u64, Ordering::Relaxed);
        }
        self.close_at(until);
        self.release(&mut threads);
    }

    /// Lets everybody go on when they have been coming to rest for too long, for as long
    /// again; whether it was so.
    pub fn give_up_drain(&self) -> bool {
        let now = self.now();
        let mut threads = self.lock();
        let patience = |d: Duration| now.checked_sub(d).is_some_and(|then| self.is_closed(then));
        if threads.at_rest.is_some() || !patience(LONGEST_DRAIN) {
            return false;
        }
        threads.pauses.missed += 1;
        self.close_at(Some(now + LONGEST_DRAIN));
        self.release(&mut threads);
        true
    }

    /// What the turns of the period took so far.
    pub fn pauses(&self) -> Pauses {
        self.lock().pauses
    }

    fn release(&self, threads: &mut Threads) {
        sqlite::hurry(false);
        threads.resting = 0;
        threads.under_way = 0;
        threads.at_rest = None;
        threads.reopenings += 1;
        self.reopened.notify_all();
    }

    /// Sees whether all that play have come to rest.
    fn look(&self, threads: &mut Threads) {
        if threads.playing > 0 && threads.resting == threads.playing && threads.at_rest.is_none() {
            threads.at_rest = Some(self.now());
            self.main.unpark();
        }
    }

    fn close_at(&self, until: Option<Instant>) {
        let until = until.map_or(OPEN, |until| self.since_origin(until));
        self.until_ns.store(until, Ordering::Relaxed);
    }

    fn since_origin(&self, time: Instant) -> u64 {
        time.saturating_duration_since(self.origin).as_nanos() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    const MS: Duration = Duration::from_millis(1);

    /// Attends to `turnstile` until all are done: rests of `rest`, slices of `slice`.
    fn attend(turnstile: &Turnstile, busy: &AtomicUsize, rest: Duration, slice: Duration) -> usize {
        let mut rests = 0;
        loop {
            match turnstile.state() {
                State::Over => return rests,
                State::AtRest { under_way, .. } => {
                    rests += 1;
                    assert_eq!(under_way, 0);
                    assert_eq!(busy.load(Ordering::SeqCst), 0, "somebody works");
                    thread::sleep(rest);
                    assert_eq!(busy.load(Ordering::SeqCst), 0, "somebody works");
                    turnstile.reopen(Some(turnstile.now() + slice));
                }
                State::Playing => thread::park_timeout(MS),
            }
        }
    }

    #[test]
    fn nobody_works_while_the_case_rests_and_own_time_stands_still() {
        let turnstile = Turnstile::new();
        let (busy, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let outer = Instant::now();
        let begin = turnstile.now();
        let inner = Instant::now();
        turnstile.begin(3, Some(begin + MS));
        let rests = thread::scope(|scope| {
            for thread in 1..=3 {
                let (turnstile, busy, done) = (&turnstile, &busy, &done);
                scope.spawn(move || {
                    // Some have less to do: those who are done hold nobody up.
                    for _ in 0..20 * thread {
                        while turnstile.is_closed(turnstile.now()) {
                            turnstile.rest(0);
                        }
                        busy.fetch_add(1, Ordering::SeqCst);
                        thread::sleep(MS / 4);
                        busy.fetch_sub(1, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                    turnstile.done();
                });
            }
            attend(&turnstile, &busy, 5 * MS, MS)
        });
        let inner = inner.elapsed();
        let own = turnstile.now() - begin;
        let outer = outer.elapsed();
        let pauses = turnstile.pauses();
        assert_eq!(done.load(Ordering::SeqCst), 120);
        assert!(rests > 0);
        assert!(pauses.stood >= 5 * MS * rests as u32, "{pauses:?}");
        assert!(inner - pauses.stood <= own && own <= outer - pauses.stood);
        assert!(pauses.draining > Duration::ZERO && pauses.missed == 0);
    }

    #[test]
    fn what_a_resting_thread_has_under_way_is_told() {
        let turnstile = Turnstile::new();
        turnstile.begin(2, Some(turnstile.now()));
        thread::scope(|scope| {
            for under_way in [0, 1] {
                let turnstile = &turnstile;
                scope.spawn(move || {
                    turnstile.rest(under_way);
                    turnstile.done();
                });
            }
            let under_way = loop {
                match turnstile.state() {
                    State::AtRest { under_way, .. } => break under_way,
                    _ => thread::park_timeout(MS),
                }
            };
            assert_eq!(under_way, 1);
            turnstile.reopen(None);
        });
        assert_eq!(turnstile.state(), State::Over);
    }

    #[test]
    fn alone_it_is_open() {
        let turnstile = Turnstile::new();
        turnstile.begin(1, None);
        assert!(!turnstile.is_closed(turnstile.now() + Duration::from_secs(1_000_000)));
        turnstile.rest(0);
        assert!(!turnstile.give_up_drain());
        assert_eq!(turnstile.pauses(), Pauses::default());
    }
}
