//! How statements are sent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, unknown};

/// How statements are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// As literal text.
    Simple,
    /// As text and values apart, parsed anew each time (PostgreSQL).
    Extended,
    /// Prepared once a connection.
    #[default]
    Prepared,
}

impl Mode {
    const NAMES: [(&'static str, Mode); 3] = [
        ("simple", Mode::Simple),
        ("extended", Mode::Extended),
        ("prepared", Mode::Prepared),
    ];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Mode::NAMES.iter().find(|(_, m)| m == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Mode::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, mode)| *mode)
            .ok_or_else(|| unknown("protocol", text, &Mode::NAMES.map(|(n, _)| n)))
    }
}
