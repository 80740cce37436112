//! A connection that waits only where it is told to: for load drivers that serve many
//! connections from one thread. What is queued goes out with [`PgLink::flush`]; of what comes
//! in only message headers are looked at until the server is ready again, unless rows are
//! asked for.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::{backend, frontend};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::SOCKET;
use super::session::{HEADER_BYTES, last_word, next_field, put_int, server_error, unsendable};
use crate::engine::wire::{lost, may_wait_in_receive, out_of_step};
use crate::engine::{Param, SqlError, Table};

/// One connection.
pub struct PgLink {
    stream: UnixStream,
    out: BytesMut,
    /// The part of a message whose rest has not arrived.
    partial: Vec<u8>,
    /// How many times the server is still to say that it is ready.
    owed: u32,
    failure: Option<SqlError>,
    keep_rows: bool,
    results: Vec<Table>,
    /// A result of which rows may still come.
    open: Table,
}

/// Everything that was asked has been answered.
#[derive(Debug, Default)]
pub struct Answer {
    /// The first error among the answers.
    pub failure: Option<SqlError>,
    /// The results, where rows were to be kept: one a statement, in order.
    pub results: Vec<Table>,
}

impl Answer {
    /// The results, unless something failed.
    ///
    /// # Errors
    /// The server's.
    #[inline]
    pub fn into_results(self) -> Result<Vec<Table>, SqlError> {
        match self.failure {
            None => Ok(self.results),
            Some(error) => Err(error),
        }
    }
}

/// Of a receive.
const WAIT: RecvFlags = RecvFlags::empty();
const NO_WAIT: RecvFlags = RecvFlags::DONTWAIT;

impl PgLink {
    /// Connects through the socket in `dir` and queues what a session begins with; the
    /// server's answer is still to be received.
    ///
    /// # Errors
    /// When the socket cannot be reached.
    pub fn connect(dir: &Path, user: &str, database: &str) -> io::Result<Self> {
        let stream = UnixStream::connect(dir.join(SOCKET))?;
        let mut link = PgLink {
            stream,
            out: BytesMut::with_capacity(1024),
            partial: Vec::new(),
            owed: 1,
            failure: None,
            keep_rows: false,
            results: Vec::new(),
            open: Table::default(),
        };
        let parameters = [
            ("user", user),
            ("database", database),
            ("application_name", "mountmark"),
        ];
        frontend::startup_message(parameters, &mut link.out)?;
        Ok(link)
    }

    /// Whether [`wait`](Self::wait) costs less than to be told of an answer, where no other
    /// connection is busy at the same time.
    pub fn may_wait(&self) -> bool {
        may_wait_in_receive(&self.stream, true)
    }

    /// Whether the rows of what is queued next are wanted.
    pub fn keep_rows(&mut self, keep: bool) {
        self.keep_rows = keep;
    }

    /// Queues literal text in the simple protocol.
    ///
    /// # Errors
    /// A text that cannot be sent (a zero byte in it).
    #[inline]
    pub fn queue_simple(&mut self, sql: &str) -> Result<(), SqlError> {
        self.owed += 1;
        frontend::query(sql, &mut self.out).map_err(unsendable)
    }

    /// Queues the preparing of `sql` (with `$1`, `$2`, …) under `name`; without a sync.
    ///
    /// # Errors
    /// As [`queue_simple`](Self::queue_simple).
    #[inline]
    pub fn queue_parse(&mut self, name: &str, sql: &str) -> Result<(), SqlError> {
        frontend::parse(name, sql, [], &mut self.out).map_err(unsendable)
    }

