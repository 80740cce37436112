//! The driver for PostgreSQL: one thread serves many clients, each with its connections, by one
//! epoll loop.
//!
//! A statement costs one send, one receive and its share of an epoll_wait; a load of one
//! connection waits in the receive itself where it has a CPU of its own. Nothing is pipelined that the
//! script does not ask for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Instant;

use rustix::event::epoll::{Event, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};

use super::Mode;
use super::alarm::Alarm;
use super::catalogue::Catalogue;
use super::client::{Client, Common, Now, Step};
use super::driver::Manner;
use super::tally::{Pulse, Tally};
use super::wait::{Arrival, INPUT, Wait};
use crate::engine::postgres::{Answer, PgLink};
use crate::engine::{Meaning, SqlError};
use crate::error::{Context, Error, Result, bail};

/// Answers taken from one epoll_wait.
const EVENTS: usize = 128;
/// One receive takes at most this much; the kernel's socket buffer holds more.
const BUFFER_BYTES: usize = 64 << 10;

/// Where the databases are.
pub(super) struct Places {
    pub dir: PathBuf,
    pub user: String,
    pub databases: Vec<String>,
}

struct Seat {
    client: Client,
    links: Vec<Option<PgLink>>,
    /// A pipeline is open: statements are not answered one by one.
    piped: bool,
    ended: Option<Instant>,
}

/// The clients of one thread.
pub(super) struct Driver<'a> {
    places: Places,
    catalogue: &'a Catalogue,
    mode: Mode,
    wait: Wait,
    /// There is one connection in all, and a CPU for it: it is not listened to, but waited
    /// for.
    lone: bool,
    seats: Vec<Seat>,
    /// One for all clients of the thread: histograms apart would be looked for in memory
    /// at each transaction.
    pub tally: Tally,
    /// In own time.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Clients that rest.
    resting: Vec<usize>,
    buffer: Vec<u8>,
}

impl<'a> Driver<'a> {
    /// Connects every client to its databases, and prepares its statements there.
    ///
    /// # Errors
    /// The server's words.
    pub fn open(
        (clients, tally): (Vec<Client>, Tally),
        places: Places,
        catalogue: &'a Catalogue,
        manner: Manner,
        alarm: &Alarm,
    ) -> Result<Self> {
        let one = manner.alone && clients.iter().all(|client| client.databases().len() == 1);
        let mut driver = Driver {
            places,
            catalogue,
            mode: manner.mode,
            wait: Wait::new(alarm)?,
            lone: one && !manner.reconnect,
            seats: Vec::with_capacity(clients.len()),
            tally,
            timers: BinaryHeap::new(),
            resting: Vec::with_capacity(clients.len()),
            buffer: vec![0; BUFFER_BYTES],
        };
        for client in clients {
            let slots = client.databases().len();
            driver.seats.push(Seat {
                client,
                links: (0..slots).map(|_| None).collect(),
                piped: false,
                ended: None,
            });
            for slot in 0..if manner.reconnect { 0 } else { slots } {
                driver.connect_and_wait(driver.seats.len() - 1, slot)?;
            }
        }
        if driver.lone {
            let link = driver.seats[0].links[0].as_ref();
            let link = link.context("the connection is not there")?;
            if link.may_wait() {
                alarm.shuts(link.as_fd())?;
            } else {
                driver.wait.add(link, (0, 0))?;
                driver.lone = false;
            }
        }
        Ok(driver)
    }

    fn connect_and_wait(&mut self, seat: usize, slot: usize) -> Result<()> {
        self.connect(seat, slot)?;
        let link = self.seats[seat].links[slot].as_mut();
        let link = link.context("the connection is not there")?;
        push(link, &mut self.buffer)?;
        let answer = link.wait(&mut self.buffer).map_err(Error::new)?;
        answer.into_results().map(drop).map_err(Error::new)
    }

    /// Begins a connection: what it starts with and, in the prepared mode, the statements.
    fn connect(&mut self, seat: usize, slot: usize) -> Result<()> {
        let links = &mut self.seats[seat].links;
        links[slot] = None;
        let database = self.seats[seat].client.databases()[slot];
        let name = &self.places.databases[database as usize];
        let mut link = PgLink::connect(&self.places.dir, &self.places.user, name)
            .map_err(|error| Error::new(unreachable(error)))?;
        if self.mode == Mode::Prepared {
            for (number, statement) in self.catalogue.statements().iter().enumerate() {
                link.queue_parse(&self.catalogue.names()[number], &statement.text)
                    .map_err(Error::new)?;
            }
            link.queue_sync();
        }
        if !self.lone {
            self.wait.add(&link, (seat, slot))?;
        }
        self.seats[seat].links[slot] = Some(link);
        Ok(())
    }

