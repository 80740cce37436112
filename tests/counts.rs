//! What each file system asks of its device for one commit: 8 KiB written and synced, 300
//! times appended and 300 times overwritten, on an image in memory. Flushes are exact,
//! bytes depend a little on how the image was used before.
//!
//! The numbers are those of one kernel: on another the test prints what it finds.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

#[path = "common/made.rs"]
mod place;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use mountmark::target::{BlockStat, FsType, Image, syncfs};
use place::{Place, can_make, mounted, private};

/// The kernel that the numbers were taken on.
const KERNEL: &str = "6.18.";
const COMMITS: u64 = 300;
/// Bytes may be off by this part.
const BYTES: f64 = 0.12;
/// A row is tried so often; the best try counts.
const TRIES: usize = 3;

/// KiB and flushes of one commit.
type Commit = (f64, f64);
/// A target, and its commits appended and overwritten.
type Row = (&'static str, Commit, Commit);

const EXT: [Row; 14] = [
    ("ext2", (15.9, 1.0), (8.0, 1.0)),
    ("ext3:data=ordered", (31.9, 2.0), (8.0, 1.0)),
    ("ext3:data=writeback", (31.9, 2.0), (8.0, 1.0)),
    ("ext3:data=journal", (39.9, 3.0), (24.1, 3.0)),
    ("ext4:data=ordered", (27.9, 2.0), (8.0, 1.0)),
    ("ext4:data=writeback", (27.9, 2.0), (8.0, 1.0)),
    ("ext4:nodelalloc", (27.9, 2.0), (8.0, 1.0)),
    ("ext4:data=journal", (36.0, 3.0), (24.1, 3.0)),
    ("ext4:nobarrier", (27.9, 0.0), (8.0, 0.0)),
    ("ext4:sync", (27.9, 3.0), (8.0, 2.0)),
    (
        "ext4:data=writeback,journal_async_commit",
        (27.9, 1.0),
        (8.0, 1.0),
    ),
    ("ext4:fast_commit", (12.2, 2.0), (8.3, 1.07)),
    ("ext4:^has_journal", (12.0, 1.0), (8.0, 1.0)),
    ("ext4", (27.9, 2.0), (8.0, 1.0)),
];

const XFS: [Row; 1] = [("xfs", (9.0, 2.0), (8.0, 1.0))];

const BTRFS: [Row; 5] = [
    ("btrfs", (110.0, 2.0), (139.0, 2.0)),
    ("btrfs:nodatacow", (96.0, 2.0), (108.0, 2.0)),
    ("btrfs:compress=zstd", (104.0, 2.0), (136.0, 2.0)),
    ("btrfs:nobarrier", (110.0, 0.0), (139.0, 0.0)),
    ("btrfs:notreelog", (218.0, 2.0), (284.0, 2.0)),
];

/// Mounts afresh, so that every try begins alike, and counts.
fn measured(text: &str, image: &Image, at: &Path) -> [Commit; 2] {
    let mut guard = mounted(text, image.device(), at).unwrap();
    // Every block differs, as a database's do: zstd must find nothing to save.
    let mut block = [0u8; 8192];
    let mut state = 7u32;
    for byte in &mut block {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    let path = at.join("wal");
    let file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(&path)
        .unwrap();
    syncfs(at).unwrap();
    let stat = BlockStat::open(image.device()).unwrap();
    let figures = [(); 2].map(|()| {
        let before = stat.read().unwrap();
        for number in 0..COMMITS {
            file.write_all_at(&block, number * 8192).unwrap();
            file.sync_data().unwrap();
        }
        let used = stat.read().unwrap().since(before);
        let kib = used.written_bytes as f64 / 1024.0 / COMMITS as f64;
        (kib, used.flushes as f64 / COMMITS as f64)
    });
    drop(file);
    assert!(guard.remount().unwrap());
    assert_eq!(fs::metadata(path).unwrap().len(), COMMITS * 8192);
    figures
}

/// By how much a try is off: the bytes as a part of what is allowed (1 is just so), and
/// whether the flushes are right. Those of fast commits depend on its timer.
fn off(text: &str, (kib, flushes): Commit, (want_kib, want_flushes): Commit) -> f64 {
    let allowed = match text.contains("fast_commit") {
        true => 0.1,
        // The timer of the journal may fall into the 300.
        false => 1.5 / COMMITS as f64,
    };
    match (flushes - want_flushes).abs() <= allowed {
        true => (kib / want_kib - 1.0).abs() / BYTES,
        false => f64::INFINITY,
    }
}

fn check(fs: FsType, rows: &[Row]) {
    if !can_make(fs) {
        return;
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let known = release.starts_with(KERNEL);
    if !known {
        eprintln!("kernel {}: the counts are printed only", release.trim());
    }
    private(|| {
        let place = Place::new();
        let image = place.image(512);
        let at = place.mount_point();
        let mut wrong = Vec::new();
        for (text, append, overwrite) in rows {
            let mut best = f64::INFINITY;
            let mut seen = Vec::new();
            for _ in 0..TRIES {
                let [appended, overwritten] = measured(text, &image, &at);
                seen.push((appended, overwritten));
                let worst = off(text, appended, *append).max(off(text, overwritten, *overwrite));
                best = best.min(worst);
                if best <= 1.0 {
                    break;
                }
            }
            println!("{text}: {seen:?}, wanted {append:?} {overwrite:?}");
            if best > 1.0 {
                wrong.push(format!("{text}: {seen:?}, wanted {append:?} {overwrite:?}"));
            }
        }
        assert!(wrong.is_empty() || !known, "{}", wrong.join("\n"));
    });
}

#[test]
fn commits_on_ext() {
    check(FsType::Ext4, &EXT);
}

#[test]
fn commits_on_xfs() {
    check(FsType::Xfs, &XFS);
}

#[test]
fn commits_on_btrfs() {
    check(FsType::Btrfs, &BTRFS);
}
