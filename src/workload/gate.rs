//! The gate between two statements: open for a case that plays alone; in a duet, where
//! the turn goes to the other case when a slice is over.
//!
//! The two workers share one page of memory. Only the one whose turn it is runs; the
//! other sleeps in the kernel. They go operation by operation, in step: whoever comes
//! first to the next operation waits there until the other has finished the one before.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::error::{Context, Result};

/// What a worker is told about its duet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duet {
    /// The file that both map; its first [`BOARD_BYTES`] are zero at the start.
    pub board: PathBuf,
    /// Which of the two this worker is: 0 or 1.
    pub side: usize,
    /// The side that has the first turn of the first operation; then they alternate.
    pub first: usize,
    /// Length of a slice, ns.
    pub slice_ns: u64,
}

/// Length of the file that the two share.
pub const BOARD_BYTES: u64 = 4096;

/// What the two share. All zero at the start: the turn is side 0's, and neither has
/// begun.
#[repr(C)]
struct Board {
    /// Whose turn it is.
    turn: AtomicU32,
    /// The operation each has come to, counted from 1.
    step: [AtomicU32; 2],
    /// 1 when a side has left for good.
    left: [AtomicU32; 2],
    /// When the turn was last given away, ns of the monotonic clock.
    given_ns: AtomicU64,
    /// Own time of each in the present operation, ns, where it is made known.
    own_ns: [AtomicU64; 2],
}

/// The measured loop passes it between two statements, outside the latency of either.
#[derive(Default)]
pub enum Gate {
    /// Nothing to wait for.
    #[default]
    Open,
    /// In a duet.
    Turns(Turns),
}

impl Gate {
    /// For a worker of a duet, or alone.
    ///
    /// # Errors
    /// When the shared page cannot be mapped.
    pub fn new(duet: Option<&Duet>) -> Result<Self> {
        duet.map_or(Ok(Gate::Open), |duet| Ok(Gate::Turns(Turns::open(duet)?)))
    }

    /// True when the turn must be given away before the next statement.
    #[inline]
    pub fn is_over(&self, now: Instant) -> bool {
        match self {
            Gate::Open => false,
            Gate::Turns(turns) => turns.is_over(now),
        }
    }

    /// Gives the turn away and waits for its return; how long that took.
    pub fn pause(&mut self) -> Duration {
        self.waited(Turns::give_and_wait)
    }

    /// Waits for the very first turn.
    pub fn enter(&mut self) -> Duration {
        self.waited(Turns::wait)
    }

    /// Comes to the next operation: waits until the other has come there too and, when
    /// the first turn is the other's, until its slice is over.
    pub fn arrive(&mut self) -> Duration {
        self.waited(Turns::arrive)
    }

    /// Makes known for how long this side has played in the present operation, before
    /// the turn is given away.
    pub fn note_own(&self, own: Duration) {
        if let Gate::Turns(turns) = self {
            turns.board.own_ns[turns.side].store(own.as_nanos() as u64, Ordering::Release);
        }
    }

    /// Until how much own time in the present operation the turn is this side's, where
    /// both are to have the same time: half a slice more than the other has had, but
    /// for half a slice at least, and two at most: one that stalled is waited for over
    /// several turns. A slice is `least` or longer. `None` where the other has no use for a turn.
    pub fn lead(&self, least: Duration) -> Option<Duration> {
        match self {
            Gate::Turns(turns) if turns.in_step() => Some(turns.lead(least)),
            _ => None,
        }
    }

    /// Leaves the other alone for good.
    pub fn leave(&mut self) {
        if let Gate::Turns(turns) = self {
            turns.leave();
        }
    }

    /// Turns received so far, and the time from the giving of each to the running of
    /// the receiver, ns.
    pub fn cost(&self) -> (u64, u64) {
        match self {
            Gate::Open => (0, 0),
            Gate::Turns(turns) => (turns.received, turns.passing_ns),
        }
    }

