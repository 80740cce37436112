//! One client between its script and its connections: what it does next, and what that
//! counts as. Sends nothing itself: a driver asks it for the next [`Step`], takes it, and
//! brings back the answer.
//!
//! The latency of a transaction is from the moment the client was free for it (with a
//! schedule: from when it was due) to the answer to its last statement. Inside are every
//! statement, the script's own computations and sleeps, all tries of a transaction that
//! had to be repeated and, with a new connection a transaction, the connecting.

use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::pace::Schedule;
use super::period::Period;
use super::player::{Move, Player};
use super::tally::{Pulse, Shape, Tally};
use super::turnstile::Turnstile;
use crate::engine::{Meaning, SqlError, Table};
use crate::error::{Error, Result};

/// The case's own time, read when it is first needed.
pub(super) struct Now<'t> {
    turnstile: &'t Turnstile,
    read: Option<Instant>,
}

impl<'t> Now<'t> {
    pub fn new(turnstile: &'t Turnstile) -> Self {
        Now {
            turnstile,
            read: None,
        }
    }

    #[inline]
    pub fn get(&mut self) -> Instant {
        *self.read.get_or_insert_with(|| self.turnstile.now())
    }

    #[inline]
    pub fn forget(&mut self) {
        self.read = None;
    }
}

/// What a driver is to do for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Make the connection anew; answered.
    Connect,
    /// Send the player's statement; answered, unless a pipeline is open.
    Send,
    /// Statements are sent without waiting for their answers from here on.
    OpenPipeline,
    /// The server is to answer what was sent so far.
    SyncPipeline,
    /// As `SyncPipeline`; answered when all has been.
    ClosePipeline,
    /// Send a ROLLBACK; answered.
    Rollback,
    /// Nothing before that own time.
    Wait(Instant),
    /// Nothing until the turnstile opens again.
    Rest,
    /// Nothing any more in this period.
    Done,
}

enum State {
    Idle,
    Running,
    RollingBack,
}

/// What the clients of a thread share in a period.
#[derive(Clone, Copy)]
pub(super) struct Common<'c> {
    pub period: &'c Period,
    pub alarm: &'c Alarm,
    pub pulse: &'c Pulse,
    pub turnstile: &'c Turnstile,
}

/// What all clients of a load have in common.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub limit: Option<Duration>,
    pub reconnect: bool,
    pub max_tries: u32,
    pub shape: Shape,
}

/// One client.
pub(super) struct Client {
    pub player: Player,
    rules: Rules,
    schedule: Option<Schedule>,
    /// Databases of its connections, taken in turn.
    databases: Vec<u32>,
    turn: usize,
    state: State,
    /// A transaction that is due and has not begun.
    due: Option<Instant>,
    /// A transaction of the common amount that is this client's to do.
    claimed: bool,
    /// When the present transaction was due, or the client free for it.
    since: Instant,
    began: Instant,
    sent: Option<Instant>,
    tries: u32,
    connected: bool,
    /// Transactions that were due in this period.
    attempted: u64,
}

impl Client {
    pub fn new(
        player: Player,
        databases: Vec<u32>,
        schedule: Option<Schedule>,
        rules: Rules,
    ) -> Self {
        let now = Instant::now();
        Client {
            player,
            rules,
            schedule,
            databases,
            turn: 0,
            state: State::Idle,
            due: None,
            claimed: false,
            since: now,
            began: now,
            sent: None,
            tries: 0,
            connected: false,
            attempted: 0,
        }
    }

    /// Which of its connections the present transaction uses.
    #[inline]
    pub fn slot(&self) -> usize {
        self.turn
    }

    /// Databases of its connections.
    pub fn databases(&self) -> &[u32] {
        &self.databases
    }

    /// Enters a period that has begun.
    pub fn enter(&mut self, period: &Period) {
        if let Some(schedule) = &mut self.schedule {
            schedule.begin(period.begin());
        }
        self.due = None;
        self.claimed = false;
        self.attempted = 0;
    }

    /// Whether a transaction of its is under way.
    pub fn is_under_way(&self) -> bool {
        !matches!(self.state, State::Idle)
    }

    /// What is to be done next.
    ///
    /// # Errors
    /// A script that cannot go on; a statement that failed for good.
    #[inline]
    pub fn step(
        &mut self,
        common: Common<'_>,
        tally: &mut Tally,
        now: &mut Now<'_>,
    ) -> Result<Step> {
        loop {
            match self.state {
                State::Idle => {
                    if let Some(step) = self.begin(common, tally, now) {
                        return Ok(step);
                    }
                }
                State::RollingBack => return Ok(Step::Rollback),
                State::Running => {
                    if self.rules.reconnect && !self.connected {
                        tally.connects += 1;
                        return Ok(Step::Connect);
                    }
                    match self.player.next()? {
                        Move::Send => {
                            tally.statements += 1;
                            if self.rules.shape.timed_statements > 0 {
                                self.sent = Some(now.get());
                            }
                            return Ok(Step::Send);
                        }
                        Move::Sleep(time) => return Ok(Step::Wait(now.get() + time)),
                        Move::OpenPipeline => return Ok(Step::OpenPipeline),
                        Move::SyncPipeline => return Ok(Step::SyncPipeline),
                        Move::ClosePipeline => return Ok(Step::ClosePipeline),
                        Move::Finished => self.commit(common, tally, now.get()),
                    }
                }
            }
        }
    }

