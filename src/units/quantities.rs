//! Quantities that are read as running counters and used as differences only.

use serde::{Deserialize, Serialize};

/// CPU time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// Time in user mode, ns.
    pub user_ns: u64,
    /// Time in the kernel on behalf of the process, ns.
    pub system_ns: u64,
}

impl CpuTime {
    /// User and system, ns.
    pub fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// What has been used since `earlier`; a counter that went back gives zero.
    pub fn since(self, earlier: Self) -> Self {
        CpuTime {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

impl std::ops::Add for CpuTime {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        CpuTime {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
        }
    }
}

/// What a block device was asked to do. From `/sys/block/*/stat`: bytes are sectors of
/// 512 whatever the block size; a flush is a PREFLUSH or FUA-emulating request counted
/// in field 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// Bytes read from the device.
    pub read_bytes: u64,
    /// Bytes written to the device.
    pub written_bytes: u64,
    /// Bytes discarded (trimmed).
    pub discarded_bytes: u64,
    /// Cache flushes completed by the device.
    pub flushes: u64,
}

impl DeviceCounters {
    /// What happened since `earlier`; a counter that went back gives zero.
    pub fn since(self, earlier: Self) -> Self {
        DeviceCounters {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            discarded_bytes: self.discarded_bytes.saturating_sub(earlier.discarded_bytes),
            flushes: self.flushes.saturating_sub(earlier.flushes),
        }
    }
}

impl std::ops::Add for DeviceCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        DeviceCounters {
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            discarded_bytes: self.discarded_bytes + other.discarded_bytes,
            flushes: self.flushes + other.flushes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_only() {
        let a = DeviceCounters {
            written_bytes: 4096,
            flushes: 3,
            ..Default::default()
        };
        let b = DeviceCounters {
            written_bytes: 12288,
            flushes: 4,
            ..Default::default()
        };
        assert_eq!(b.since(a).written_bytes, 8192);
        assert_eq!(b.since(a).flushes, 1);
        assert_eq!(a.since(b), DeviceCounters::default());
    }
}
