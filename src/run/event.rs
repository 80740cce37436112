//! What the run tells those who watch it.

use std::cell::RefCell;
use std::path::PathBuf;

use super::Stage;
use crate::plan::CaseKey;
use crate::record::CaseRecord;
use crate::workload;

/// Told between steps, never inside a measured window.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// Cases times rounds.
        measurements: usize,
        /// Where results are stored.
        dir: PathBuf,
    },
    /// Another round was found necessary.
    RoundAdded {
        /// Its cases.
        measurements: usize,
    },
    /// Something a user should know.
    Note(String),
    /// The image is being written.
    Image {
        /// Bytes written so far.
        written: u64,
        /// Its size.
        size: u64,
    },
    /// A case begins.
    CaseStarted {
        /// Which.
        case: &'a CaseKey,
        /// Its short name.
        name: String,
        /// In which round, counted from 0.
        round: u32,
        /// The how-manieth measurement of the run, counted from 0.
        position: usize,
    },
    /// A case enters a stage.
    Entered(Stage),
    /// The worker tells something.
    Workload {
        /// What.
        event: &'a workload::Event,
        /// In a duet, the short name of the case.
        side: Option<&'a str>,
    },
    /// A case has ended and is stored.
    CaseFinished {
        /// Its short name.
        name: String,
        /// As stored.
        record: &'a CaseRecord,
    },
}

/// Hands events to an observer, for several who tell.
pub(super) struct Watcher<'a>(RefCell<&'a mut dyn Observer>);

/// Takes events without being borrowed for it.
pub(super) trait Tell {
    fn tell(&self, event: &Event<'_>);
}

impl<'a> Watcher<'a> {
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Watcher(RefCell::new(observer))
    }
}

impl Tell for Watcher<'_> {
    fn tell(&self, event: &Event<'_>) {
        self.0.borrow_mut().tell(event);
    }
}

/// Somebody who watches.
pub trait Observer {
    /// Takes one event; must be quick and cannot fail.
    fn tell(&mut self, event: &Event<'_>);
}
