//! Waiting for the lock of a database file, as SQLite's own busy handler does, and
//! counted: one connection writes at a time.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::BusyWaits;

/// After this a lock is given up, and the statement answers SQLITE_BUSY.
const LIMIT: Duration = Duration::from_secs(60);

/// The step of those who are [hurried](hurry): not much longer than a short transaction.
const SHORT_STEP: Duration = Duration::from_micros(100);

/// SQLite's own steps, ms; the last is repeated.
const STEPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

thread_local! {
    static WAITS: Cell<BusyWaits> = const { Cell::new(BusyWaits { count: 0, wait_ns: 0 }) };
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Whether waits are short in this process, and who sleeps in one.
static HURRIED: Mutex<bool> = Mutex::new(false);
static CALLED: Condvar = Condvar::new();

/// While `on`, everybody in this process who waits for a lock tries again at once, and then
/// in short steps: when all clients are to come to rest together, one that sleeps for
/// 100 ms would keep the others waiting.
pub fn hurry(on: bool) {
    *HURRIED.lock().unwrap_or_else(PoisonError::into_inner) = on;
    if on {
        CALLED.notify_all();
    }
}

/// Called by SQLite with the number of calls before for the same lock.
pub(super) fn wait(calls: i32) -> bool {
    let now = Instant::now();
    if calls == 0 {
        SINCE.set(Some(now));
    }
    if SINCE.get().is_some_and(|since| now - since > LIMIT) {
        return false;
    }
    let step = usize::try_from(calls).unwrap_or(0).min(STEPS_MS.len() - 1);
    let hurried = HURRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let time = match *hurried {
        true => SHORT_STEP,
        false => Duration::from_millis(STEPS_MS[step]),
    };
    drop(CALLED.wait_timeout(hurried, time));
    let mut waits = WAITS.get();
    waits.count += u64::from(calls == 0);
    waits.wait_ns += now.elapsed().as_nanos() as u64;
    WAITS.set(waits);
    true
}

/// Of the calling thread so far.
pub(super) fn waits() -> BusyWaits {
    WAITS.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_hurried_does_not_sleep_on() {
        let sleeper = std::thread::spawn(|| {
            // Such a wait takes 100 ms: a minute in all.
            let began = Instant::now();
            (0..600).for_each(|_| assert!(wait(11)));
            began.elapsed()
        });
        while !sleeper.is_finished() {
            hurry(true);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(sleeper.join().expect("no panic") < Duration::from_secs(30));
        hurry(false);
    }
}