    /// Queues one execution of the statement `name`, values as texts; without a sync.
    ///
    /// # Errors
    /// As [`queue_simple`](Self::queue_simple).
    #[inline]
    pub fn queue_execute<'p>(
        &mut self,
        name: &str,
        params: impl IntoIterator<Item = Param<'p>>,
    ) -> Result<(), SqlError> {
        frontend::bind("", name, [], params, put_param, [], &mut self.out).map_err(|error| {
            match error {
                frontend::BindError::Conversion(error) => unsendable(io::Error::other(error)),
                frontend::BindError::Serialization(error) => unsendable(error),
            }
        })?;
        if self.keep_rows {
            // Asks for the columns' names.
            frontend::describe(b'P', "", &mut self.out).map_err(unsendable)?;
        }
        frontend::execute("", 0, &mut self.out).map_err(unsendable)
    }

    /// Queues a sync: the server is to say that it is ready.
    #[inline]
    pub fn queue_sync(&mut self) {
        self.owed += 1;
        frontend::sync(&mut self.out);
    }

    /// Sends what is queued, as far as the socket takes it; false when some is left, to
    /// be sent when the socket can be written again.
    ///
    /// # Errors
    /// When the connection is lost.
    #[inline]
    pub fn flush(&mut self) -> Result<bool, SqlError> {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.send(sent) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let _gone = self.out.split_to(sent);
                    return Ok(false);
                }
                Err(error) => return Err(lost(error.into())),
            }
        }
        self.out.clear();
        Ok(true)
    }

    #[inline]
    fn send(&self, from: usize) -> Result<usize, Errno> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        send(&self.stream, &self.out[from..], flags)
    }

    /// Takes what has arrived, by way of `buffer`, which any number of links may share.
    /// `None` while something is still to come.
    ///
    /// # Errors
    /// When the connection is lost, or the server says what the protocol does not allow.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Answer>, SqlError> {
        loop {
            let Some(count) = self.read(buffer, NO_WAIT)? else {
                return Ok(None);
            };
            let answer = self.take_all(&buffer[..count])?;
            if answer.is_some() || count < buffer.len() {
                return Ok(answer);
            }
        }
    }

    /// Waits for the whole answer, by way of `buffer`, without a time limit. One system call
    /// where it comes in one piece.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    #[inline]
    pub fn wait(&mut self, buffer: &mut [u8]) -> Result<Answer, SqlError> {
        loop {
            if let Some(count) = self.read(buffer, WAIT)?
                && let Some(answer) = self.take_all(&buffer[..count])?
            {
                return Ok(answer);
            }
        }
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8], flags: RecvFlags) -> Result<Option<usize>, SqlError> {
        loop {
            match recv(&self.stream, &mut *buffer, flags) {
                Ok((0, _)) => return Err(self.closed()),
                Ok((count, _)) => return Ok(Some(count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(last_word(self.failure.take(), error.into())),
            }
        }
    }

    #[inline]
    fn take_all(&mut self, bytes: &[u8]) -> Result<Option<Answer>, SqlError> {
        // What comes unasked, a notice, answers nothing.
        let asked = self.owed > 0;
        self.take(bytes)?;
        Ok((asked && self.owed == 0).then(|| Answer {
            failure: self.failure.take(),
            results: std::mem::take(&mut self.results),
        }))
    }

    #[inline]
    fn take(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        if self.partial.is_empty() {
            let used = self.scan(bytes)?;
            self.partial.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        let mut partial = std::mem::take(&mut self.partial);
        partial.extend_from_slice(bytes);
        let used = self.scan(&partial)?;
        partial.drain(..used);
        self.partial = partial;
        Ok(())
    }

    /// Walks over whole messages; the number of bytes they have.
    #[inline]
    fn scan(&mut self, bytes: &[u8]) -> Result<usize, SqlError> {
        let mut at = 0;
        while let Some(&[tag, a, b, c, d]) = bytes[at..].first_chunk::<HEADER_BYTES>() {
            let length = u32::from_be_bytes([a, b, c, d]) as usize + 1;
            let Some(message) = bytes[at..].get(..length) else {
                break;
            };
            match tag {
                backend::READY_FOR_QUERY_TAG => {
                    self.owed = self
                        .owed
                        .checked_sub(1)
                        .ok_or_else(|| out_of_step("it is ready although nothing was asked"))?;
                }
                _ if self.keep_rows && self.keep(tag, message) => {}
                backend::ERROR_RESPONSE_TAG => {
                    self.failure.get_or_insert_with(|| server_error(message));
                }
                backend::AUTHENTICATION_TAG if message.get(5..9) != Some(&[0; 4]) => {
                    return Err(out_of_step("it asks for a password"));
                }
                backend::COPY_IN_RESPONSE_TAG => {
                    return Err(out_of_step("it waits for data to copy"));
                }
                _ => {}
            }
            at += length;
        }
        Ok(at)
    }

    /// What makes up a result; true when the message was a part of one.
    fn keep(&mut self, tag: u8, message: &[u8]) -> bool {
        match tag {
            backend::ROW_DESCRIPTION_TAG => self.open.columns = column_names(message),
            backend::DATA_ROW_TAG => self.open.rows.push(texts(message)),
            backend::COMMAND_COMPLETE_TAG | backend::EMPTY_QUERY_RESPONSE_TAG => {
                self.results.push(std::mem::take(&mut self.open));
            }
            _ => return false,
        }
        true
    }

    #[cold]
    fn closed(&mut self) -> SqlError {
        let end = io::Error::new(ErrorKind::UnexpectedEof, "the server closed the connection");
        last_word(self.failure.take(), end)
    }
}

impl AsFd for PgLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Drop for PgLink {
    fn drop(&mut self) {
        self.out.clear();
        frontend::terminate(&mut self.out);
        // The server may have gone already; nothing is owed then.
        let _ = self.send(0);
    }
}

/// The text form of a value.
#[inline]
pub(super) fn put_param(
    param: Param<'_>,
    out: &mut BytesMut,
) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
    match param {
        Param::Int(value) => put_int(value, out),
        Param::Float(value) => {
            use std::fmt::Write;
            // Writing to a BytesMut cannot fail but for lack of memory.
            let _ = write!(out, "{value:?}");
        }
        Param::Text(text) => out.extend_from_slice(text.as_bytes()),
        Param::Null => return Ok(IsNull::Yes),
    }
    Ok(IsNull::No)
}

/// From a RowDescription: a name ended by a zero, then 18 bytes on its type, each.
fn column_names(message: &[u8]) -> Vec<String> {
    let mut rest = message.get(HEADER_BYTES + 2..).unwrap_or_default();
    let mut names = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        rest = rest.get(end + 1 + 18..).unwrap_or_default();
    }
    names
}

