//! What the harness itself can do: the measured loop around an engine that answers at
//! once. A result near this ceiling says more about mountmark than about the database.

use super::Bench;
use crate::error::Result;

/// Statements of the loop.
const STATEMENTS: u64 = 200_000;

/// Runs one operation `ceiling` of statements that cost nothing. Inside the window: the
/// statement call, its two clock readings and the histogram.
///
/// # Errors
/// When the figures cannot be told.
pub fn ceiling(bench: &mut Bench<'_>) -> Result<()> {
    let mut session = bench.connect()?;
    let mut op = bench.start("ceiling", STATEMENTS)?;
    for _ in 0..STATEMENTS {
        op.execute(session.as_mut(), "SELECT 1")?;
    }
    op.finish()
}
