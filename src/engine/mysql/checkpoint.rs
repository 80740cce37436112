//! Making the server write back all that it holds: InnoDB's dirty pages, and the pages
//! of the engines without a log.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::MySession;
use crate::engine::{Meaning, Session, SqlError};
use crate::sql::Dialect;

/// After this the dirty pages are not waited for any longer.
const LIMIT: Duration = Duration::from_secs(300);
/// Looking costs the server some of its time.
const POLL: Duration = Duration::from_millis(10);

/// Settings that make InnoDB write at once, and at full speed, instead of letting dirty
/// pages lie; put back afterwards. In this order each is valid when it is set.
const HURRY: [(&str, &str); 4] = [
    ("innodb_io_capacity_max", "1000000"),
    ("innodb_io_capacity", "1000000"),
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
];

/// MariaDB has a statement for it, which also makes InnoDB's own checkpoint. MySQL has
/// not: dirty pages are forbidden until none is left. `FLUSH TABLES` closes MyISAM's and
/// Aria's files with everything written.
pub(super) fn write_back(session: &mut MySession) -> Result<(), SqlError> {
    session.execute("FLUSH LOCAL TABLES")?;
    if session.dialect() == Dialect::Mariadb {
        match session.execute("SET GLOBAL innodb_log_checkpoint_now=ON") {
            Ok(_) => return Ok(()),
            // ER_UNKNOWN_SYSTEM_VARIABLE: older than the statement.
            Err(error) if error.code == "1193" => {}
            Err(error) => return Err(error),
        }
    }
    let before = current(session)?;
    let written = hurry(session).and_then(|()| wait_for_no_dirty_pages(session));
    // Back in the other order: the capacity must not pass its maximum in between.
    for (name, value) in before.iter().rev() {
        session.execute(&format!("SET GLOBAL {name}={value}"))?;
    }
    written
}

fn current(session: &mut MySession) -> Result<Vec<(&'static str, String)>, SqlError> {
    let names: Vec<String> = HURRY.iter().map(|(n, _)| format!("@@global.{n}")).collect();
    let rows = session.values(&format!("SELECT {}", names.join(",")))?;
    let values = rows.into_iter().next().unwrap_or_default();
    Ok(HURRY
        .iter()
        .zip(values)
        .filter_map(|((name, _), value)| Some((*name, value?)))
        .collect())
}

fn hurry(session: &mut MySession) -> Result<(), SqlError> {
    for (name, value) in HURRY {
        session.execute(&format!("SET GLOBAL {name}={value}"))?;
    }
    Ok(())
}

fn wait_for_no_dirty_pages(session: &mut MySession) -> Result<(), SqlError> {
    let start = Instant::now();
    loop {
        let rows = session.values("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")?;
        let dirty = rows.first().and_then(|row| row.get(1)?.clone());
        match dirty.as_deref() {
            Some("0") => return Ok(()),
            _ if start.elapsed() < LIMIT => sleep(POLL),
            dirty => {
                return Err(SqlError {
                    code: String::new(),
                    message: format!(
                        "InnoDB still has {} dirty pages after {} s",
                        dirty.unwrap_or("an unknown number of"),
                        LIMIT.as_secs()
                    ),
                    meaning: Meaning::Other,
                });
            }
        }
    }
}
