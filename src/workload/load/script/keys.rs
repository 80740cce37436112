//! Which keys sysbench's scripts choose: its distributions, by its names, with its
//! defaults.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, unknown};

/// The keys of the built-in scripts of sysbench: the range is that of the table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Keys {
    /// All alike.
    Uniform,
    /// A bell: the mean of so many uniform numbers.
    Gaussian {
        /// Numbers of which the mean is taken.
        iterations: u32,
    },
    /// sysbench's default: a few keys in the middle of the range are hot, the others
    /// follow the bell.
    Special {
        /// Numbers of which the mean of the bell is taken.
        iterations: u32,
        /// Width of the hot part, percent of the range.
        percent: u32,
        /// Keys drawn from the hot part, percent.
        hot: u32,
    },
    /// The first keys are hot: the share `h` of the range gets the share `1 - h` of the
    /// draws, and so on within it.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
    },
    /// The k-th key of the range has a weight of `k^-exponent`.
    Zipfian {
        /// 0 or above.
        exponent: f64,
    },
}

/// A distribution by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// See [`Keys`].
    Uniform,
    /// See [`Keys`].
    Gaussian,
    /// See [`Keys`].
    Special,
    /// See [`Keys`].
    Pareto,
    /// See [`Keys`].
    Zipfian,
}

impl KeyType {
    const NAMES: [(&'static str, KeyType); 5] = [
        ("uniform", KeyType::Uniform),
        ("gaussian", KeyType::Gaussian),
        ("special", KeyType::Special),
        ("pareto", KeyType::Pareto),
        ("zipfian", KeyType::Zipfian),
    ];
}

impl FromStr for KeyType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        KeyType::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, keys)| *keys)
            .ok_or_else(|| unknown("distribution", text, &KeyType::NAMES.map(|(n, _)| n)))
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KeyType::NAMES.iter().find(|(_, keys)| keys == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

/// sysbench's `--rand-spec-iter`, `--rand-spec-pct`, `--rand-spec-res`,
/// `--rand-pareto-h` and `--rand-zipfian-exp` where nothing is said.
pub const ITERATIONS: u32 = 12;
/// See [`ITERATIONS`].
pub const PERCENT: u32 = 1;
/// See [`ITERATIONS`].
pub const HOT: u32 = 75;
/// See [`ITERATIONS`].
pub const PARETO_H: f64 = 0.2;
/// See [`ITERATIONS`].
pub const ZIPFIAN_EXPONENT: f64 = 0.8;

impl Default for Keys {
    /// As sysbench's.
    fn default() -> Self {
        Keys::Special {
            iterations: ITERATIONS,
            percent: PERCENT,
            hot: HOT,
        }
    }
}

/// How a built-in script's text says "any key of the table".
const ANY_KEY: &str = "random(1, :table_size)";

impl Keys {
    /// The script with its keys drawn so.
    pub(super) fn apply(&self, script: &str) -> String {
        script.replace(ANY_KEY, &self.expression())
    }

    /// The expression of the script language that draws a key.
    fn expression(&self) -> String {
        const RANGE: &str = "1, :table_size";
        match self {
            Keys::Uniform => ANY_KEY.to_string(),
            Keys::Gaussian { iterations } => format!("sysbench_gaussian({RANGE}, {iterations})"),
            Keys::Special {
                iterations,
                percent,
                hot,
            } => format!("sysbench_special({RANGE}, {iterations}, {percent}, {hot})"),
            Keys::Pareto { h } => format!("sysbench_pareto({RANGE}, {h:?})"),
            Keys::Zipfian { exponent } => format!("sysbench_zipfian({RANGE}, {exponent:?})"),
        }
    }
}

/// As sysbench's flags.
impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keys::Uniform => f.write_str("uniform"),
            Keys::Gaussian { iterations } => write!(f, "gaussian, iter {iterations}"),
            Keys::Special {
                iterations,
                percent,
                hot,
            } => write!(f, "special, iter {iterations}, pct {percent}, res {hot}"),
            Keys::Pareto { h } => write!(f, "pareto, h {h}"),
            Keys::Zipfian { exponent } => write!(f, "zipfian, exp {exponent}"),
        }
    }
}
