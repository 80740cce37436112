//! The client side of MySQL's protocol, as bytes only: what is written into a packet
//! and how the parts of one are read. No socket here.

use std::hint::black_box;

use crate::engine::Param;

/// Length and sequence number.
pub(super) const HEADER_BYTES: usize = 4;
/// A packet of this length is continued in the next.
pub(super) const LONGEST: usize = 0xff_ffff;

/// First byte of an answer that is no result set.
pub(super) const OK: u8 = 0x00;
pub(super) const LOCAL_INFILE: u8 = 0xfb;
pub(super) const EOF: u8 = 0xfe;
pub(super) const ERR: u8 = 0xff;

pub(super) const COM_QUIT: u8 = 0x01;
pub(super) const COM_QUERY: u8 = 0x03;
pub(super) const COM_STMT_PREPARE: u8 = 0x16;
pub(super) const COM_STMT_EXECUTE: u8 = 0x17;
pub(super) const COM_STMT_CLOSE: u8 = 0x19;

/// LONG_FLAG, CONNECT_WITH_DB, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION,
/// PLUGIN_AUTH, DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x4 | 0x8 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x8_0000 | 0x100_0000;
const DEPRECATE_EOF: u32 = 0x100_0000;
/// LONG_PASSWORD; where one side leaves it out, MariaDB's own capabilities follow.
const OF_MYSQL: u32 = 0x1;
/// MariaDB's CACHE_METADATA: the columns of a prepared statement's result come with its
/// preparing, and again only when they have changed.
const CACHE_METADATA: u32 = 0x10;
/// utf8mb4_general_ci, which both servers have.
const COLLATION: u8 = 45;

/// Closes a packet that was begun at `from` in `out` with room for its header.
pub(super) fn seal(out: &mut [u8], from: usize, sequence: u8) {
    let length = out.len() - from - HEADER_BYTES;
    out[from..from + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    out[from + 3] = sequence;
}

/// What the server says first.
pub(super) struct Greeting {
    /// The method by which it would have us prove who we are.
    pub plugin: String,
    capabilities: u32,
    /// MariaDB's own.
    extended: u32,
}

impl Greeting {
    /// From the first packet's body.
    pub fn read(body: &[u8]) -> Option<Self> {
        let rest = body.strip_prefix(&[10])?;
        let end = rest.iter().position(|b| *b == 0)?;
        // After the version: connection id 4, challenge 8, filler 1.
        let rest = rest.get(end + 1 + 13..)?;
        let low = u16::from_le_bytes([*rest.first()?, *rest.get(1)?]);
        let high = u16::from_le_bytes([*rest.get(5)?, *rest.get(6)?]);
        let challenge = usize::from(*rest.get(7)?).saturating_sub(8).max(13);
        // Capabilities 2, collation 1, status 2, capabilities 2, length 1, reserved 10.
        let plugin = rest.get(18 + challenge..).unwrap_or_default();
        let plugin = plugin.split(|b| *b == 0).next().unwrap_or_default();
        let capabilities = u32::from(low) | u32::from(high) << 16;
        let extended = match rest.get(14..18) {
            Some(&[a, b, c, d]) if capabilities & OF_MYSQL == 0 => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        };
        Some(Greeting {
            plugin: String::from_utf8_lossy(plugin).into_owned(),
            capabilities,
            extended,
        })
    }

    /// True when it speaks the dialect of the protocol that is read here: MySQL since
    /// 5.7, MariaDB since 10.2.
    pub fn is_modern(&self) -> bool {
        self.capabilities & DEPRECATE_EOF != 0
    }

    /// True when the server leaves out columns that have not changed since a statement was
    /// prepared; our answer asks for it. The head of a result then says which it is.
    pub fn caches_columns(&self) -> bool {
        self.extended & CACHE_METADATA != 0
    }

    /// Our answer, without a password.
    pub fn answer(&self, user: &str, database: &str, out: &mut Vec<u8>) {
        let cached = self.caches_columns();
        let of_mysql = if cached { 0 } else { OF_MYSQL };
        out.extend_from_slice(&(CAPABILITIES | of_mysql).to_le_bytes());
        out.extend_from_slice(&(1u32 << 30).to_le_bytes());
        out.push(COLLATION);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&(self.extended & CACHE_METADATA).to_le_bytes());
        out.extend_from_slice(user.as_bytes());
        // The end of the name, and a proof of no bytes.
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(database.as_bytes());
        out.push(0);
        out.extend_from_slice(self.plugin.as_bytes());
        out.push(0);
    }
}