    fn waited(&mut self, wait: fn(&mut Turns)) -> Duration {
        match self {
            Gate::Open => Duration::ZERO,
            Gate::Turns(turns) => {
                let start = Instant::now();
                wait(turns);
                turns.since = Instant::now();
                turns.since - start
            }
        }
    }
}

/// One side of a duet.
pub struct Turns {
    board: &'static Board,
    side: usize,
    first: usize,
    slice: Duration,
    since: Instant,
    received: u64,
    passing_ns: u64,
}

impl Turns {
    fn open(duet: &Duet) -> Result<Self> {
        Ok(Turns {
            board: map(&duet.board)
                .with_context(|| format!("cannot share {}", duet.board.display()))?,
            side: duet.side,
            first: duet.first,
            slice: Duration::from_nanos(duet.slice_ns),
            since: Instant::now(),
            received: 0,
            passing_ns: 0,
        })
    }

    fn other(&self) -> usize {
        1 - self.side
    }

    fn other_left(&self) -> bool {
        self.board.left[self.other()].load(Ordering::Acquire) == 1
    }

    /// Whether the other is in the same operation, and can use a turn.
    fn in_step(&self) -> bool {
        let step = |side: usize| self.board.step[side].load(Ordering::Acquire);
        step(self.side) == step(self.other()) && !self.other_left()
    }

