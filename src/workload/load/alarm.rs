//! The first failure, and how it reaches threads that wait for their servers.
//!
//! A thread waits for its server without a time limit: a timer that is set and taken back
//! with every statement costs a client on a virtual machine some 7 % of its CPU. So an alarm
//! must wake it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::net::{Shutdown, shutdown};

use crate::error::{Context, Error, Result};

/// The first failure, which stops every client.
pub(super) struct Alarm {
    raised: AtomicBool,
    told: Mutex<Told>,
    /// Readable once the alarm is raised, and whenever it is [rung](Alarm::ring).
    bell: OwnedFd,
}

#[derive(Default)]
struct Told {
    first: Option<Error>,
    /// Of threads that wait in a receive.
    sockets: Vec<OwnedFd>,
}

impl Alarm {
    /// Not raised.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn new() -> Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .context("cannot make an eventfd")?;
        Ok(Alarm {
            raised: AtomicBool::new(false),
            told: Mutex::default(),
            bell,
        })
    }

    #[inline]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Stops every client, because of `error` if it is the first.
    #[cold]
    pub fn raise(&self, error: Error) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.first.get_or_insert(error);
        self.raised.store(true, Ordering::Relaxed);
        for socket in &told.sockets {
            // The server may have gone already.
            let _ = shutdown(socket, Shutdown::Both);
        }
        self.ring();
    }

    /// Wakes the threads that listen to the [bell](Alarm::bell).
    #[cold]
    pub fn ring(&self) {
        // It can only be full of rings.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// To be listened to edge by edge: it is never emptied.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Has the connection of `socket` (held open until the load is over) shut when the alarm is raised, so that a thread that
    /// waits in a receive goes on.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn shuts(&self, socket: BorrowedFd<'_>) -> Result<()> {
        let socket = socket
            .try_clone_to_owned()
            .context("cannot keep a second hold of a connection")?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_raised() {
            let _ = shutdown(&socket, Shutdown::Both);
        }
        told.sockets.push(socket);
        Ok(())
    }

    /// The failure, once.
    pub fn take(&self) -> Option<Error> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.first.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::thread;

    #[test]
    fn a_thread_that_waits_in_a_receive_is_woken() {
        let alarm = Alarm::new().unwrap();
        let (mut before, _peer) = UnixStream::pair().unwrap();
        let (mut after, _other) = UnixStream::pair().unwrap();
        alarm.shuts(before.as_fd()).unwrap();
        thread::scope(|scope| {
            let reader = scope.spawn(move || before.read(&mut [0; 8]));
            alarm.raise(Error::msg("the first"));
            assert_eq!(reader.join().unwrap().unwrap(), 0);
        });
        // One that comes too late is shut at once.
        alarm.shuts(after.as_fd()).unwrap();
        assert_eq!(after.read(&mut [0; 8]).unwrap(), 0);
        alarm.raise(Error::msg("the second"));
        assert!(alarm.take().unwrap().to_string().contains("the first"));
    }
}