/// Appends a number of variable length.
fn put_length(value: usize, out: &mut Vec<u8>) {
    let bytes = (value as u64).to_le_bytes();
    match value {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Takes a number of variable length.
#[inline]
pub(super) fn take_length(body: &mut &[u8]) -> Option<usize> {
    let (first, rest) = body.split_first()?;
    let width = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        small => {
            *body = rest;
            return Some(usize::from(*small));
        }
    };
    let (bytes, rest) = rest.split_at_checked(width)?;
    *body = rest;
    let mut all = [0; 8];
    all[..width].copy_from_slice(bytes);
    usize::try_from(u64::from_le_bytes(all)).ok()
}

#[inline]
fn take_bytes<'a>(body: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (bytes, rest) = body.split_at_checked(count)?;
    *body = rest;
    Some(bytes)
}

/// The next field of a text row; the inner `None` is NULL.
#[inline]
pub(super) fn next_text<'a>(body: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    if let [0xfb, rest @ ..] = *body {
        *body = rest;
        return Some(None);
    }
    let length = take_length(body)?;
    take_bytes(body, length).map(Some)
}

/// Walks the fields of a text row.
#[inline]
pub(super) fn walk_text(mut body: &[u8]) {
    while let Some(field) = next_text(&mut body) {
        black_box(field);
    }
}

/// Walks the fields of a binary row of columns of these types. `None` when the row is
/// not of that shape.
#[inline]
pub(super) fn walk_binary(body: &[u8], types: &[u8]) -> Option<()> {
    each_field(body, types, |_, field| {
        black_box(field);
    })
}

#[inline]
fn each_field<'b>(
    body: &'b [u8],
    types: &[u8],
    mut field: impl FnMut(u8, Option<&'b [u8]>),
) -> Option<()> {
    // The first two bits of the map of NULLs are not used.
    let map_bytes = (types.len() + 9) / 8;
    let map = body.get(1..1 + map_bytes)?;
    let mut rest = body.get(1 + map_bytes..)?;
    for (n, kind) in types.iter().enumerate() {
        if map[(n + 2) / 8] & 1 << ((n + 2) % 8) != 0 {
            field(*kind, None);
            continue;
        }
        let length = match kind {
            1 => 1,
            2 | 13 => 2,
            3 | 4 | 9 => 4,
            5 | 8 => 8,
            6 => 0,
            _ => take_length(&mut rest)?,
        };
        field(*kind, Some(take_bytes(&mut rest, length)?));
    }
    Some(())
}

/// The fields of a binary row as text; times and dates as their bytes in hexadecimal.
pub(super) fn binary_texts(body: &[u8], types: &[u8]) -> Option<Vec<Option<String>>> {
    let mut row = Vec::with_capacity(types.len());
    each_field(body, types, |kind, field| {
        row.push(field.map(|bytes| binary_text(kind, bytes)));
    })?;
    Some(row)
}

