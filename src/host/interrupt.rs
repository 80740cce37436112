//! Ctrl-C and its like: a flag that is looked at between steps, so that every step ends
//! in order and what was made is undone.

use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::error::{Context, Error, Result};

static RECEIVED: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: libc::c_int) {
    RECEIVED.store(signal, Ordering::Relaxed);
}

/// A signal asked the run to end.
#[derive(Debug)]
pub struct Interrupted(Signal);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted by {}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// Makes SIGINT, SIGTERM and SIGHUP set the flag. System calls are not restarted, so
/// that waits end at once.
///
/// # Errors
/// When a handler cannot be installed.
pub fn install() -> Result<()> {
    let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { sigaction(signal, &action) }
            .with_context(|| format!("cannot install a handler for {signal}"))?;
    }
    Ok(())
}

/// Fails once a signal has come.
///
/// # Errors
/// [`Interrupted`].
pub fn check() -> Result<()> {
    match Signal::try_from(RECEIVED.load(Ordering::Relaxed)) {
        Ok(signal) => Err(Error::new(Interrupted(signal))),
        Err(_) => Ok(()),
    }
}
