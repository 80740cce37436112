//! A blocking unix socket with one reused input buffer: what the sessions of servers
//! stand on. One call of [`Wire::send`] is one system call, and an answer that fits the
//! buffer and has arrived is one more.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt::socket_peercred;

use super::{Meaning, SqlError};
use crate::host;

/// Enough for the answer to a simple statement; long answers make it grow.
const FIRST_BYTES: usize = 16 << 10;
/// Reads get no larger than this, unless one message is.
const MOST_BYTES: usize = 256 << 10;

/// The connection.
pub(super) struct Wire {
    stream: UnixStream,
    input: Vec<u8>,
    start: usize,
    end: usize,
    polls: bool,
}

/// Whether to wait in the receive itself, rather than by a poll before it, costs a client
/// less.
///
/// A thread that waits in a receive on a unix socket is woken twice: by the answer, and
/// before that when the peer takes the request from its queue, for there is room again. Where
/// peer and client share a CPU, or others wait for one, each such wake is two switches for
/// nothing (a fifth of the client's CPU). Where there is a CPU for each, it only keeps the
/// client's awake, and saves the system call. `alone`: no other connection is busy.
pub(super) fn may_wait_in_receive(socket: impl AsFd, alone: bool) -> bool {
    alone
        && socket_peercred(socket)
            .is_ok_and(|peer| host::have_two_cpus(peer.pid.as_raw_nonzero().get()))
}

impl Wire {
    /// Connects to the socket at `path`.
    pub fn connect(path: &Path) -> io::Result<Self> {
        Ok(Wire {
            stream: UnixStream::connect(path)?,
            input: vec![0; FIRST_BYTES],
            start: 0,
            end: 0,
            polls: false,
        })
    }

    /// Before a load: chooses how to wait. `alone`: no other connection is busy.
    pub fn choose_wait(&mut self, alone: bool) {
        self.polls = !may_wait_in_receive(&self.stream, alone);
    }

    /// Bounds every wait for an answer, but those by poll; `None`: for ever.
    pub fn limit(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(limit)
    }

    /// Sends all of `bytes`.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// What has arrived and was not taken yet.
    #[inline]
    pub fn arrived(&self) -> &[u8] {
        &self.input[self.start..self.end]
    }

    /// Waits until `count` bytes have arrived.
    #[inline]
    pub fn await_bytes(&mut self, count: usize) -> io::Result<()> {
        while self.end - self.start < count {
            self.read(count)?;
        }
        Ok(())
    }

    /// Takes `count` bytes that have arrived.
    #[inline]
    pub fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start += count;
        &self.input[from..self.start]
    }

    fn read(&mut self, wanted: usize) -> io::Result<()> {
        if self.start > 0 {
            self.input.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if wanted > self.input.len() {
            self.input.resize(wanted.next_power_of_two(), 0);
        }
        let room = self.input.len() - self.end;
        if self.polls {
            let mut fds = [PollFd::new(&self.stream, PollFlags::IN)];
            // A signal is no harm: the receive waits for the rest.
            let _ = poll(&mut fds, None);
        }
        let count = loop {
            match self.stream.read(&mut self.input[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if count == 0 {
            return Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                "the server closed the connection",
            ));
        }
        self.end += count;
        if count == room && self.input.len() < MOST_BYTES {
            self.input.resize(self.input.len() * 2, 0);
        }
        Ok(())
    }
}

/// A connection that failed as the error of a statement.
#[cold]
pub(super) fn lost(error: io::Error) -> SqlError {
    SqlError {
        code: String::new(),
        message: format!("the connection to the server is lost: {error}"),
        meaning: Meaning::Disconnected,
    }
}

/// An answer that the protocol does not allow; the connection cannot go on.
#[cold]
pub(super) fn out_of_step(what: &str) -> SqlError {
    SqlError {
        code: String::new(),
        message: format!("the server's answer cannot be read: {what}"),
        meaning: Meaning::Disconnected,
    }
}
