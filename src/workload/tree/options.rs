//! How a tree is made and worked on. The options are part of a case's key, as settings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::engine::Settings;
use crate::error::{Context, Error, Result, unknown};

/// The order of the entries in the archive, and so the order in which they are unpacked.
/// Copying, reading and removing take each directory by inode number, as `cp` and `rm` do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Directory by directory, as the archive has it.
    #[default]
    Generated,
    /// All directories, then all files of all directories mixed, the same way every time.
    Shuffled,
}

impl Order {
    const NAMES: [(&'static str, Order); 2] = [
        ("generated", Order::Generated),
        ("shuffled", Order::Shuffled),
    ];
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Order::NAMES.iter().find(|(_, o)| o == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Order::NAMES.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, order)| *order)
            .ok_or_else(|| unknown("order", text, &Order::NAMES.map(|(n, _)| n)))
    }
}

/// Size, order and workers of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Factor on the size of a generated tree; 1 is the published size.
    pub scale: f64,
    /// The order of the archive.
    pub order: Order,
    /// Threads that work at once; 1 is what can be compared.
    pub jobs: usize,
    /// The user's archive instead of a generated one.
    pub archive: Option<PathBuf>,
}

impl Options {
    /// The scale of `workload` where the user says nothing: some seconds a target, and
    /// few enough inodes for an image of 1 GiB.
    pub fn usual_scale(workload: &str) -> f64 {
        match workload {
            "small-files" => 0.03,
            _ => 0.2,
        }
    }

    /// As settings of a case; a user's archive has no scale.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::from([
            ("order".to_string(), self.order.to_string()),
            ("jobs".to_string(), self.jobs.to_string()),
        ]);
        match &self.archive {
            None => settings.insert("scale".to_string(), self.scale.to_string()),
            Some(path) => settings.insert("archive".to_string(), path.display().to_string()),
        };
        settings
    }

    /// Back from [`settings`](Options::settings).
    ///
    /// # Errors
    /// A value that is none.
    pub fn from_settings(settings: &Settings) -> Result<Self> {
        let value = |name: &str| settings.get(name).map(String::as_str);
        Ok(Options {
            scale: value("scale")
                .map_or(Ok(1.0), str::parse)
                .context("scale is not a number")?,
            order: value("order").map_or(Ok(Order::default()), str::parse)?,
            jobs: value("jobs")
                .map_or(Ok(1), str::parse)
                .context("jobs is not a whole number")?,
            archive: value("archive").map(PathBuf::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_back() {
        for archive in [None, Some(PathBuf::from("/a b.tar.gz"))] {
            let options = Options {
                scale: 1.0,
                order: Order::Shuffled,
                jobs: 3,
                archive,
            };
            let back = Options::from_settings(&options.settings()).unwrap();
            assert_eq!(back, options);
        }
        assert!("sorted".parse::<Order>().is_err());
    }
}
