//! What the run tells those who watch it.

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
        /// In which round, counted from 0.
        round: u32,
        /// The how-manieth measurement of the run, counted from 0.
        position: usize,
    },
    /// A case enters a stage.
    Entered(Stage),
    /// The worker tells something.
    Workload(&'a workload::Event),
    /// A case has ended and is stored.
    CaseFinished(&'a CaseRecord),
}

/// Somebody who watches.
pub trait Observer {
    /// Takes one event; must be quick and cannot fail.
    fn tell(&mut self, event: &Event<'_>);
}
