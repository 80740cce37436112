//! InnoDB's running counters.

use super::MySession;
use crate::engine::{Activity, Session, SqlError};

/// What tells of the log, of flushing and of waiting; each server has some of them.
const NAMES: [&str; 17] = [
    "binlog_cache_disk_use",
    "innodb_buffer_pool_pages_flushed",
    "innodb_buffer_pool_wait_free",
    "innodb_checkpoint_age",
    "innodb_data_fsyncs",
    "innodb_data_written",
    "innodb_dblwr_pages_written",
    "innodb_dblwr_writes",
    "innodb_log_waits",
    "innodb_log_writes",
    "innodb_lsn_current",
    "innodb_lsn_last_checkpoint",
    "innodb_os_log_fsyncs",
    "innodb_os_log_written",
    "innodb_pages_written",
    "innodb_row_lock_time",
    "innodb_row_lock_waits",
];

/// Reads the counters.
pub(super) fn read(session: &mut MySession) -> Result<Activity, SqlError> {
    let names: Vec<String> = NAMES.iter().map(|n| format!("'{n}'")).collect();
    let rows = session.values(&format!(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
        names.join(",")
    ))?;
    let mut activity = Activity::default();
    for row in rows {
        if let [Some(name), Some(value)] = row.as_slice()
            && let Ok(value) = value.parse()
        {
            activity.counters.insert(name.to_ascii_lowercase(), value);
        }
    }
    Ok(activity)
}