fn texts(message: &[u8]) -> Vec<Option<String>> {
    let mut body = message.get(HEADER_BYTES + 2..).unwrap_or_default();
    let mut row = Vec::new();
    while let Some(field) = next_field(&mut body) {
        row.push(field.map(|f| String::from_utf8_lossy(f).into_owned()));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn link() -> (PgLink, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let link = PgLink {
            stream: ours,
            out: BytesMut::new(),
            partial: Vec::new(),
            owed: 1,
            failure: None,
            keep_rows: true,
            results: Vec::new(),
            open: Table::default(),
        };
        (link, theirs)
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    proptest! {
        /// However the answer is cut, the same is read from it.
        #[test]
        fn an_answer_in_pieces_is_one_answer(
            cuts in proptest::collection::vec(1usize..9, 0..30),
            room in 1usize..64,
        ) {
            let mut bytes = message(b'2', &[]);
            let mut columns = b"\0\x02one\0".to_vec();
            columns.extend([0; 18]);
            columns.extend(*b"two\0");
            columns.extend([0; 18]);
            bytes.extend(message(b'T', &columns));
            bytes.extend(message(b'D', &[0, 2, 0, 0, 0, 2, b'4', b'2', 255, 255, 255, 255]));
            bytes.extend(message(b'C', b"SELECT 1\0"));
            bytes.extend(message(b'E', b"SERROR\0C40001\0Mnot now\0\0"));
            bytes.extend(message(b'Z', b"E"));
            let (mut link, mut theirs) = link();
            let mut buffer = vec![0; room];
            let mut rest = &bytes[..];
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len() - 1));
                theirs.write_all(piece).unwrap();
                prop_assert!(link.receive(&mut buffer).unwrap().is_none());
                rest = after;
            }
            theirs.write_all(rest).unwrap();
            let answer = link.receive(&mut buffer).unwrap().unwrap();
            let table = &answer.results[0];
            prop_assert_eq!(&table.columns, &["one", "two"]);
            prop_assert_eq!(&table.rows, &[vec![Some("42".to_string()), None]]);
            let failure = answer.failure.unwrap();
            prop_assert_eq!(failure.code, "40001");
            prop_assert_eq!(failure.meaning, crate::engine::Meaning::Retry);
        }
    }

    #[test]
    fn a_server_that_goes_is_told_with_its_last_word() {
        let (mut link, mut theirs) = link();
        let mut buffer = [0; 512];
        theirs
            .write_all(&message(b'E', b"SFATAL\0C57P01\0Mterminating\0\0"))
            .unwrap();
        assert!(link.receive(&mut buffer).unwrap().is_none());
        drop(theirs);
        let error = link.wait(&mut buffer).unwrap_err();
        assert_eq!(error.meaning, crate::engine::Meaning::Disconnected);
        assert!(error.message.contains("terminating"), "{error}");
    }

    #[test]
    fn what_was_not_asked_for_is_out_of_step() {
        let (mut link, mut theirs) = link();
        theirs.write_all(&message(b'Z', b"I")).unwrap();
        theirs.write_all(&message(b'Z', b"I")).unwrap();
        assert!(link.receive(&mut [0; 512]).is_err());
    }
}
