//! How errors travel. A level says what it was doing (`context`), its `source()` says
//! why; nothing is printed here or twice. Messages are lower case, end without a full
//! stop, name the thing and the way out.

use std::fmt;

pub use anyhow::{Context, Error, Result, anyhow, bail, ensure};

/// The user asked for something that cannot be: ends the program with exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A usage error as an [`Error`].
pub fn usage(message: impl Into<String>) -> Error {
    Error::new(Usage(message.into()))
}

/// "unknown engine 'foo'; one of: sqlite, null": the one shape of this message.
pub fn unknown(what: &str, given: &str, valid: &[&str]) -> Error {
    usage(format!(
        "unknown {what} '{given}'; one of: {}",
        valid.join(", ")
    ))
}

/// A path for a message: what would break the line or the terminal is escaped.
pub fn shown(path: &std::path::Path) -> String {
    let text = path.to_string_lossy();
    match text.contains(char::is_control) {
        true => format!("'{}'", text.escape_debug()),
        false => text.into_owned(),
    }
}

/// The levels of an error, outermost first.
pub fn chain(error: &Error) -> Vec<String> {
    error.chain().map(ToString::to_string).collect()
}

/// The levels of an error on one line, outermost first.
pub fn one_line(error: &Error) -> String {
    chain(error).join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_told_outermost_first() {
        let error = Error::new(std::io::Error::other("no space"))
            .context("cannot write a")
            .context("case b failed");
        assert_eq!(one_line(&error), "case b failed: cannot write a: no space");
    }

    #[test]
    fn a_path_stays_on_its_line() {
        use std::path::Path;
        assert_eq!(shown(Path::new("/a b")), "/a b");
        assert_eq!(shown(Path::new("/a\nb")), "'/a\\nb'");
    }

    #[test]
    fn unknown_names_the_valid_ones() {
        assert_eq!(
            unknown("engine", "foo", &["sqlite", "null"]).to_string(),
            "unknown engine 'foo'; one of: sqlite, null"
        );
    }
}
