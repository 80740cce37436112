//! Which driver an engine has, and what the drivers have in common.

use std::thread;
use std::time::Instant;

use super::client::{Common, Rules};
use super::databases::Cell;
use super::tally::Tally;
use super::{Mode, Options, blocking, epoll};
use crate::engine::{Address, BusyWaits};
use crate::error::Result;

/// One thread a client, but where one can serve many.
pub(super) fn threads(options: &Options, cell: Cell, addresses: &[Address]) -> usize {
    let most = match (places(addresses), options.threads) {
        (None, _) => usize::MAX,
        (Some(_), 0) => thread::available_parallelism().map_or(1, usize::from),
        (Some(_), asked) => asked as usize,
    };
    most.min(cell.clients as usize).max(1)
}

/// Where PostgreSQL's databases are; `None` for other engines.
pub(super) fn places(addresses: &[Address]) -> Option<epoll::Places> {
    let databases = addresses.iter().map(|address| match address {
        Address::Postgres { database, .. } => Some(database.clone()),
        _ => None,
    });
    let databases = databases.collect::<Option<Vec<_>>>()?;
    match addresses.first()? {
        Address::Postgres { dir, user, .. } => Some(epoll::Places {
            dir: dir.clone(),
            user: user.clone(),
            databases,
        }),
        _ => None,
    }
}

/// How clients use their connections.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub mode: Mode,
    /// A new connection for every transaction.
    pub reconnect: bool,
    /// There is one client in all.
    pub alone: bool,
}

/// The clients of one thread with what moves their bytes.
pub(super) enum Driver<'a> {
    Epoll(Box<epoll::Driver<'a>>),
    Blocking(Box<blocking::Driver<'a>>),
}

impl Driver<'_> {
    /// Takes the clients through a period.
    ///
    /// # Errors
    /// The first statement that fails for good.
    pub fn drive(&mut self, common: Common<'_>) -> Result<()> {
        match self {
            Driver::Epoll(driver) => driver.drive(common),
            Driver::Blocking(driver) => driver.drive(common),
        }
    }

    /// What the clients have counted since they were last asked.
    pub fn take_tally(&mut self, rules: &Rules) -> Tally {
        let tally = match self {
            Driver::Epoll(driver) => &mut driver.tally,
            Driver::Blocking(driver) => &mut driver.tally,
        };
        std::mem::replace(tally, Tally::new(rules.shape))
    }

    /// When the last client had its last answer.
    pub fn ended(&self) -> Option<Instant> {
        match self {
            Driver::Epoll(driver) => driver.ended(),
            Driver::Blocking(driver) => driver.ended(),
        }
    }

    /// Waits for locks so far; `None` where that is the server's affair.
    pub fn busy_waits(&self) -> Option<BusyWaits> {
        match self {
            Driver::Epoll(_) => None,
            Driver::Blocking(driver) => driver.busy_waits(),
        }
    }
}
