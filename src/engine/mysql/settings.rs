//! Settings of MySQL and MariaDB: which are ours, which shape the data directory, which
//! are stored, and whether what was asked for is in effect.

use std::ffi::OsString;
use std::path::Path;

use super::MySession;
use crate::engine::{Kind, Launch, Session, Settings, SqlError};
use crate::error::{Error, Result, bail, usage};
use crate::sql::Dialect;
use crate::units::Bytes;

/// What keeps the server private and its log ours: not to be changed.
const OURS: [&str; 17] = [
    "admin_address",
    "basedir",
    "bind_address",
    "datadir",
    "defaults_extra_file",
    "defaults_file",
    "extra_port",
    "init_file",
    "log_error",
    "mysqlx",
    "pid_file",
    "port",
    "secure_file_priv",
    "skip_grant_tables",
    "skip_networking",
    "socket",
    "user",
];

/// What decides durability, size and logging, or explains a figure: stored with every
/// measurement, beside everything that was asked for. Each server has some of them.
const STORED: [&str; 53] = [
    "aria_checkpoint_interval",
    "aria_group_commit",
    "aria_pagecache_buffer_size",
    "autocommit",
    "binlog_format",
    "bulk_insert_buffer_size",
    "character_set_server",
    "default_storage_engine",
    "delay_key_write",
    "flush",
    "general_log",
    "innodb_adaptive_hash_index",
    "innodb_autoextend_increment",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_checksum_algorithm",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_log_at_timeout",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_log_write_ahead_size",
    "innodb_max_dirty_pages_pct",
    "innodb_max_dirty_pages_pct_lwm",
    "innodb_page_size",
    "innodb_read_io_threads",
    "innodb_redo_log_capacity",
    "innodb_undo_tablespaces",
    "innodb_use_native_aio",
    "innodb_version",
    "innodb_write_io_threads",
    "join_buffer_size",
    "key_buffer_size",
    "log_bin",
    "max_allowed_packet",
    "max_connections",
    "performance_schema",
    "query_cache_type",
    "slow_query_log",
    "sort_buffer_size",
    "sql_mode",
    "sync_binlog",
    "table_open_cache",
    "tmp_table_size",
    "transaction_isolation",
    "version",
];

/// Both spellings of an option name are the same to the server.
fn canonical(name: &str) -> String {
    name.trim_start_matches('-')
        .replace('-', "_")
        .to_ascii_lowercase()
}

/// Refuses what would make the server less private, and what it would ignore silently.
pub(super) fn check(kind: Kind, settings: &Settings) -> Result<()> {
    for name in settings.keys() {
        let canonical = canonical(name);
        if OURS.contains(&canonical.as_str()) || canonical.starts_with("mysqlx_") {
            return Err(usage(format!(
                "{kind} setting {name} cannot be changed: it keeps the server private"
            )));
        }
        if canonical.starts_with("loose_") {
            return Err(usage(format!(
                "{kind} setting {name}: with the prefix loose the server would ignore it \
                 where it does not know it; write the name without"
            )));
        }
    }
    Ok(())
}

fn option(name: &str, value: &str) -> OsString {
    match value {
        "" => format!("--{name}").into(),
        value => format!("--{name}={value}").into(),
    }
}

/// Those that shape the data directory and must be the same when it is made. How InnoDB
/// flushes does not.
pub(super) fn for_init(settings: &Settings) -> impl Iterator<Item = OsString> {
    let shapes = |name: &str| {
        let name = canonical(name);
        let flushes = name.starts_with("innodb_flush") || name == "innodb_use_native_aio";
        name == "lower_case_table_names" || name.starts_with("innodb_") && !flushes
    };
    settings
        .iter()
        .filter(move |(name, _)| shapes(name))
        .map(|(name, value)| option(name, value))
}

/// All arguments of a private server. Files for sorting and altering tables go to the
/// data directory too: they are part of what the file system is asked to do.
pub(super) fn command_line(dialect: Dialect, launch: &Launch, socket: &Path) -> Vec<OsString> {
    let with = |name: &str, path: &Path| {
        let mut text = OsString::from(format!("--{name}="));
        text.push(path);
        text
    };
    // The first, or the machine's own configuration files would be read.
    let mut args = vec![
        OsString::from("--no-defaults"),
        with("datadir", &launch.data),
    ];
    args.push(with("tmpdir", &launch.data));
    if !launch.settings.keys().any(|n| canonical(n) == "log_bin") {
        args.push("--skip-log-bin".into());
    }
    // Off in MySQL since 8.0; what `--fast` loads is sent by the client.
    if !launch
        .settings
        .keys()
        .any(|n| canonical(n) == "local_infile")
    {
        args.push("--local-infile=ON".into());
    }
    args.extend(launch.settings.iter().map(|(n, v)| option(n, v)));
    args.push("--skip-networking".into());
    args.push(with("socket", socket));
    args.push(with("pid-file", &launch.run_dir.join("mysql.pid")));
    args.push(with("secure-file-priv", &launch.run_dir));
    if dialect == Dialect::Mysql {
        args.push("--mysqlx=OFF".into());
    }
    args
}

