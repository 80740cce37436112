//! What a reader must know about a load before believing its figures.

use super::result::LoadResult;
use crate::engine::Settings;

/// Shorter loads are over before much has been written back.
const SHORT_S: f64 = 60.0;
/// A WAL checkpoint so near the end is half in and half out.
const NEAR_S: f64 = 10.0;
/// From this part of the ceiling on, the client has a say in the result.
const NEAR_CEILING: f64 = 0.8;

/// The remarks on `result`, which ran with `settings`.
pub(super) fn remarks(result: &LoadResult, settings: &Settings) -> Vec<String> {
    let mut remarks = Vec::new();
    let wall_s = result.wall_ns as f64 / 1e9;
    if wall_s < SHORT_S {
        remarks.push(format!(
            "the load took less than {SHORT_S:.0} s: caches and write-back did not settle"
        ));
    }
    let near = |time: f64| (wall_s - time).abs() <= NEAR_S;
    let checkpoints = result.wal_checkpoints.as_deref().unwrap_or_default();
    let cut = checkpoints.iter().any(|c| match c.ended_s {
        Some(ended) => near(ended),
        None => c.started_s < wall_s,
    });
    if cut {
        remarks.push(format!(
            "the load ended within {NEAR_S:.0} s of a WAL checkpoint"
        ));
    }
    if let Some(interval) = settings
        .get("checkpoint_timeout")
        .and_then(|t| interval_s(t))
        && wall_s < interval
    {
        remarks.push(format!(
            "the load was shorter than a WAL checkpoint interval ({interval:.0} s)"
        ));
    }
    if let Some(ceiling) = result.ceiling_tps {
        let tps = result.committed as f64 / wall_s.max(1e-9);
        if tps > ceiling * NEAR_CEILING {
            remarks.push(
                "the client was busy for more than 80 % of the time that its threads had: the \
                 result says as much about mountmark as about the database"
                    .to_string(),
            );
        }
    }
    if let Some(remark) = lock_remark(result) {
        remarks.push(remark);
    }
    if result.committed == 0 {
        remarks.push("no transaction was committed".to_string());
    }
    remarks
}

/// SQLite's SQLITE_BUSY and SQLITE_BUSY_SNAPSHOT, as they come without a wait for the lock.
const SQLITE_BUSY: [&str; 2] = ["5", "517"];

/// On SQLite: why transactions that read before they write had to be tried again.
fn lock_remark(result: &LoadResult) -> Option<String> {
    result.busy_waits?;
    let refused = SQLITE_BUSY
        .iter()
        .filter_map(|code| result.errors.get(*code));
    match refused.sum::<u64>() {
        0 => None,
        n => Some(format!(
            "SQLite refused {n} times to let a transaction that had read begin to write while \
             another wrote; a script of yours that reads and then writes should begin with \
             BEGIN IMMEDIATE there"
        )),
    }
}

/// A time as PostgreSQL prints it (`5min`, `30s`), in seconds.
fn interval_s(text: &str) -> Option<f64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_postgres_prints_them() {
        assert_eq!(interval_s("5min"), Some(300.0));
        assert_eq!(interval_s("30s"), Some(30.0));
        assert_eq!(interval_s("1d"), Some(86_400.0));
        assert_eq!(interval_s("soon"), None);
    }
}