fn binary_text(kind: u8, bytes: &[u8]) -> String {
    match (kind, bytes) {
        (1, [v]) => (*v as i8).to_string(),
        (2 | 13, &[a, b]) => i16::from_le_bytes([a, b]).to_string(),
        (3 | 9, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).to_string(),
        (4, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).to_string(),
        (5 | 8, bytes) => {
            let mut all = [0; 8];
            all.copy_from_slice(bytes);
            match kind {
                5 => f64::from_le_bytes(all).to_string(),
                _ => i64::from_le_bytes(all).to_string(),
            }
        }
        (7 | 10 | 11 | 12, bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
        (_, bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The type byte of a column definition.
pub(super) fn column_type(mut body: &[u8]) -> Option<u8> {
    // Catalog, schema, table, its own name, column, its own name.
    for _ in 0..6 {
        let length = take_length(&mut body)?;
        take_bytes(&mut body, length)?;
    }
    // Length of the rest 1, collation 2, width 4.
    body.get(7).copied()
}

/// The name of a column, from its definition; empty where it cannot be read.
pub(super) fn column_name(mut body: &[u8]) -> String {
    let mut name = None;
    // Catalog, schema, table, its own name, column.
    for _ in 0..5 {
        name = take_length(&mut body).and_then(|length| take_bytes(&mut body, length));
    }
    String::from_utf8_lossy(name.unwrap_or_default()).into_owned()
}

/// The body of COM_STMT_EXECUTE after the command byte.
pub(super) fn put_execute(statement: u32, params: &[Param<'_>], out: &mut Vec<u8>) {
    const DOUBLE: u8 = 0x05;
    const LONGLONG: u8 = 0x08;
    const VAR_STRING: u8 = 0xfd;
    out.extend_from_slice(&statement.to_le_bytes());
    // No cursor; one iteration.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    if params.is_empty() {
        return;
    }
    let map = out.len();
    out.resize(map + params.len().div_ceil(8), 0);
    for (n, _) in params
        .iter()
        .enumerate()
        .filter(|(_, p)| **p == Param::Null)
    {
        out[map + n / 8] |= 1 << (n % 8);
    }
    // Types follow.
    out.push(1);
    for param in params {
        out.extend_from_slice(match param {
            Param::Int(_) => &[LONGLONG, 0],
            Param::Float(_) => &[DOUBLE, 0],
            Param::Text(_) | Param::Null => &[VAR_STRING, 0],
        });
    }
    for param in params {
        match param {
            Param::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            Param::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
            Param::Text(text) => {
                put_length(text.len(), out);
                out.extend_from_slice(text.as_bytes());
            }
            Param::Null => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_greeting_is_read() {
        let mut body = vec![10];
        body.extend_from_slice(b"9.7.4\0");
        body.extend_from_slice(&[1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
        body.extend_from_slice(&[0xff, 0xff, 45, 2, 0, 0xff, 0x01, 21]);
        body.extend_from_slice(&[0; 10]);
        body.extend_from_slice(&[9; 12]);
        body.push(0);
        body.extend_from_slice(b"caching_sha2_password\0");
        let greeting = Greeting::read(&body).unwrap();
        assert_eq!(greeting.plugin, "caching_sha2_password");
        assert!(greeting.is_modern());
        assert!(!greeting.caches_columns());
        assert!(Greeting::read(&body[..10]).is_none());
        // MariaDB: not LONG_PASSWORD, and capabilities of its own.
        body[20] = 0xfe;
        body[34] = 0x1f;
        let greeting = Greeting::read(&body).unwrap();
        assert_eq!(greeting.plugin, "caching_sha2_password");
        assert!(greeting.caches_columns());
    }

    #[test]
    fn rows_are_walked_by_their_columns() {
        // A NULL, a LONG, a text of 2.
        let row = [0, 0b100, 7, 0, 0, 0, 2, b'a', b'b'];
        assert!(walk_binary(&row, &[8, 3, 253]).is_some());
        assert!(walk_binary(&row[..7], &[8, 3, 253]).is_none());
        let mut text: &[u8] = &[0xfb, 1, b'x', 0];
        assert_eq!(next_text(&mut text), Some(None));
        assert_eq!(next_text(&mut text), Some(Some(&b"x"[..])));
        assert_eq!(next_text(&mut text), Some(Some(&b""[..])));
        assert_eq!(next_text(&mut text), None);
    }

    proptest! {
        #[test]
        fn lengths_read_back(value in prop_oneof![0usize..300, 0usize..1 << 40]) {
            let mut out = Vec::new();
            put_length(value, &mut out);
            let mut body = &out[..];
            prop_assert_eq!(take_length(&mut body), Some(value));
            prop_assert!(body.is_empty());
        }

        #[test]
        fn no_bytes_make_the_readers_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Greeting::read(&bytes);
            let _ = column_type(&bytes);
            let _ = walk_binary(&bytes, &[253, 12, 3, 1, 8, 253, 5, 2]);
            walk_text(&bytes);
        }
    }
}
