//! `LOAD DATA LOCAL INFILE`: the server asks for a file by its name, the client sends it.
//!
//! A server can ask for any file of the client's, at any time. Ours gets none: what is
//! sent is a text in memory, only while the statement that names it runs, and only when the
//! server asks for that name. Any other request closes the connection.

use super::protocol::{COM_QUERY, ERR, HEADER_BYTES, LOCAL_INFILE, OK, seal, take_length};
use super::session::{MySession, server_error};
use crate::engine::wire::out_of_step;
use crate::engine::{Meaning, SqlError};

/// Bytes of one packet, far below what servers take by default.
const PACKET: usize = 64 << 10;

impl MySession {
    /// Sends `sql`, a LOAD DATA LOCAL of the file `name`, and `content` as that file: a line
    /// a row. Returns the number of rows that the server says it has loaded.
    ///
    /// # Errors
    /// The server's words; a request for another file, of which nothing is sent.
    pub(super) fn load_local(
        &mut self,
        sql: &str,
        name: &str,
        content: &str,
    ) -> Result<u64, SqlError> {
        self.send(COM_QUERY, |out| out.extend_from_slice(sql.as_bytes()))?;
        let answer = self.packet()?;
        let asked = match answer {
            [LOCAL_INFILE, asked @ ..] => asked,
            [ERR, ..] => return Err(server_error(answer)),
            _ => return Err(out_of_step("it does not ask for the rows to load")),
        };
        if asked != name.as_bytes() {
            let asked = String::from_utf8_lossy(asked).into_owned();
            return Err(SqlError {
                code: String::new(),
                message: format!(
                    "the server asks for the file '{asked}' where '{name}' was offered; \
                     nothing was sent, and the connection is closed"
                ),
                meaning: Meaning::Disconnected,
            });
        }
        // The statement was packet 0, the request packet 1.
        let mut sequence = 2u8;
        for part in content.as_bytes().chunks(PACKET) {
            self.send_packet(part, sequence)?;
            sequence = sequence.wrapping_add(1);
        }
        // An empty one ends the file.
        self.send_packet(&[], sequence)?;
        let mut body = self.packet()?;
        match body.first() {
            Some(&OK) => {
                body = &body[1..];
                let rows = take_length(&mut body).ok_or_else(|| out_of_step("a short answer"))?;
                Ok(rows as u64)
            }
            Some(&ERR) => Err(server_error(body)),
            _ => Err(out_of_step("no answer to the rows loaded")),
        }
    }

    fn send_packet(&mut self, body: &[u8], sequence: u8) -> Result<(), SqlError> {
        self.out.clear();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        self.out.extend_from_slice(body);
        seal(&mut self.out, 0, sequence);
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::Path;
    use std::thread::{self, JoinHandle};

    use super::*;
    use crate::engine::Session;
    use crate::sql::Dialect;

    fn say(to: &mut UnixStream, sequence: u8, body: &[u8]) {
        let mut packet = vec![0; HEADER_BYTES];
        packet.extend_from_slice(body);
        seal(&mut packet, 0, sequence);
        to.write_all(&packet).unwrap();
    }

    fn hear(from: &mut UnixStream) -> (u8, Vec<u8>) {
        let mut head = [0; HEADER_BYTES];
        from.read_exact(&mut head).unwrap();
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        let mut body = vec![0; length];
        from.read_exact(&mut body).unwrap();
        (head[3], body)
    }

    /// A server that asks for `file` whatever it is sent; gives all that it gets then.
    fn greedy(socket: &Path, file: &'static str) -> JoinHandle<Vec<u8>> {
        let listener = UnixListener::bind(socket).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut greeting =
                b"\x0a9.0\0\x01\0\0\0ABCDEFGH\0\xff\xff\x2d\x02\0\xff\xff\x15".to_vec();
            greeting.extend_from_slice(&[0; 10]);
            greeting.extend_from_slice(b"123456789012\0mysql_native_password\0");
            say(&mut stream, 0, &greeting);
            hear(&mut stream);
            say(&mut stream, 2, &[OK, 0, 0, 2, 0, 0, 0]);
            hear(&mut stream);
            let request = [&[LOCAL_INFILE][..], file.as_bytes()].concat();
            say(&mut stream, 1, &request);
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all
        })
    }

    fn open(socket: &Path) -> MySession {
        MySession::open(socket, "root", "test", Dialect::Mysql, None).unwrap()
    }

    /// The goodbye of a closed session is all that such a server gets.
    const GOODBYE: [u8; 5] = [1, 0, 0, 0, 1];

    #[test]
    fn no_other_file_is_sent() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let server = greedy(&socket, "/etc/passwd");
        let mut session = open(&socket);
        let error = session
            .load_local(
                "LOAD DATA LOCAL INFILE 'onek' INTO TABLE onek",
                "onek",
                "1\n",
            )
            .unwrap_err();
        assert_eq!(error.meaning, Meaning::Disconnected);
        assert!(error.message.contains("/etc/passwd"), "{error}");
        drop(session);
        assert_eq!(server.join().unwrap(), GOODBYE);
    }

    #[test]
    fn no_other_statement_sends_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let server = greedy(&socket, "onek");
        let mut session = open(&socket);
        let error = session.execute("SELECT 1").unwrap_err();
        assert_eq!(error.meaning, Meaning::Disconnected);
        drop(session);
        assert_eq!(server.join().unwrap(), GOODBYE);
    }
}
