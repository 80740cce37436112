//! A memory limit as stored: how it was set, and what it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The memory limit of a case: its method, and what was seen of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// The limit in force, bytes.
    pub limit_bytes: u64,
    /// What set it: `cgroup v1` or `cgroup v2`. The two are not to be compared.
    pub method: String,
    /// Who was limited: `server` or `worker`.
    pub of: String,
    /// How much dirty data were allowed, and by what: in words.
    pub dirty: String,
    /// Dirty data that the device was limited to, bytes; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_limit_bytes: Option<u64>,
    /// Whether writers were throttled, and writes charged, by group: what a file system
    /// must be able to.
    pub writeback_by_group: bool,
    /// Settings of the server that were chosen to fit, and not asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The limit that they were chosen for, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings_for_bytes: Option<u64>,
    /// How often the limit was reached during the work.
    pub reached: u64,
    /// Bytes of files that had to be read again after they had gone; absent where the
    /// kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refault_bytes: Option<u64>,
    /// Time in which some process waited for memory during the work, ns; absent where the
    /// kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_ns: Option<u64>,
    /// Processes killed for want of memory, from start to stop.
    pub oom_kills: u64,
    /// The most that was charged, bytes; absent where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// The most that was seen, by looking four times a second: memory of the processes
    /// themselves, shared memory included, bytes.
    pub own_bytes: u64,
    /// The same of pages of files, bytes.
    pub file_bytes: u64,
    /// The most data that there were, logs apart, bytes; absent where others use the file
    /// system too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_bytes: Option<u64>,
    /// What the engine itself keeps data in (shared buffers, pools), bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
}
