//! The driver for PostgreSQL: one thread serves many clients, each with its non-blocking
//! connections, by one epoll loop.
//!
//! A statement costs one send, one receive and its share of an epoll_wait. Nothing is
//! pipelined that the script does not ask for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};

use super::Mode;
use super::catalogue::Catalogue;
use super::client::{Client, Common, Now, Step};
use super::tally::{Pulse, Tally};
use super::turnstile::Turnstile;
use crate::engine::postgres::{Answer, PgLink};
use crate::engine::{Meaning, SqlError};
use crate::error::{Context, Error, Result, bail};

/// Answers taken from one epoll_wait.
const EVENTS: usize = 128;
/// One receive takes at most this much; the kernel's socket buffer holds more.
const BUFFER_BYTES: usize = 64 << 10;
/// The alarm is looked at that often at least.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// A server that has too many connections waiting is asked again after this.
const ASK_AGAIN: Duration = Duration::from_millis(1);

/// Edge-triggered: an answer is taken whole, so that nothing is left that the kernel
/// would have to look at again.
const INPUT: EventFlags = EventFlags::IN.union(EventFlags::ET);

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
    epoll: OwnedFd,
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
        mode: Mode,
        connect: bool,
    ) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("cannot make an epoll")?;
        let mut driver = Driver {
            places,
            catalogue,
            mode,
            epoll,
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
            for slot in 0..if connect { slots } else { 0 } {
                driver.connect_and_wait(driver.seats.len() - 1, slot)?;
            }
        }
        Ok(driver)
    }

    fn connect_and_wait(&mut self, seat: usize, slot: usize) -> Result<()> {
        while !self.connect(seat, slot).map_err(Error::new)? {
            std::thread::sleep(ASK_AGAIN);
        }
        let Some(link) = &mut self.seats[seat].links[slot] else {
            bail!("the connection is not there");
        };
        loop {
            use rustix::event::{PollFd, PollFlags, poll};
            let mut fds = [PollFd::new(&*link, PollFlags::IN)];
            poll(&mut fds, None).context("cannot wait for the server")?;
            let answer = link.receive(&mut self.buffer).map_err(Error::new)?;
            match answer {
                None => {}
                Some(Answer { failure: None, .. }) => return Ok(()),
                Some(Answer {
                    failure: Some(error),
                    ..
                }) => return Err(Error::new(error)),
            }
        }
    }

    /// Begins a connection: what it starts with and, in the prepared mode, the statements.
    /// False when the server cannot take it just now.
    fn connect(&mut self, seat: usize, slot: usize) -> Result<bool, SqlError> {
        let links = &mut self.seats[seat].links;
        links[slot] = None;
        let database = self.seats[seat].client.databases()[slot];
        let name = &self.places.databases[database as usize];
        let mut link = match PgLink::connect(&self.places.dir, &self.places.user, name) {
            Ok(link) => link,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(unreachable(error)),
        };
        if self.mode == Mode::Prepared {
            for (number, statement) in self.catalogue.statements().iter().enumerate() {
                link.queue_parse(&self.catalogue.names()[number], &statement.text)?;
            }
            link.queue_sync();
        }
        // A unix socket takes this much at once.
        link.flush()?;
        let data = EventData::new_u64((seat as u64) << 32 | slot as u64);
        epoll::add(&self.epoll, &link, data, INPUT).map_err(|error| unreachable(error.into()))?;
        self.seats[seat].links[slot] = Some(link);
        Ok(true)
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
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
        while active > 0 && !common.alarm.is_raised() {
            if self.resting.len() == active {
                active -= self.rest(common, &mut now)?;
                continue;
            }
            self.wait(&mut events, common.turnstile)?;
            for event in &events {
                let data = event.data.u64();
                let (index, slot) = ((data >> 32) as usize, (data & 0xffff_ffff) as usize);
                if !self.ready((index, slot), event.flags, common.pulse, &mut now)? {
                    continue;
                }
                active -= usize::from(self.advance(index, common, &mut now)?);
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

    /// All clients rest, until they may go on; how many find themselves done then.
    #[cold]
    fn rest(&mut self, common: Common<'_>, now: &mut Now<'_>) -> Result<usize> {
        let under_way = self.seats.iter().filter(|s| s.client.is_under_way());
        common.turnstile.rest(under_way.count());
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

    #[inline]
    fn wait(&mut self, events: &mut Vec<epoll::Event>, turnstile: &Turnstile) -> Result<()> {
        let until = match self.timers.peek() {
            None => LONGEST_WAIT,
            Some(Reverse((time, _))) => time
                .saturating_duration_since(turnstile.now())
                .min(LONGEST_WAIT),
        };
        let timeout = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: until.subsec_nanos().into(),
        };
        events.clear();
        match epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(events),
            Some(&timeout),
        ) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error).context("cannot wait for the server"),
        }
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
            listen(&self.epoll, link, (index, slot), INPUT)?;
        }
        let answer = match link.receive(&mut self.buffer) {
            Ok(None) => return Ok(false),
            Ok(Some(Answer { failure, results })) => match failure {
                None => Ok(results),
                Some(error) => Err(error),
            },
            Err(error) => Err(error),
        };
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
                    if self.reconnect(index, slot)? {
                        return Ok(false);
                    }
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

    fn reconnect(&mut self, index: usize, slot: usize) -> Result<bool> {
        while !self.connect(index, slot).map_err(Error::new)? {
            std::thread::sleep(ASK_AGAIN);
        }
        Ok(true)
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
            Ok(false) => {
                let both = INPUT | EventFlags::OUT;
                listen(&self.epoll, link, (index, slot), both)
            }
            // The reason, if there is one, is still to be read.
            Err(error) if error.meaning == Meaning::Disconnected => Ok(()),
            Err(error) => Err(Error::new(error)),
        }
    }

    fn link(&mut self, index: usize, slot: usize) -> Result<&mut PgLink> {
        self.seats[index].links[slot]
            .as_mut()
            .context("the connection is not there")
    }
}

fn listen(
    epoll: &OwnedFd,
    link: &PgLink,
    (index, slot): (usize, usize),
    flags: EventFlags,
) -> Result<()> {
    let data = EventData::new_u64((index as u64) << 32 | slot as u64);
    epoll::modify(epoll, link, data, flags).context("cannot watch a connection")
}

#[cold]
fn unreachable(error: std::io::Error) -> SqlError {
    SqlError {
        code: String::new(),
        message: format!("cannot connect to the server: {error}"),
        meaning: Meaning::Disconnected,
    }
}
