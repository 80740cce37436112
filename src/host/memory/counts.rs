//! What a group with a memory limit tells, in the words of either version.

use std::fs;
use std::path::Path;

use super::Version;

/// Counters of one group that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// How often the limit was reached and something had to go.
    pub reached: u64,
    /// Pages of files that had to be read again after they had gone; `None` where the
    /// kernel does not count them.
    pub refaults: Option<u64>,
    /// Time in which some task of the group waited for memory, ns; `None` where the kernel
    /// does not count it.
    pub stalled_ns: Option<u64>,
    /// Processes killed for want of memory.
    pub oom_kills: u64,
}

impl MemoryCounts {
    /// What has happened since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        let less = |now: Option<u64>, before: Option<u64>| {
            Some(now?.saturating_sub(before.unwrap_or_default()))
        };
        MemoryCounts {
            reached: self.reached.saturating_sub(earlier.reached),
            refaults: less(self.refaults, earlier.refaults),
            stalled_ns: less(self.stalled_ns, earlier.stalled_ns),
            oom_kills: self.oom_kills.saturating_sub(earlier.oom_kills),
        }
    }
}

impl std::ops::Add for MemoryCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or_default() + b.unwrap_or_default()),
        };
        MemoryCounts {
            reached: self.reached + other.reached,
            refaults: sum(self.refaults, other.refaults),
            stalled_ns: sum(self.stalled_ns, other.stalled_ns),
            oom_kills: self.oom_kills + other.oom_kills,
        }
    }
}

/// What the memory of one group is used for at a moment, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The processes' own, shared memory included: without swap it cannot be taken away.
    pub own: u64,
    /// Pages of files.
    pub files: u64,
    /// The most the group was charged with so far; 0 where the kernel does not tell.
    pub peak: u64,
}

/// The counters of the group in `dir`; `pressure` is a version 2 group with the same
/// processes.
pub(super) fn counts(version: Version, dir: &Path, pressure: Option<&Path>) -> MemoryCounts {
    let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    let stat = text("memory.stat");
    let refaults = field(&stat, "workingset_refault_file")
        // Before 5.9 the two kinds were one.
        .or_else(|| field(&stat, "workingset_refault"));
    let stalled = pressure.and_then(|dir| {
        let text = fs::read_to_string(dir.join("memory.pressure")).ok()?;
        stalled(&text)
    });
    let (reached, oom_kills) = match version {
        Version::V1 => {
            // Where memory and swap together have the same limit, that one is met first.
            let failed = |name: &str| text(name).trim().parse().unwrap_or(0u64);
            (
                Some(failed("memory.failcnt") + failed("memory.memsw.failcnt")),
                field(&text("memory.oom_control"), "oom_kill"),
            )
        }
        Version::V2 => {
            let events = text("memory.events");
            (field(&events, "max"), field(&events, "oom_kill"))
        }
    };
    MemoryCounts {
        reached: reached.unwrap_or_default(),
        refaults,
        stalled_ns: stalled,
        oom_kills: oom_kills.unwrap_or_default(),
    }
}

/// What the group in `dir` holds now.
pub(super) fn usage(version: Version, dir: &Path) -> MemoryUse {
    let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    let stat = text("memory.stat");
    let of = |name: &str| field(&stat, name).unwrap_or_default();
    let number = |name: &str| text(name).trim().parse().unwrap_or_default();
    let shared = of("shmem");
    match version {
        // Both versions count shared memory with the pages of files.
        Version::V1 => MemoryUse {
            own: of("rss") + shared,
            files: of("cache").saturating_sub(shared),
            peak: number("memory.max_usage_in_bytes"),
        },
        Version::V2 => MemoryUse {
            own: of("anon") + shared,
            files: of("file").saturating_sub(shared),
            peak: number("memory.peak"),
        },
    }
}

/// `name VALUE` in a text of such lines.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(' ')?;
        (found == name).then(|| value.trim().parse().ok()).flatten()
    })
}

/// `some … total=MICROSECONDS`.
fn stalled(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let total = some.split("total=").nth(1)?;
    total.trim().parse::<u64>().ok().map(|us| us * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    #[test]
    fn version_1_is_read_in_its_words() {
        let dir = group(&[
            (
                "memory.stat",
                "cache 900\nrss 500\nshmem 300\nworkingset_refault_file 7\ntotal_rss 1\n",
            ),
            ("memory.failcnt", "2\n"),
            ("memory.memsw.failcnt", "10\n"),
            (
                "memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            ),
            ("memory.max_usage_in_bytes", "2000\n"),
        ]);
        let pressure = group(&[("memory.pressure", "some avg10=0.00 total=5\nfull total=4\n")]);
        let found = counts(Version::V1, dir.path(), Some(pressure.path()));
        let wanted = MemoryCounts {
            reached: 12,
            refaults: Some(7),
            stalled_ns: Some(5000),
            oom_kills: 2,
        };
        assert_eq!(found, wanted);
        let used = usage(Version::V1, dir.path());
        assert_eq!((used.own, used.files, used.peak), (800, 600, 2000));
    }

    #[test]
    fn version_2_is_read_in_its_words() {
        let dir = group(&[
            (
                "memory.stat",
                "anon 500\nfile 900\nshmem 300\nworkingset_refault_anon 1\nworkingset_refault_file 7\n",
            ),
            (
                "memory.events",
                "low 0\nhigh 0\nmax 319\noom 3\noom_kill 1\noom_group_kill 0\n",
            ),
            ("memory.peak", "2000\n"),
            ("memory.pressure", "some avg10=0.00 total=9\nfull total=4\n"),
        ]);
        let found = counts(Version::V2, dir.path(), Some(dir.path()));
        assert_eq!((found.reached, found.oom_kills), (319, 1));
        assert_eq!((found.refaults, found.stalled_ns), (Some(7), Some(9000)));
        let used = usage(Version::V2, dir.path());
        assert_eq!((used.own, used.files, used.peak), (800, 600, 2000));
    }

    #[test]
    fn what_is_not_counted_is_absent_and_differences_are_taken() {
        let none = counts(Version::V1, Path::new("/proc/nowhere"), None);
        assert_eq!(
            (none.refaults, none.stalled_ns, none.reached),
            (None, None, 0)
        );
        let at = |n: u64| MemoryCounts {
            reached: n,
            refaults: Some(2 * n),
            stalled_ns: None,
            oom_kills: n,
        };
        assert_eq!(at(5).since(at(2)), at(3));
        assert_eq!(at(5) + at(2), at(7));
    }
}
