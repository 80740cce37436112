//! What the settings of each engine mean for a commit.

use super::Against;
use crate::engine::{Kind, Settings};

/// What speaks against the settings in effect.
pub(super) fn of_engine(kind: Kind, settings: &Settings) -> Vec<Against> {
    let get = |name: &str| settings.get(name).map(|v| v.to_ascii_lowercase());
    match kind {
        Kind::Sqlite => sqlite(&get),
        Kind::Postgres => postgres(&get),
        Kind::Mysql | Kind::Mariadb => mysql(&get),
        Kind::Null => vec![Against::Unseen("no database: nothing is committed".into())],
    }
}

type Get<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn lost(reason: impl Into<String>) -> Against {
    Against::Lost(reason.into())
}

fn unread(name: &str) -> Against {
    Against::Unseen(format!("the setting {name} could not be read back"))
}

fn is_off(value: &str) -> bool {
    ["off", "0", "false", "no"].contains(&value)
}

/// `synchronous` × `journal_mode`: in WAL, FULL syncs the log at each commit and NORMAL
/// only at a WAL checkpoint. With a rollback journal, FULL syncs the file before the
/// journal goes, but not the directory the journal is deleted from: after a power cut the
/// journal may be back and undo the last commit; EXTRA syncs the directory too. TRUNCATE
/// and PERSIST sync the emptied journal itself under FULL.
fn sqlite(get: &Get<'_>) -> Vec<Against> {
    let Some((journal, synchronous)) = get("journal_mode").zip(get("synchronous")) else {
        return vec![unread("synchronous or journal_mode")];
    };
    let rank = match synchronous.as_str() {
        "off" | "0" => 0,
        "normal" | "1" => 1,
        "full" | "2" => 2,
        "extra" | "3" => 3,
        _ => return vec![unread("synchronous")],
    };
    let needed = match journal.as_str() {
        "wal" | "truncate" | "persist" => 2,
        "delete" => 3,
        "off" | "memory" => {
            return vec![lost(format!(
                "journal_mode={journal}: a power cut in a commit destroys the database"
            ))];
        }
        _ => return vec![unread("journal_mode")],
    };
    match rank {
        rank if rank >= needed => Vec::new(),
        0 => vec![lost("synchronous=off: commits are not synced")],
        2 => vec![lost(
            "synchronous=full with journal_mode=delete: the last commit may be undone; \
             needs synchronous=extra",
        )],
        _ => vec![lost(format!(
            "synchronous={synchronous} with journal_mode={journal}: the last commits may be lost"
        ))],
    }
}

fn postgres(get: &Get<'_>) -> Vec<Against> {
    let mut found = Vec::new();
    for (name, means) in [
        ("fsync", "nothing is synced"),
        ("synchronous_commit", "the last commits may be lost"),
        ("full_page_writes", "a page torn by a power cut stays torn"),
    ] {
        match get(name) {
            Some(value) if is_off(&value) => found.push(lost(format!("{name}=off: {means}"))),
            Some(_) => {}
            None => found.push(unread(name)),
        }
    }
    match get("wal_sync_method").as_deref() {
        Some("fsync" | "fdatasync" | "open_sync" | "open_datasync" | "fsync_writethrough") => {}
        Some(other) => found.push(Against::Unseen(format!(
            "what wal_sync_method={other} does is not known"
        ))),
        None => found.push(unread("wal_sync_method")),
    }
    found
}

fn mysql(get: &Get<'_>) -> Vec<Against> {
    let mut found = of_tables(get);
    match get("innodb_flush_log_at_trx_commit").as_deref() {
        // 3 is MariaDB's: flushed at prepare and at commit.
        Some("1" | "3") => {}
        Some(value) => found.push(lost(format!(
            "innodb_flush_log_at_trx_commit={value}: the last commits may be lost"
        ))),
        None => found.push(unread("innodb_flush_log_at_trx_commit")),
    }
    let log_bin = get("log_bin").is_some_and(|value| !is_off(&value));
    match get("sync_binlog").as_deref() {
        Some("1") | None => {}
        Some(value) if log_bin => found.push(lost(format!(
            "sync_binlog={value} with a binary log: recovery undoes what the log lacks"
        ))),
        Some(_) => {}
    }
    if let Some(method) = get("innodb_flush_method") {
        let careless = ["nosync", "littlesync"].contains(&method.as_str());
        found.extend(careless.then(|| lost(format!("innodb_flush_method={method}"))));
    }
    if let Some(value) = get("innodb_doublewrite") {
        let torn = is_off(&value) || value == "detect_only";
        found.extend(torn.then(|| {
            lost(format!(
                "innodb_doublewrite={value}: a page torn by a power cut stays torn"
            ))
        }));
    }
    found
}

/// Tables of the default engine: InnoDB syncs at a commit, Aria its log at the end of
/// each statement (counted: as many flushes as InnoDB), MyISAM and the like never.
fn of_tables(get: &Get<'_>) -> Vec<Against> {
    match get("default_storage_engine").as_deref() {
        Some("innodb") | None => Vec::new(),
        Some("rocksdb") => vec![Against::Unseen(
            "what RocksDB tables sync and when is not known".into(),
        )],
        Some("aria") => match get("aria_group_commit").as_deref() {
            Some("soft") => vec![lost("aria_group_commit=soft: the last commits may be lost")],
            _ => Vec::new(),
        },
        Some(engine) => vec![lost(format!("{engine} tables: nothing is synced"))],
    }
}
