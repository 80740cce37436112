//! The load that shows what the harness itself can do: the same scripts by the same drivers
//! on an engine that answers at once.

use super::{Cell, Options};
use crate::error::Result;

/// Long enough for a figure of three digits, short enough to be made in every run.
const SECONDS: f64 = 0.3;

impl Options {
    /// This load as one of the ceiling: as fast as it goes, for a moment. `None` where a
    /// script waits for something else than answers.
    ///
    /// # Errors
    /// As [`check_scripts`](Options::check_scripts).
    pub fn for_ceiling(&self, cell: Cell) -> Result<Option<Options>> {
        if self.waits(cell)? {
            return Ok(None);
        }
        Ok(Some(Options {
            transactions: None,
            tuples: None,
            seconds: Some(SECONDS),
            warmup_s: 0.0,
            rate: None,
            limit_ms: None,
            checkpoints: Vec::new(),
            progress_s: None,
            ..self.clone()
        }))
    }
}