    /// Between two transactions, where nothing is under way on any of its connections:
    /// the one place where a client may be held up without being in anybody's way.
    /// `None`: a transaction has begun.
    #[inline]
    fn begin(&mut self, common: Common<'_>, tally: &mut Tally, now: &mut Now<'_>) -> Option<Step> {
        if common.alarm.is_raised() || self.is_over(common.period, now) {
            return Some(Step::Done);
        }
        self.since = now.get();
        if common.turnstile.is_closed(self.since) {
            return Some(Step::Rest);
        }
        if self.schedule.is_some() {
            match self.next_due(common, tally, now.get()) {
                Due::Now(due) => self.since = due,
                Due::Later(step) => return Some(step),
            }
        }
        self.began = now.get();
        self.claimed = false;
        self.attempted += 1;
        tally.attempted += 1;
        self.tries = 1;
        self.connected = false;
        self.turn = match self.turn + 1 {
            next if next < self.databases.len() => next,
            _ => 0,
        };
        self.player.begin();
        self.state = State::Running;
        None
    }

    #[inline]
    fn is_over(&mut self, period: &Period, now: &mut Now<'_>) -> bool {
        if period.amount.each.is_some_and(|n| self.attempted >= n) {
            return true;
        }
        if period.deadline().is_some_and(|end| now.get() >= end) {
            return true;
        }
        if !self.claimed {
            self.claimed = period.claim();
        }
        !self.claimed
    }

    /// With a schedule: whether a transaction is due, after those that can only be too
    /// late have been skipped.
    fn next_due(&mut self, common: Common<'_>, tally: &mut Tally, now: Instant) -> Due {
        let period = common.period;
        let Some(schedule) = &mut self.schedule else {
            return Due::Now(now);
        };
        loop {
            let due = self.due.take().unwrap_or_else(|| schedule.next(now));
            if period.deadline().is_some_and(|end| due >= end) {
                return Due::Later(Step::Done);
            }
            if due > now {
                self.due = Some(due);
                return Due::Later(Step::Wait(due));
            }
            if self.rules.limit.is_none_or(|limit| now - due <= limit) {
                return Due::Now(due);
            }
            self.attempted += 1;
            tally.attempted += 1;
            tally.skipped += 1;
            common.pulse.skip();
            if period.amount.each.is_some_and(|n| self.attempted >= n) {
                return Due::Later(Step::Done);
            }
        }
    }

    #[inline]
    fn commit(&mut self, common: Common<'_>, tally: &mut Tally, now: Instant) {
        let ns = (now - self.since).as_nanos() as u64;
        tally.committed += 1;
        tally.latency.record(ns);
        tally.by_database[self.databases[self.turn] as usize] += 1;
        tally.by_script[self.player.script()] += 1;
        if let (Some(lag), Some(service)) = (&mut tally.lag, &mut tally.service) {
            lag.record((self.began - self.since).as_nanos() as u64);
            service.record((now - self.began).as_nanos() as u64);
        }
        if self
            .rules
            .limit
            .is_some_and(|limit| now - self.since > limit)
        {
            tally.late += 1;
        }
        common.pulse.commit(ns);
        let elapsed = now.saturating_duration_since(common.period.begin());
        common.period.checkpoints.count(elapsed.as_nanos() as u64);
        self.state = State::Idle;
    }

    /// The answer to the last step.
    ///
    /// # Errors
    /// An error that no other try can mend, with the statement.
    #[inline]
    pub fn answered(
        &mut self,
        answer: Result<Vec<Table>, SqlError>,
        (tally, pulse): (&mut Tally, &Pulse),
        now: &mut Now<'_>,
    ) -> Result<()> {
        tally.round_trips += 1;
        if let Some(sent) = self.sent.take() {
            let ns = (now.get() - sent).as_nanos() as u64;
            tally.statement_latency[self.player.statement()].record(ns);
        }
        match (&self.state, answer) {
            (State::Running, Ok(results)) => {
                if !self.connected && self.rules.reconnect {
                    self.connected = true;
                    return Ok(());
                }
                match self.player.wants_rows() {
                    true => self.player.received(&results),
                    false => Ok(()),
                }
            }
            (State::Running, Err(error)) if self.may_try_again(error.meaning) => {
                *tally.errors.entry(error.code).or_default() += 1;
                self.state = State::RollingBack;
                Ok(())
            }
            // SQLite says that there is nothing to roll back where it has done so itself.
            (State::RollingBack, answer) if !matches!(&answer, Err(e) if e.meaning == Meaning::Disconnected) =>
            {
                self.try_again(tally, pulse);
                Ok(())
            }
            (_, Err(error)) => Err(self.failed(error)),
            (_, Ok(_)) => Ok(()),
        }
    }

    #[cold]
    fn try_again(&mut self, tally: &mut Tally, pulse: &Pulse) {
        if self.tries == 1 && self.rules.max_tries > 1 {
            tally.retried += 1;
            pulse.retry();
        }
        if self.tries < self.rules.max_tries {
            self.tries += 1;
            tally.retries += 1;
            self.state = State::Running;
            self.player.retry();
            return;
        }
        tally.failed += 1;
        pulse.fail();
        // The transaction is still owed to the common amount.
        self.claimed = true;
        self.state = State::Idle;
    }

    #[cold]
    fn may_try_again(&self, meaning: Meaning) -> bool {
        match meaning {
            Meaning::Retry => true,
            Meaning::Duplicate => self.player.retries_duplicates(),
            _ => false,
        }
    }

    #[cold]
    fn failed(&self, error: SqlError) -> Error {
        let text = self.player.statement_text();
        Error::new(error).context(format!("statement failed: {text}"))
    }
}

enum Due {
    Now(Instant),
    Later(Step),
}

#[cfg(test)]
mod cost;
