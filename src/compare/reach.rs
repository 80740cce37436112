//! Whether the calls that ought to make data durable reached the device.

use std::fmt;

use crate::record::{DeviceRecord, OperationRecord};

/// What can be said of a shape of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// At least one flush of the device a call was counted.
    Reached,
    /// The kernel knows of no volatile cache: what was written is where it belongs
    /// without a flush, as far as the device told the truth.
    NoCache,
    /// There were fewer flushes than calls: a power failure can take back what the calls
    /// promised.
    NotReached,
    /// There is no block device whose counters could be read.
    Unseen,
    /// The kernel did not take the calls.
    Refused,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reach::Reached => "reached the device",
            Reach::NoCache => "written to a device without a volatile cache",
            Reach::NotReached => "did not reach the device",
            Reach::Unseen => "cannot be seen",
            Reach::Refused => "refused",
        })
    }
}

/// A call this much faster than a bare flush of its device cannot have waited for one.
const CLEARLY: f64 = 0.8;

/// Judges the operations of one shape, one a round. A device that others use too may
/// have been flushed by them: there `Reached` is what was counted, and no proof.
pub fn reach(rounds: &[&OperationRecord], device: Option<&DeviceRecord>) -> Reach {
    if rounds.iter().all(|o| o.refused.is_some()) {
        return Reach::Refused;
    }
    let calls: u64 = rounds.iter().filter_map(|o| o.statements).sum();
    let counted = |o: &&OperationRecord| Some(o.device?.flushes);
    let flushes: Option<u64> = rounds.iter().map(counted).sum();
    match (flushes, device) {
        (None, _) | (_, None) => Reach::Unseen,
        (Some(flushes), _) if flushes >= calls => Reach::Reached,
        (_, Some(device)) if device.write_cache == "write through" => Reach::NoCache,
        _ => Reach::NotReached,
    }
}

/// True when a call took clearly less than the fastest bare flush of the same device;
/// both are medians in nanoseconds.
pub fn faster_than_device(call_ns: f64, bare_ns: f64) -> bool {
    call_ns < bare_ns * CLEARLY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Completeness, CpuRecord, DeviceCountsRecord};

    fn operation(calls: u64, flushes: Option<u64>) -> OperationRecord {
        OperationRecord {
            name: "overwrite 8K fdatasync".into(),
            completeness: Completeness::Complete,
            count: calls,
            planned: calls,
            rows: None,
            statements: Some(calls),
            rows_received: None,
            bytes: None,
            refused: (calls == 0).then(|| "Invalid argument".into()),
            flags: String::new(),
            slices: Vec::new(),
            wall_ns: 1,
            client: CpuRecord::default(),
            server: None,
            device: flushes.map(|flushes| DeviceCountsRecord {
                flushes,
                ..DeviceCountsRecord::default()
            }),
            latency: None,
        }
    }

    #[test]
    fn a_flush_a_call_is_what_counts() {
        let cached = DeviceRecord {
            write_cache: "write back".into(),
            ..DeviceRecord::default()
        };
        let through = DeviceRecord {
            write_cache: "write through".into(),
            ..DeviceRecord::default()
        };
        let of = |calls, flushes, device| reach(&[&operation(calls, flushes)], device);
        assert_eq!(of(100, Some(100), Some(&cached)), Reach::Reached);
        assert_eq!(of(100, Some(201), Some(&cached)), Reach::Reached);
        assert_eq!(of(100, Some(99), Some(&cached)), Reach::NotReached);
        assert_eq!(of(100, Some(0), Some(&through)), Reach::NoCache);
        assert_eq!(of(100, None, Some(&cached)), Reach::Unseen);
        assert_eq!(of(100, None, None), Reach::Unseen);
        assert_eq!(of(0, None, Some(&cached)), Reach::Refused);
        let both = [&operation(100, Some(150)), &operation(100, Some(49))];
        assert_eq!(reach(&both, Some(&cached)), Reach::NotReached);
        assert!(faster_than_device(70.0, 100.0) && !faster_than_device(90.0, 100.0));
    }
}
