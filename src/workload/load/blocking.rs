//! The driver for engines whose sessions wait for their answers: a thread a client.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Mode;
use super::alarm::Alarm;
use super::catalogue::Catalogue;
use super::client::{Client, Common, Now, Step};
use super::driver::Manner;
use super::tally::Tally;
use super::turnstile::Turnstile;
use crate::engine::{Address, BusyWaits, Session, SqlError, StatementId, Table, connect};
use crate::error::{Error, Result, bail};

/// The alarm is looked at that often at least.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// MySQL's word for a statement that cannot be prepared: it is sent as text.
const NOT_PREPARABLE: &str = "1295";

struct Link {
    session: Box<dyn Session>,
    /// By the statement's number; `None`: sent as text.
    prepared: Vec<Option<StatementId>>,
}

/// One client on its thread.
pub(super) struct Driver<'a> {
    client: Client,
    pub tally: Tally,
    addresses: &'a [Address],
    catalogue: &'a Catalogue,
    manner: Manner,
    links: Vec<Option<Link>>,
    ended: Option<Instant>,
}

impl<'a> Driver<'a> {
    /// Connects the client to its databases, and prepares its statements there.
    ///
    /// # Errors
    /// The engine's words.
    pub fn open(
        (client, tally): (Client, Tally),
        addresses: &'a [Address],
        catalogue: &'a Catalogue,
        manner: Manner,
    ) -> Result<Self> {
        let slots = client.databases().len();
        let mut driver = Driver {
            client,
            tally,
            addresses,
            catalogue,
            manner,
            links: (0..slots).map(|_| None).collect(),
            ended: None,
        };
        for slot in 0..if manner.reconnect { 0 } else { slots } {
            driver.connect(slot).map_err(Error::new)?;
        }
        Ok(driver)
    }

    fn connect(&mut self, slot: usize) -> Result<(), SqlError> {
        self.links[slot] = None;
        let database = self.client.databases()[slot] as usize;
        let mut session = connect(&self.addresses[database])?;
        session.enter_load(self.manner.alone && !self.manner.reconnect);
        let mut prepared = Vec::new();
        if self.manner.mode == Mode::Prepared {
            for statement in self.catalogue.statements() {
                prepared.push(match session.prepare(&statement.text) {
                    Ok(id) => Some(id),
                    Err(error) if error.code == NOT_PREPARABLE => None,
                    Err(error) => return Err(error),
                });
            }
        }
        self.links[slot] = Some(Link { session, prepared });
        Ok(())
    }

    /// When it had its last answer.
    pub fn ended(&self) -> Option<Instant> {
        self.ended
    }

    /// Waits for locks so far; `None` where that is the server's affair.
    pub fn busy_waits(&self) -> Option<BusyWaits> {
        self.links.iter().flatten().next()?.session.busy_waits()
    }

    /// Runs the client through `period`.
    ///
    /// # Errors
    /// The first statement that fails for good.
    pub fn drive(&mut self, common: Common<'_>) -> Result<()> {
        let alarm = common.alarm;
        let mut now = Now::new(common.turnstile);
        self.client.enter(common.period);
        loop {
            let step = self.client.step(common, &mut self.tally, &mut now)?;
            let slot = self.client.slot();
            let answer = match step {
                Step::Send => self.send(slot),
                Step::Rollback => match &mut self.links[slot] {
                    Some(link) => link.session.rollback().map(|()| Vec::new()),
                    None => Ok(Vec::new()),
                },
                Step::Connect => self.connect(slot).map(|()| Vec::new()),
                Step::Wait(until) => {
                    wait(until, common.turnstile, alarm);
                    if alarm.is_raised() {
                        return Ok(());
                    }
                    now.forget();
                    continue;
                }
                Step::Rest => {
                    let under_way = usize::from(self.client.is_under_way());
                    common.turnstile.rest(under_way);
                    now.forget();
                    continue;
                }
                Step::Done => {
                    self.ended = Some(now.get());
                    return Ok(());
                }
                Step::OpenPipeline | Step::SyncPipeline | Step::ClosePipeline => {
                    bail!("this engine has no pipelines; they are PostgreSQL's");
                }
            };
            now.forget();
            self.client
                .answered(answer, (&mut self.tally, common.pulse), &mut now)?;
        }
    }

    #[inline]
    fn send(&mut self, slot: usize) -> Result<Vec<Table>, SqlError> {
        let player = &mut self.client.player;
        let Some(link) = &mut self.links[slot] else {
            return Ok(Vec::new());
        };
        let id = link.prepared.get(player.statement()).copied().flatten();
        match (id, player.wants_rows()) {
            (Some(id), false) => {
                let session = &mut link.session;
                player.with_params(|params| session.fetch_prepared(id, params))?;
                Ok(Vec::new())
            }
            (Some(id), true) => {
                let session = &mut link.session;
                let table = player.with_params(|params| session.table_prepared(id, params))?;
                Ok(vec![table])
            }
            (None, true) => Ok(vec![link.session.table(player.simple_text())?]),
            (None, false) => {
                link.session.execute(player.simple_text())?;
                Ok(Vec::new())
            }
        }
    }
}

fn wait(until: Instant, turnstile: &Turnstile, alarm: &Alarm) {
    loop {
        let left = until.saturating_duration_since(turnstile.now());
        if left.is_zero() || alarm.is_raised() {
            return;
        }
        sleep(left.min(LONGEST_WAIT));
    }
}