    /// When the last client had its last answer.
    pub fn ended(&self) -> Option<Instant> {
        self.seats.iter().filter_map(|seat| seat.ended).max()
    }

    /// Runs every client through `period`.
    ///
    /// # Errors
    /// The first statement that fails for good.
    pub fn drive(&mut self, common: Common<'_>) -> Result<()> {
        self.timers.clear();
        self.resting.clear();
        let mut active = self.seats.len();
        let mut now = Now::new(common.turnstile);
        for index in 0..self.seats.len() {
            self.seats[index].client.enter(common.period);
            now.forget();
            active -= usize::from(self.advance(index, common, &mut now)?);
        }
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        while active > 0 && !common.alarm.is_raised() {
            if self.resting.len() == active {
                active -= self.rest(common, &mut now)?;
                continue;
            }
            let until = self.timers.peek().map(|Reverse((time, _))| *time);
            if self.lone && until.is_none() {
                active -= usize::from(self.attend(common, &mut now)?);
                continue;
            }
            self.wait.wait(until, common.turnstile, &mut events)?;
            for event in &events {
                match Arrival::of(event) {
                    Arrival::Socket(seat, flags) => {
                        if self.ready(seat, flags, common.pulse, &mut now)? {
                            active -= usize::from(self.advance(seat.0, common, &mut now)?);
                        }
                    }
                    Arrival::Time => self.wait.came(),
                    Arrival::Bell => active -= self.wake(common, &mut now)?,
                }
            }
            while let Some(Reverse((time, index))) = self.timers.peek().copied()
                && time <= common.turnstile.now()
            {
                self.timers.pop();
                now.forget();
                active -= usize::from(self.advance(index, common, &mut now)?);
            }
        }
        Ok(())
    }

    /// Waits for the only connection's answer, and takes its client on; true when it is done
    /// with the period.
    #[inline]
    fn attend(&mut self, common: Common<'_>, now: &mut Now<'_>) -> Result<bool> {
        let seat = &mut self.seats[0];
        let Some(link) = &mut seat.links[0] else {
            bail!("the connection is not there");
        };
        let answer = link.wait(&mut self.buffer);
        let answer = answer.and_then(Answer::into_results);
        now.forget();
        seat.client
            .answered(answer, (&mut self.tally, common.pulse), now)?;
        self.advance(0, common, now)
    }

    /// All clients rest, until they may go on; how many find themselves done then.
    #[cold]
    fn rest(&mut self, common: Common<'_>, now: &mut Now<'_>) -> Result<usize> {
        let under_way = self.seats.iter().filter(|s| s.client.is_under_way());
        common.turnstile.rest(under_way.count());
        self.wake(common, now)
    }

    /// Lets the clients that rest see whether they may go on; how many find themselves done.
    #[cold]
    fn wake(&mut self, common: Common<'_>, now: &mut Now<'_>) -> Result<usize> {
        let mut done = 0;
        let mut rested = std::mem::take(&mut self.resting);
        for index in rested.drain(..) {
            now.forget();
            done += usize::from(self.advance(index, common, now)?);
        }
        // Keeps its memory.
        rested.append(&mut self.resting);
        self.resting = rested;
        Ok(done)
    }

    /// Takes what has arrived; true when the client's step has been answered.
    #[inline]
    fn ready(
        &mut self,
        (index, slot): (usize, usize),
        flags: EventFlags,
        pulse: &Pulse,
        now: &mut Now<'_>,
    ) -> Result<bool> {
        let seat = &mut self.seats[index];
        let Some(link) = &mut seat.links[slot] else {
            return Ok(false);
        };
        if flags.contains(EventFlags::OUT) && link.flush().map_err(Error::new)? {
            self.wait.change(&*link, (index, slot), INPUT)?;
        }
        let mut answer = link.receive(&mut self.buffer).transpose();
        if answer.is_none() && flags.intersects(EventFlags::HUP | EventFlags::ERR) {
            // Nothing else will be told of a connection that the server has closed.
            answer = Some(link.wait(&mut self.buffer));
        }
        let Some(answer) = answer else {
            return Ok(false);
        };
        let answer = answer.and_then(Answer::into_results);
        now.forget();
        seat.client
            .answered(answer, (&mut self.tally, pulse), now)?;
        Ok(true)
    }