    #[inline]
    fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.since) >= self.slice && self.in_step()
    }

    fn lead(&self, least: Duration) -> Duration {
        let time =
            |side: usize| Duration::from_nanos(self.board.own_ns[side].load(Ordering::Acquire));
        let (own, other) = (time(self.side), time(self.other()));
        let slice = self.slice.max(least);
        let length = (other + slice / 2).saturating_sub(own);
        own + length.clamp(slice / 2, 2 * slice)
    }

    fn arrive(&mut self) {
        self.board.own_ns[self.side].store(0, Ordering::Release);
        let step = self.board.step[self.side].load(Ordering::Relaxed) + 1;
        self.board.step[self.side].store(step, Ordering::Release);
        let behind =
            |t: &Self| t.board.step[t.other()].load(Ordering::Acquire) < step && !t.other_left();
        if behind(self) {
            // The turn comes back when the other is here too, sooner or later as the
            // first turn is ours or not.
            while behind(self) {
                self.give_and_wait();
            }
            return;
        }
        let first = (self.first + step as usize - 1) % 2;
        if first != self.side && self.in_step() {
            self.give_and_wait();
        }
    }

    fn leave(&mut self) {
        self.board.left[self.side].store(1, Ordering::Release);
        self.give();
    }

    fn give_and_wait(&mut self) {
        if self.other_left() {
            return;
        }
        self.give();
        self.wait();
    }

    fn give(&self) {
        self.board.given_ns.store(now_ns(), Ordering::Relaxed);
        self.board
            .turn
            .store(self.other() as u32, Ordering::Release);
        // Nobody waiting is fine.
        let _woken = futex::wake(&self.board.turn, futex::Flags::empty(), 1);
    }

    fn wait(&mut self) {
        let other = self.other() as u32;
        while self.board.turn.load(Ordering::Acquire) == other {
            match futex::wait(&self.board.turn, futex::Flags::empty(), other, None) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                // Anything else would spin; the orchestrator ends a worker that hangs.
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        let given = self.board.given_ns.load(Ordering::Relaxed);
        if given > 0 {
            self.received += 1;
            self.passing_ns += now_ns().saturating_sub(given);
        }
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn map(path: &Path) -> Result<&'static Board> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // SAFETY: a fresh shared mapping of a file of BOARD_BYTES; nothing else lies there.
    let page = unsafe {
        mmap(
            std::ptr::null_mut(),
            BOARD_BYTES as usize,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            &file,
            0,
        )?
    };
    // SAFETY: the mapping is page-aligned, larger than a Board, never unmapped, and all
    // fields are atomics, for which any bytes are valid.
    Ok(unsafe { &*page.cast::<Board>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Two threads as the two sides; each notes what it does in a common log.
    fn play(first: usize, work: [Vec<u32>; 2], slice: Duration) -> Vec<(usize, usize)> {
        let board = tempfile::NamedTempFile::new().unwrap();
        board.as_file().set_len(BOARD_BYTES).unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let busy = Arc::new(AtomicU32::new(0));
        let players: Vec<_> = work
            .into_iter()
            .enumerate()
            .map(|(side, operations)| {
                let duet = Duet {
                    board: board.path().to_path_buf(),
                    side,
                    first,
                    slice_ns: slice.as_nanos() as u64,
                };
                let (log, busy) = (log.clone(), busy.clone());
                std::thread::spawn(move || {
                    let mut gate = Gate::new(Some(&duet)).unwrap();
                    gate.enter();
                    for (number, statements) in operations.into_iter().enumerate() {
                        gate.arrive();
                        for _ in 0..statements {
                            if gate.is_over(Instant::now()) {
                                gate.pause();
                            }
                            assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0, "both ran");
                            log.lock().unwrap().push((side, number));
                            std::thread::sleep(Duration::from_micros(50));
                            busy.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                    gate.leave();
                })
            })
            .collect();
        players.into_iter().for_each(|p| p.join().unwrap());
        Arc::try_unwrap(log).unwrap().into_inner().unwrap()
    }

    #[test]
    fn sides_take_turns_and_go_operation_by_operation() {
        let log = play(0, [vec![20, 5, 20], vec![20, 25, 1]], Duration::ZERO);
        assert_eq!(log.len(), 91);
        // Never two operations at a time.
        let operations: Vec<usize> = log.iter().map(|(_, number)| *number).collect();
        assert!(operations.is_sorted(), "{operations:?}");
        // With slices of one statement they alternate while both have work.
        let first: Vec<usize> = log.iter().take(40).map(|(side, _)| *side).collect();
        assert!(first.windows(2).all(|w| w[0] != w[1]), "{first:?}");
    }

    #[test]
    fn the_first_turn_alternates() {
        for first in [0, 1] {
            let log = play(first, [vec![3; 4], vec![3; 4]], Duration::from_secs(1));
            for number in 0..4 {
                let begins = log.iter().find(|(_, n)| *n == number).unwrap().0;
                assert_eq!(begins, (first + number) % 2, "operation {number}: {log:?}");
            }
        }
    }

    #[test]
    fn one_that_has_left_does_not_hold_up_the_other() {
        let log = play(0, [vec![2], vec![2, 3, 4]], Duration::ZERO);
        assert_eq!(log.len(), 11);
    }

    #[test]
    fn both_are_to_have_the_same_time() {
        let board = tempfile::NamedTempFile::new().unwrap();
        board.as_file().set_len(BOARD_BYTES).unwrap();
        let sides = [0, 1].map(|side| {
            Gate::new(Some(&Duet {
                board: board.path().to_path_buf(),
                side,
                first: 0,
                slice_ns: 4_000_000,
            }))
            .unwrap()
        });
        let [a, b] = &sides;
        let ms = Duration::from_millis;
        let lead = |gate: &Gate| gate.lead(Duration::ZERO).unwrap();
        assert_eq!((lead(a), lead(b)), (ms(2), ms(2)));
        a.note_own(ms(3));
        assert_eq!(lead(b), ms(5));
        b.note_own(ms(5));
        // A slice each from now on.
        assert_eq!(lead(a), ms(7));
        // One that stalls is given time to be caught up with, bit by bit.
        a.note_own(ms(100));
        assert_eq!(lead(b), ms(13));
        b.note_own(ms(13));
        assert_eq!(lead(a), ms(102));
        // Long transactions ask for long slices.
        assert_eq!(a.lead(ms(10)), Some(ms(105)));
        assert_eq!(Gate::Open.lead(ms(1)), None);
    }

    #[test]
    fn alone_it_is_open() {
        let mut gate = Gate::new(None).unwrap();
        assert!(!gate.is_over(Instant::now()));
        assert_eq!(gate.arrive(), Duration::ZERO);
        assert_eq!(gate.cost(), (0, 0));
    }
}
