//! What servers need to be told to live within a memory limit, and where they keep data
//! and logs: the same settings for every cell that is to differ in memory alone.

use std::fs;
use std::path::Path;

use super::{Kind, Settings};
use crate::units::Bytes;

impl Kind {
    /// Settings of a server that is to start and work within `limit`.
    ///
    /// PostgreSQL gets a quarter as shared buffers, as its manual advises, and work memory
    /// that several operations at a time can have. InnoDB gets half of what the server
    /// itself (some 48 MiB) leaves, and reads through the page cache (`fsync`): with
    /// `O_DIRECT` it would use no memory but its pool, whatever the limit. What is allocated
    /// at the start whether it is used or not is made small.
    pub fn within(self, limit: Bytes) -> Settings {
        let mib = limit.0 >> 20;
        let kb =
            |bytes: u64, least: u64, most: u64| format!("{}kB", (bytes >> 10).clamp(least, most));
        let pairs = match self {
            Kind::Sqlite | Kind::Null => Vec::new(),
            Kind::Postgres => vec![
                ("shared_buffers", kb(limit.0 / 4, 1024, u64::MAX)),
                ("work_mem", kb(limit.0 / 64, 64, 4096)),
                ("maintenance_work_mem", kb(limit.0 / 16, 1024, 65536)),
                ("effective_cache_size", kb(limit.0 / 4 * 3, 1024, u64::MAX)),
                // Its compiler alone takes some 30 MiB of each session that uses it.
                ("jit", if mib < 512 { "off" } else { "on" }.to_string()),
            ],
            Kind::Mariadb | Kind::Mysql => {
                let pool = (mib.saturating_sub(48) / 2).max(8);
                let mut pairs = vec![
                    ("innodb_buffer_pool_size", format!("{pool}M")),
                    ("innodb_flush_method", "fsync".to_string()),
                    ("innodb_log_buffer_size", "2M".to_string()),
                    ("key_buffer_size", format!("{}M", (pool / 8).max(1))),
                    ("performance_schema", "OFF".to_string()),
                    ("table_open_cache", mib.clamp(64, 2000).to_string()),
                ];
                if self == Kind::Mariadb {
                    pairs.push((
                        "aria_pagecache_buffer_size",
                        format!("{}M", (pool / 8).max(1)),
                    ));
                }
                pairs
            }
        };
        let pairs = pairs.into_iter();
        pairs
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }

    /// Whether two spellings name one setting of this engine.
    pub fn same_setting(self, a: &str, b: &str) -> bool {
        let canonical = |name: &str| name.trim_start_matches('-').replace('-', "_");
        canonical(a).eq_ignore_ascii_case(&canonical(b))
    }

    /// Bytes that the engine itself keeps data in, by its settings as read back: shared
    /// buffers, pools, SQLite's page cache of one session.
    pub fn cache(self, settings: &Settings) -> Option<Bytes> {
        let number = |name: &str| settings.get(name)?.trim().parse::<i64>().ok();
        let bytes = match self {
            Kind::Postgres => return size(settings.get("shared_buffers")?),
            Kind::Mariadb | Kind::Mysql => {
                let pools = [
                    "innodb_buffer_pool_size",
                    "key_buffer_size",
                    "aria_pagecache_buffer_size",
                ];
                pools.iter().filter_map(|name| number(name)).sum()
            }
            // A negative number counts KiB, a positive one pages.
            Kind::Sqlite => match number("cache_size")? {
                kib if kib < 0 => kib.checked_neg()? << 10,
                pages => pages * number("page_size")?,
            },
            Kind::Null => return None,
        };
        u64::try_from(bytes).ok().map(Bytes)
    }

    /// Bytes of the logs among the files in the data directory `data`: they are written
    /// once and not read again.
    pub fn logs(self, data: &Path) -> u64 {
        let below = |dir: &str| sizes(&data.join(dir), |_| true);
        match self {
            Kind::Postgres => below("pg_wal"),
            Kind::Mariadb | Kind::Mysql => {
                let log = |name: &str| {
                    name.starts_with("ib_logfile")
                        || name.starts_with("aria_log.")
                        || name.contains("-bin.")
                };
                sizes(data, log) + below("#innodb_redo")
            }
            Kind::Sqlite => sizes(data, |name| {
                name.ends_with("-wal") || name.ends_with("-journal")
            }),
            Kind::Null => 0,
        }
    }
}

/// `16MB` as PostgreSQL prints it.
fn size(text: &str) -> Option<Bytes> {
    text.trim().parse().ok()
}

/// Bytes allocated to the files in `dir` whose names are `wanted`.
fn sizes(dir: &Path, wanted: impl Fn(&str) -> bool) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let wanted = entries.filter(|entry| wanted(&entry.file_name().to_string_lossy()));
    let files = wanted.filter_map(|entry| entry.metadata().ok());
    files
        .filter(|m| m.is_file())
        .map(|m| m.blocks() * 512)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_in_64_mib_is_given_and_more_memory_gives_more() {
        let small = Kind::Postgres.within(Bytes::mib(64));
        assert_eq!(small["shared_buffers"], "16384kB");
        assert_eq!(small["maintenance_work_mem"], "4096kB");
        let large = Kind::Postgres.within(Bytes::mib(2048));
        assert_eq!(large["shared_buffers"], "524288kB");
        assert_eq!(large["work_mem"], "4096kB");
        let small = Kind::Mariadb.within(Bytes::mib(64));
        assert_eq!(small["innodb_buffer_pool_size"], "8M");
        assert_eq!(small["innodb_flush_method"], "fsync");
        assert_eq!(
            Kind::Mariadb.within(Bytes::mib(2048))["innodb_buffer_pool_size"],
            "1000M"
        );
        let mysql = Kind::Mysql.within(Bytes::mib(64));
        assert!(!mysql.contains_key("aria_pagecache_buffer_size"));
        assert!(Kind::Sqlite.within(Bytes::mib(64)).is_empty());
    }

    #[test]
    fn caches_are_read_as_the_engines_print_them() {
        let settings = |pairs: &[(&str, &str)]| -> Settings {
            let pairs = pairs.iter();
            pairs.map(|(k, v)| (k.to_string(), v.to_string())).collect()
        };
        let of = |kind: Kind, pairs: &[(&str, &str)]| kind.cache(&settings(pairs)).map(|b| b.0);
        assert_eq!(
            of(Kind::Postgres, &[("shared_buffers", "16MB")]),
            Some(16 << 20)
        );
        let pools = [
            ("innodb_buffer_pool_size", "8388608"),
            ("key_buffer_size", "1048576"),
        ];
        assert_eq!(of(Kind::Mariadb, &pools), Some(9 << 20));
        assert_eq!(
            of(Kind::Sqlite, &[("cache_size", "-2000")]),
            Some(2000 << 10)
        );
        let pages = [("cache_size", "10"), ("page_size", "4096")];
        assert_eq!(of(Kind::Sqlite, &pages), Some(40960));
        assert_eq!(of(Kind::Null, &[]), None);
    }

    #[test]
    fn logs_are_told_from_data() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(dir.path().join(name), vec![1; 8192]).unwrap();
        ["ib_logfile0", "ibdata1", "main.db", "main.db-wal"]
            .iter()
            .for_each(|n| write(n));
        assert_eq!(Kind::Mariadb.logs(dir.path()), 8192);
        assert_eq!(Kind::Sqlite.logs(dir.path()), 8192);
        assert_eq!(Kind::Postgres.logs(dir.path()), 0);
    }
}