    /// Takes a client on to where it must wait; true when it is done with the period.
    #[inline]
    fn advance(&mut self, index: usize, common: Common<'_>, now: &mut Now<'_>) -> Result<bool> {
        loop {
            let seat = &mut self.seats[index];
            let step = seat.client.step(common, &mut self.tally, now)?;
            let slot = seat.client.slot();
            match step {
                Step::Send => {
                    if self.send(index, slot)? {
                        return Ok(false);
                    }
                }
                Step::OpenPipeline if self.mode == Mode::Simple => {
                    bail!("a pipeline needs -M extended or -M prepared");
                }
                Step::OpenPipeline => seat.piped = true,
                Step::SyncPipeline => self.link(index, slot)?.queue_sync(),
                Step::ClosePipeline => {
                    seat.piped = false;
                    self.link(index, slot)?.queue_sync();
                    self.flush(index, slot)?;
                    return Ok(false);
                }
                Step::Rollback => {
                    let link = self.link(index, slot)?;
                    link.queue_simple("ROLLBACK").map_err(Error::new)?;
                    self.flush(index, slot)?;
                    return Ok(false);
                }
                Step::Connect => {
                    self.connect(index, slot)?;
                    self.flush(index, slot)?;
                    return Ok(false);
                }
                Step::Wait(until) => {
                    self.timers.push(Reverse((until, index)));
                    return Ok(false);
                }
                Step::Rest => {
                    self.resting.push(index);
                    return Ok(false);
                }
                Step::Done => {
                    seat.ended = Some(now.get());
                    return Ok(true);
                }
            }
        }
    }

    /// Sends the player's statement; false in a pipeline, where it is not waited for.
    #[inline]
    fn send(&mut self, index: usize, slot: usize) -> Result<bool> {
        let seat = &mut self.seats[index];
        let Some(link) = &mut seat.links[slot] else {
            bail!("the connection is not there");
        };
        link.keep_rows(seat.client.player.wants_rows());
        let number = seat.client.player.statement();
        let queued = match self.mode {
            Mode::Simple => link.queue_simple(seat.client.player.simple_text()),
            Mode::Extended => {
                let text = &self.catalogue.statements()[number].text;
                link.queue_parse("", text)
                    .and_then(|()| link.queue_execute("", seat.client.player.params()))
            }
            Mode::Prepared => {
                let name = &self.catalogue.names()[number];
                link.queue_execute(name, seat.client.player.params())
            }
        };
        queued.map_err(Error::new)?;
        if seat.piped {
            return Ok(false);
        }
        if self.mode != Mode::Simple {
            link.queue_sync();
        }
        self.flush(index, slot)?;
        Ok(true)
    }

    #[inline]
    fn flush(&mut self, index: usize, slot: usize) -> Result<()> {
        let Some(link) = &mut self.seats[index].links[slot] else {
            bail!("the connection is not there");
        };
        match link.flush() {
            Ok(true) => Ok(()),
            Ok(false) if self.lone => push(link, &mut self.buffer),
            Ok(false) => {
                let both = INPUT | EventFlags::OUT;
                self.wait.change(&*link, (index, slot), both)
            }
            // It is waited for anyway, and the reason read then.
            Err(error) if error.meaning == Meaning::Disconnected && self.lone => Ok(()),
            Err(error) if error.meaning == Meaning::Disconnected => {
                let reason = link.wait(&mut self.buffer).err();
                Err(Error::new(reason.unwrap_or(error)))
            }
            Err(error) => Err(Error::new(error)),
        }
    }

    fn link(&mut self, index: usize, slot: usize) -> Result<&mut PgLink> {
        self.seats[index].links[slot]
            .as_mut()
            .context("the connection is not there")
    }
}

/// Sends what the server does not take at once; it may want some of its answers taken first.
#[cold]
fn push(link: &mut PgLink, buffer: &mut [u8]) -> Result<()> {
    loop {
        match link.flush() {
            Ok(true) => return Ok(()),
            // The reason, if there is one, is still to be read.
            Err(error) if error.meaning == Meaning::Disconnected => return Ok(()),
            Err(error) => return Err(Error::new(error)),
            Ok(false) => {}
        }
        let mut fds = [PollFd::new(&*link, PollFlags::IN | PollFlags::OUT)];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("cannot wait for the server"),
        }
        // The answer to what has not been sent is still to come.
        link.receive(buffer).map_err(Error::new)?;
    }
}

#[cold]
fn unreachable(error: std::io::Error) -> SqlError {
    SqlError {
        code: String::new(),
        message: format!("cannot connect to the server: {error}"),
        meaning: Meaning::Disconnected,
    }
}