/// Makes sure that what was asked for is in effect, and that no port is open.
pub(super) fn verify(session: &mut MySession, asked: &Settings) -> Result<()> {
    let names = asked.keys().map(|n| canonical(n));
    let effective =
        variables(session, names.chain(["skip_networking".into()])).map_err(Error::new)?;
    if effective.get("skip_networking").map(String::as_str) != Some("ON") {
        bail!("the server listens on a network port");
    }
    for (name, value) in asked {
        let canonical = canonical(name);
        if let Some(effective) = effective.get(&canonical) {
            if !same(value, effective) {
                bail!("setting {name}={value} did not take: {effective} is in effect");
            }
        } else if !switched_off(session, &canonical)? {
            bail!("setting {name} cannot be read back: write the full name of a variable");
        }
    }
    Ok(())
}

/// `skip_x` and `disable_x` are spellings of `x=OFF`.
fn switched_off(session: &mut MySession, name: &str) -> Result<bool> {
    let Some(variable) = ["skip_", "disable_"]
        .iter()
        .find_map(|p| name.strip_prefix(p))
    else {
        return Ok(false);
    };
    let found = variables(session, [variable.to_string()]).map_err(Error::new)?;
    Ok(found.get(variable).is_some_and(|v| same("OFF", v)))
}

/// Reads back what is stored and the variables `also`.
pub(super) fn read(session: &mut MySession, also: &[String]) -> Result<Settings, SqlError> {
    let names = STORED.iter().map(ToString::to_string);
    variables(session, names.chain(also.iter().map(|n| canonical(n))))
}

fn variables(
    session: &mut MySession,
    names: impl IntoIterator<Item = String>,
) -> Result<Settings, SqlError> {
    let names: Vec<String> = names
        .into_iter()
        .map(|n| format!("'{}'", n.replace(['\'', '\\'], "")))
        .collect();
    let rows = session.values(&format!(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
        names.join(",")
    ))?;
    let pairs = rows.into_iter().filter_map(|row| {
        let mut row = row.into_iter();
        Some((
            row.next()??.to_ascii_lowercase(),
            row.next()?.unwrap_or_default(),
        ))
    });
    Ok(pairs.collect())
}

/// True when `effective`, as the server prints it, is what `asked` says: sizes, numbers
/// and switches by value; names by name, where a set may have grown (`sql_mode=ANSI`).
fn same(asked: &str, effective: &str) -> bool {
    let asked = asked.trim();
    if asked.eq_ignore_ascii_case(effective) {
        return true;
    }
    if let (Ok(a), Ok(b)) = (asked.parse::<f64>(), effective.parse::<f64>()) {
        return a == b;
    }
    if let (Ok(Bytes(a)), Ok(b)) = (asked.parse(), effective.parse::<u64>()) {
        return a == b;
    }
    let switch = |text: &str| match text.to_ascii_lowercase().as_str() {
        "" | "on" | "1" | "true" => Some(true),
        "off" | "0" | "false" => Some(false),
        _ => None,
    };
    if let (Some(a), Some(b)) = (switch(asked), switch(effective)) {
        return a == b;
    }
    let words = |text: &str| -> Vec<String> {
        text.split(',')
            .map(|w| w.trim().to_ascii_lowercase())
            .collect()
    };
    let effective = words(effective);
    words(asked).iter().all(|word| effective.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_the_server_prints_them() {
        for (asked, effective) in [
            ("64M", "67108864"),
            ("0.5", "0.500000"),
            ("on", "ON"),
            ("1", "ON"),
            ("", "ON"),
            ("myisam", "MyISAM"),
            ("ANSI", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI"),
        ] {
            assert!(same(asked, effective), "{asked} {effective}");
        }
        for (asked, effective) in [
            ("64M", "134217728"),
            ("1", "OFF"),
            ("nosync", "fsync"),
            ("8", "16"),
            ("utf8", "utf8mb4"),
        ] {
            assert!(!same(asked, effective), "{asked} {effective}");
        }
    }

    #[test]
    fn private_and_loose_settings_are_refused_in_either_spelling() {
        for name in [
            "bind-address",
            "Bind_Address",
            "--port",
            "loose-x",
            "mysqlx_port",
        ] {
            let settings = [(name.to_string(), "1".to_string())].into();
            assert!(check(Kind::Mysql, &settings).is_err(), "{name}");
        }
    }

    #[test]
    fn what_shapes_the_directory_goes_to_its_making() {
        let settings: Settings = [
            ("innodb_log_file_size", "16M"),
            ("innodb-flush-method", "fsync"),
            ("max_connections", "10"),
        ]
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .into();
        let args: Vec<OsString> = for_init(&settings).collect();
        assert_eq!(args, ["--innodb_log_file_size=16M"]);
    }
}
