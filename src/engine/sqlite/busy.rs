//! Waiting for the lock of a database file, as SQLite's own busy handler does, and
//! counted: one connection writes at a time.

use std::cell::Cell;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::engine::BusyWaits;

/// After this a lock is given up, and the statement answers SQLITE_BUSY.
const LIMIT: Duration = Duration::from_secs(60);

/// SQLite's own steps, ms; the last is repeated.
const STEPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

thread_local! {
    static WAITS: Cell<BusyWaits> = const { Cell::new(BusyWaits { count: 0, wait_ns: 0 }) };
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
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
    sleep(Duration::from_millis(STEPS_MS[step]));
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
