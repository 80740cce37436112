//! What a thread of many connections waits for, in one place: their sockets, the alarm's
//! bell, and a moment.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::alarm::Alarm;
use super::turnstile::Turnstile;
use crate::error::{Context, Result};

/// Not those of connections.
const BELL: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

/// Edge-triggered: an answer is taken whole, so that nothing is left that the kernel
/// would have to look at again.
pub(super) const INPUT: EventFlags = EventFlags::IN.union(EventFlags::ET);

/// A client of the thread and one of its connections.
pub(super) type Seat = (usize, usize);

/// What came.
pub(super) enum Arrival {
    /// The alarm's bell.
    Bell,
    /// The moment that was waited for.
    Time,
    Socket(Seat, EventFlags),
}

impl Arrival {
    #[inline]
    pub fn of(event: &epoll::Event) -> Self {
        match event.data.u64() {
            BELL => Arrival::Bell,
            TIMER => Arrival::Time,
            seat => {
                let seat = ((seat >> 32) as usize, (seat & 0xffff_ffff) as usize);
                Arrival::Socket(seat, event.flags)
            }
        }
    }
}

/// An epoll with what belongs to it. Waits have no time limit of their own: see the
/// [alarm](super::alarm).
pub(super) struct Wait {
    epoll: OwnedFd,
    /// Finer than an epoll_wait, which counts milliseconds.
    timer: OwnedFd,
    /// For when it is set, in own time.
    set_for: Option<Instant>,
}

impl Wait {
    /// Listens to `alarm`.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn new(alarm: &Alarm) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("cannot make an epoll")?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )
        .context("cannot make a timer")?;
        epoll::add(&epoll, alarm.bell(), EventData::new_u64(BELL), INPUT)
            .and_then(|()| epoll::add(&epoll, &timer, EventData::new_u64(TIMER), INPUT))
            .context("cannot listen to an alarm")?;
        Ok(Wait {
            epoll,
            timer,
            set_for: None,
        })
    }

    /// Listens to a connection.
    ///
    /// # Errors
    /// When there is no room in the kernel.
    pub fn add(&self, socket: impl AsFd, seat: Seat) -> Result<()> {
        epoll::add(&self.epoll, socket, data(seat), INPUT).context("cannot watch a connection")
    }

    /// Listens to a connection for other events.
    ///
    /// # Errors
    /// When it was never added.
    pub fn change(&self, socket: impl AsFd, seat: Seat, flags: EventFlags) -> Result<()> {
        epoll::modify(&self.epoll, socket, data(seat), flags).context("cannot watch a connection")
    }

    /// Waits until something arrives, into `events`, or, if there is such a moment of own
    /// time, `until`.
    ///
    /// # Errors
    /// The kernel's.
    #[inline]
    pub fn wait(
        &mut self,
        until: Option<Instant>,
        turnstile: &Turnstile,
        events: &mut Vec<epoll::Event>,
    ) -> Result<()> {
        if until != self.set_for {
            self.set(until, turnstile)?;
        }
        events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error).context("cannot wait for the server"),
        }
    }

    /// The moment that was waited for has come.
    pub fn came(&mut self) {
        self.set_for = None;
    }

    #[cold]
    fn set(&mut self, until: Option<Instant>, turnstile: &Turnstile) -> Result<()> {
        // Zero would be never.
        let left = until.map_or(Duration::ZERO, |until| {
            until
                .saturating_duration_since(turnstile.now())
                .max(Duration::from_nanos(1))
        });
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let times = Itimerspec {
            it_interval: zero,
            it_value: Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            },
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &times)
            .context("cannot set a timer")?;
        self.set_for = until;
        Ok(())
    }
}

fn data((index, slot): Seat) -> EventData {
    EventData::new_u64((index as u64) << 32 | slot as u64)
}
