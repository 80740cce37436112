//! How an engine's log reaches the disk, as one axis over all engines.

use super::Kind;

impl Kind {
    /// The setting that `--wal-sync` stands for and the values it takes on Linux; `None`
    /// where the engine has no such choice.
    pub fn wal_sync(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Kind::Postgres => Some((
                "wal_sync_method",
                &["fdatasync", "fsync", "open_datasync", "open_sync"],
            )),
            Kind::Mysql | Kind::Mariadb => Some((
                "innodb_flush_method",
                &[
                    "fsync",
                    "O_DSYNC",
                    "littlesync",
                    "nosync",
                    "O_DIRECT",
                    "O_DIRECT_NO_FSYNC",
                ],
            )),
            Kind::Sqlite | Kind::Null => None,
        }
    }

    /// The engine's spelling of a method, if it has it.
    pub fn wal_sync_value(self, method: &str) -> Option<&'static str> {
        let (_, values) = self.wal_sync()?;
        values
            .iter()
            .find(|value| value.eq_ignore_ascii_case(method))
            .copied()
    }
}
