//! What is to be known of figures that others published.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A study whose figures were published. They have no rounds and so no intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedRecord {
    /// What was studied.
    pub study: String,
    /// How, and on what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What its authors or readers said is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<String>,
    /// Labels of targets as they are made today, with the label in the study of what is the
    /// same; a label that is not among them stands for itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub today: BTreeMap<String, String>,
}

impl PublishedRecord {
    /// The study's label of a target of today.
    pub fn label<'l>(&'l self, today: &'l str) -> &'l str {
        self.today.get(today).map_or(today, String::as_str)
    }
}
