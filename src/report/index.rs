//! The cases of a run by their keys.

use std::collections::HashMap;

use crate::record::{CaseRecord, KeyRecord, Results};

/// The rounds of each case.
pub(super) struct Index<'r>(HashMap<&'r KeyRecord, Vec<&'r CaseRecord>>);

impl<'r> Index<'r> {
    /// Of the stored cases of a run.
    pub fn new(results: &'r Results) -> Self {
        let mut index: HashMap<&KeyRecord, Vec<&CaseRecord>> = HashMap::new();
        for case in &results.cases {
            index.entry(&case.case).or_default().push(case);
        }
        Index(index)
    }

    /// The rounds of one, in the order they were measured; none where it was not begun.
    pub fn rounds(&self, key: &KeyRecord) -> &[&'r CaseRecord] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}
