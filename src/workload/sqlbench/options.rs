//! Loop counts: named profiles and a factor.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, unknown};

/// A named set of loop counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Short enough for a first look: fewer loops than `original`, more than
    /// `small-test` where that would measure nothing.
    #[default]
    Short,
    /// The suite's `--small-test`.
    SmallTest,
    /// The suite's defaults, as the published results used.
    Original,
    /// The longer defaults of the newer tree, with its two more `select` operations.
    Mariadb,
}

impl Profile {
    const NAMES: [(&'static str, Profile); 4] = [
        ("short", Profile::Short),
        ("small-test", Profile::SmallTest),
        ("original", Profile::Original),
        ("mariadb", Profile::Mariadb),
    ];
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Profile::NAMES.iter().find(|(_, p)| p == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let names = Profile::NAMES.map(|(name, _)| name);
        Profile::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, profile)| *profile)
            .ok_or_else(|| unknown("profile", text, &names))
    }
}

/// How much of a phase is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The set of loop counts.
    pub profile: Profile,
    /// Multiplies a phase's main loop count, as the suite's `--loop-count` sets it:
    /// secondary counts stay what the profile says, cut where the main one limits them.
    pub loops: f64,
    /// The suite's `--fast`: bulk operations in transactions, INSERTs without column list
    /// and of many rows, table locks, vacuum or optimize between operations, each where
    /// the server has it.
    #[serde(default)]
    pub fast: bool,
    /// `insert`: loops of the key look-ups, which `loops` leaves alone; the profile's if
    /// `None`.
    #[serde(default)]
    pub read_key_loops: Option<u64>,
    /// `insert`: rows of the table with many keys, never more than the main loop count;
    /// the profile's if `None`.
    #[serde(default)]
    pub many_keys_loops: Option<u64>,
    /// `ATIS`: a directory with the original tables, one `<table>.txt` each; the
    /// generated ones if `None`.
    #[serde(default)]
    pub atis_data: Option<PathBuf>,
    /// Seconds an operation may take before it is cut short, where the suite does that.
    pub time_limit_s: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            profile: Profile::default(),
            loops: 1.0,
            fast: false,
            read_key_loops: None,
            many_keys_loops: None,
            atis_data: None,
            time_limit_s: 600.0,
        }
    }
}

impl Options {
    /// `count` times the loop factor, at least one.
    pub fn scaled(&self, count: u64) -> u64 {
        ((count as f64 * self.loops).round() as u64).max(1)
    }

    /// The time limit of an operation.
    pub fn time_limit(&self) -> Duration {
        Duration::from_secs_f64(self.time_limit_s)
    }
}
