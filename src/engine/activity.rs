//! What a server did on its own behalf while it was under load: its log, its WAL
//! checkpoints, its cleaning. Running counters, used as differences only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The counters of one server at one moment. Which there are depends on engine and
/// version; names are the engine's own (`wal_fpi`, `innodb_os_log_written`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Running counters by the engine's name.
    pub counters: BTreeMap<String, f64>,
    /// Log files that exist, by inode number: a new number is a file that was created, a
    /// new name of an old number one that was recycled.
    pub log_files: BTreeMap<u64, String>,
}

impl Activity {
    /// What happened since `earlier`. Log files become the counters
    /// `log_files_created`, `log_files_recycled` and `log_files_removed`, where any could
    /// be seen.
    pub fn since(&self, earlier: &Activity) -> BTreeMap<String, f64> {
        let mut happened: BTreeMap<String, f64> = self
            .counters
            .iter()
            .filter_map(|(name, now)| Some((name.clone(), now - earlier.counters.get(name)?)))
            .collect();
        if !earlier.log_files.is_empty() {
            let created = self.log_files.keys();
            let created = created.filter(|inode| !earlier.log_files.contains_key(inode));
            let renamed = |(inode, name): &(&u64, &String)| {
                earlier.log_files.get(inode).is_some_and(|old| old != *name)
            };
            let removed = earlier.log_files.keys();
            let removed = removed.filter(|inode| !self.log_files.contains_key(inode));
            for (name, count) in [
                ("log_files_created", created.count()),
                (
                    "log_files_recycled",
                    self.log_files.iter().filter(renamed).count(),
                ),
                ("log_files_removed", removed.count()),
            ] {
                happened.insert(name.to_string(), count as f64);
            }
        }
        happened
    }
}

/// One WAL checkpoint that the server's log tells of. Times are seconds since the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalCheckpoint {
    /// When it began.
    pub started_s: f64,
    /// When it was complete; `None` while it is going on.
    pub ended_s: Option<f64>,
    /// Why, in the server's words (`time`, `wal`, `immediate force wait`).
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_files_are_told_apart_by_inode() {
        let files = |pairs: &[(u64, &str)]| Activity {
            counters: BTreeMap::from([("wal_fpi".to_string(), pairs.len() as f64)]),
            log_files: pairs.iter().map(|(i, n)| (*i, n.to_string())).collect(),
        };
        let before = files(&[(1, "01"), (2, "02"), (3, "03")]);
        let after = files(&[(1, "04"), (2, "02"), (7, "05"), (8, "06")]);
        let happened = after.since(&before);
        assert_eq!(happened["log_files_created"], 2.0);
        assert_eq!(happened["log_files_recycled"], 1.0);
        assert_eq!(happened["log_files_removed"], 1.0);
        assert_eq!(happened["wal_fpi"], 1.0);
        assert!(Activity::default().since(&before).is_empty() || before.log_files.len() == 3);
    }
}
