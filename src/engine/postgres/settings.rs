//! PostgreSQL's settings: which are ours, which initdb takes, which are stored.

use std::ffi::OsString;
use std::path::Path;

use super::activity::LOG_LINE_PREFIX;
use super::{ANSWER_LIMIT, PgSession};
use crate::engine::{Session, Settings};
use crate::error::{Error, Result, bail, usage};

/// What keeps the server private: not to be changed.
const OURS: [&str; 9] = [
    "data_directory",
    "config_file",
    "hba_file",
    "external_pid_file",
    "listen_addresses",
    "port",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];

/// Fixed when the data directory is made; initdb takes them.
const OF_INITDB: [&str; 2] = ["data_checksums", "wal_segment_size"];

/// What decides durability, size and logging, or explains a figure: stored with every
/// measurement, beside everything that was asked for.
const STORED: [&str; 41] = [
    "autovacuum",
    "bgwriter_delay",
    "block_size",
    "checkpoint_completion_target",
    "checkpoint_flush_after",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "data_checksums",
    "data_sync_retry",
    "debug_io_direct",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_method",
    "jit",
    "log_checkpoints",
    "log_destination",
    "log_min_duration_statement",
    "log_statement",
    "logging_collector",
    "maintenance_work_mem",
    "max_connections",
    "max_wal_size",
    "min_wal_size",
    "server_version",
    "shared_buffers",
    "synchronous_commit",
    "synchronous_standby_names",
    "temp_buffers",
    "wal_buffers",
    "wal_compression",
    "wal_init_zero",
    "wal_level",
    "wal_log_hints",
    "wal_recycle",
    "wal_segment_size",
    "wal_sync_method",
    "work_mem",
];

/// Refuses what would make the server less private.
pub(super) fn check(settings: &Settings) -> Result<()> {
    match settings.keys().find(|name| is_ours(name)) {
        Some(name) => Err(usage(format!(
            "postgres setting {name} cannot be changed: it keeps the server private"
        ))),
        None => Ok(()),
    }
}

fn is_ours(name: &str) -> bool {
    OURS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

fn is_initdbs(name: &str) -> bool {
    OF_INITDB.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// What every private server runs with.
///
/// The log's lines begin with a time that can be read back: WAL checkpoints are found by it.
pub(super) fn private(run_dir: &Path) -> [(&'static str, String); 5] {
    // The value is a list: a quoted element may hold commas and spaces.
    let dir = run_dir.display().to_string().replace('"', "\"\"");
    [
        ("listen_addresses", String::new()),
        ("unix_socket_directories", format!("\"{dir}\"")),
        ("unix_socket_permissions", "0700".to_string()),
        ("log_checkpoints", "on".to_string()),
        ("log_line_prefix", LOG_LINE_PREFIX.to_string()),
    ]
}

/// What goes to the server's command line.
pub(super) fn for_server(settings: &Settings) -> impl Iterator<Item = (&String, &String)> {
    settings.iter().filter(|(name, _)| !is_initdbs(name))
}

/// Arguments of initdb for the settings that are fixed with the data directory.
pub(super) fn for_initdb(settings: &Settings, major: u32) -> Result<Vec<OsString>> {
    let mut args = Vec::new();
    for (name, value) in settings.iter().filter(|(name, _)| is_initdbs(name)) {
        let value = value.to_ascii_lowercase();
        match (name.to_ascii_lowercase().as_str(), value.as_str()) {
            ("data_checksums", "on") => args.push("--data-checksums".into()),
            // The default before version 18, which brought the option.
            ("data_checksums", "off") if major < 18 => {}
            ("data_checksums", "off") => args.push("--no-data-checksums".into()),
            ("wal_segment_size", size) => {
                let mib = size
                    .strip_suffix("mb")
                    .and_then(|n| n.trim().parse::<u32>().ok());
                let Some(mib) = mib else {
                    bail!("wal_segment_size={value} is not a size; write it like 16MB");
                };
                args.push(format!("--wal-segsize={mib}").into());
            }
            _ => bail!("{name}={value} is neither on nor off"),
        }
    }
    Ok(args)
}

/// Makes sure that what was asked for is in effect.
pub(super) fn verify(run_dir: &Path, asked: &Settings) -> Result<()> {
    let mut session = PgSession::open(run_dir, super::USER, super::DATABASE, Some(ANSWER_LIMIT))
        .map_err(Error::new)?;
    let names: Vec<String> = asked
        .keys()
        .map(|n| quoted(&n.to_ascii_lowercase()))
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    let rows = session
        .values(&format!(
            "SELECT lower(name), current_setting(name), source FROM pg_settings \
             WHERE lower(name) IN ({})",
            names.join(",")
        ))
        .map_err(Error::new)?;
    for (name, value) in asked {
        let row = rows.iter().find(|r| {
            r[0].as_deref()
                .is_some_and(|n| n.eq_ignore_ascii_case(name))
        });
        let Some([_, Some(effective), Some(source)]) = row.map(Vec::as_slice) else {
            bail!("the server has no setting called {name}");
        };
        // The server read and accepted what stands on its command line, in whatever unit.
        let taken = match is_initdbs(name) {
            true => effective.eq_ignore_ascii_case(value),
            false => source == "command line",
        };
        if !taken {
            bail!("setting {name}={value} did not take: {effective} is in effect (from {source})");
        }
    }
    Ok(())
}

/// Reads back what is stored; values with the unit that the server gives them.
pub(super) fn read(session: &mut PgSession) -> Result<Settings, crate::engine::SqlError> {
    let stored: Vec<String> = STORED.iter().map(|n| quoted(n)).collect();
    let ours: Vec<String> = OURS.iter().map(|n| quoted(n)).collect();
    let rows = session.values(&format!(
        "SELECT name, current_setting(name) FROM pg_settings \
         WHERE name IN ({}) OR source = 'command line' AND name NOT IN ({})",
        stored.join(","),
        ours.join(",")
    ))?;
    let pairs = rows.into_iter().filter_map(|row| {
        let mut row = row.into_iter().flatten();
        Some((row.next()?, row.next()?))
    });
    Ok(pairs.collect())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        pairs
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect()
    }

    #[test]
    fn what_keeps_the_server_private_cannot_be_set() {
        assert!(check(&settings(&[("Listen_Addresses", "*")])).is_err());
        assert!(check(&settings(&[("fsync", "off")])).is_ok());
    }

    #[test]
    fn initdb_gets_what_is_fixed_with_the_directory() {
        let asked = settings(&[
            ("data_checksums", "on"),
            ("fsync", "off"),
            ("wal_segment_size", "1MB"),
        ]);
        assert_eq!(
            for_initdb(&asked, 15).unwrap(),
            ["--data-checksums", "--wal-segsize=1"]
        );
        assert_eq!(for_server(&asked).count(), 1);
        assert!(for_initdb(&settings(&[("wal_segment_size", "big")]), 15).is_err());
        let off = settings(&[("data_checksums", "off")]);
        assert!(for_initdb(&off, 17).unwrap().is_empty());
        assert_eq!(for_initdb(&off, 18).unwrap(), ["--no-data-checksums"]);
    }
}
