//! PostgreSQL's running counters, and the WAL checkpoints that its log tells of.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::PgSession;
use crate::engine::{Activity, Session, SqlError, WalCheckpoint};

/// Before every line of the log: seconds since the epoch with milliseconds, process id.
pub(super) const LOG_LINE_PREFIX: &str = "%n [%p] ";

/// Reads the counters. The position in the WAL is exact; what sessions count in the
/// statistics views may lag by a second.
pub(super) fn read(session: &mut PgSession) -> Result<Activity, SqlError> {
    let mut counters = BTreeMap::new();
    let rows = session.values(
        "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, current_setting('data_directory')",
    )?;
    let first = rows.first().map(Vec::as_slice);
    let Some([Some(position), Some(data)]) = first else {
        return Ok(Activity::default());
    };
    put(&mut counters, "wal_bytes", position);
    for view in views(session)? {
        let rows = session.values(&format!(
            "SELECT key, value FROM {view} t, jsonb_each_text(to_jsonb(t))"
        ))?;
        for row in rows {
            if let [Some(name), Some(value)] = row.as_slice()
                && name != "wal_bytes"
            {
                put(&mut counters, name, value);
            }
        }
    }
    Ok(Activity {
        counters,
        log_files: segments(Path::new(data)),
    })
}

/// Waits until the other sessions have ended, which is when they report what they
/// counted.
pub(super) fn await_quiet(session: &mut PgSession) -> Result<(), SqlError> {
    for _ in 0..100 {
        let others = session.values(
            "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' \
             AND pid <> pg_backend_pid() LIMIT 1",
        )?;
        if others.is_empty() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Those of the views that this version has.
fn views(session: &mut PgSession) -> Result<Vec<String>, SqlError> {
    let rows = session.values(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace \
         AND relname IN ('pg_stat_wal', 'pg_stat_bgwriter', 'pg_stat_checkpointer')",
    )?;
    Ok(rows.into_iter().flatten().flatten().collect())
}

fn put(counters: &mut BTreeMap<String, f64>, name: &str, value: &str) {
    // Times and dates are no counters.
    if let Ok(value) = value.parse() {
        counters.insert(name.to_string(), value);
    }
}

/// The WAL's files, where the directory can be read from here.
fn segments(data: &Path) -> BTreeMap<u64, String> {
    let Ok(entries) = fs::read_dir(data.join("pg_wal")) else {
        return BTreeMap::new();
    };
    let segment = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let hex = name.len() == 24 && name.bytes().all(|b| b.is_ascii_hexdigit());
        Some((entry.metadata().ok().filter(|_| hex)?.ino(), name))
    };
    entries.flatten().filter_map(segment).collect()
}

/// The WAL checkpoints in a log with our line prefix.
pub(super) fn checkpoints(log: &str) -> Vec<WalCheckpoint> {
    let mut found: Vec<WalCheckpoint> = Vec::new();
    for line in log.lines() {
        let Some((time, rest)) = line.split_once(' ') else {
            continue;
        };
        let Ok(time) = time.parse() else {
            continue;
        };
        if let Some((_, reason)) = rest.split_once("LOG:  checkpoint starting: ") {
            found.push(WalCheckpoint {
                started_s: time,
                ended_s: None,
                reason: reason.to_string(),
            });
        } else if rest.contains("LOG:  checkpoint complete: ")
            && let Some(open) = found.last_mut()
        {
            open.ended_s.get_or_insert(time);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_read_from_the_log() {
        let log = "1792.100 [7] LOG:  database system is ready to accept connections\n\
                   1793.250 [9] LOG:  checkpoint starting: wal\n\
                   nonsense\n\
                   1795.500 [9] LOG:  checkpoint complete: wrote 3 buffers (2.3%); 0 WAL file(s) added\n\
                   1800.000 [9] LOG:  checkpoint starting: time\n";
        let found = checkpoints(log);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].ended_s, Some(1795.5));
        assert_eq!(found[0].reason, "wal");
        assert_eq!((found[1].started_s, found[1].ended_s), (1800.0, None));
    }
}
