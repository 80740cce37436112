//! Made file systems, images, working directories and the ledger, for real: as root on
//! loop devices. Each test mounts in the private namespace of a thread of its own.
//!
//! Without root, or without a mkfs, a test prints that it was skipped; it fails instead
//! where MOUNTMARK_REQUIRE (words separated by commas) names the file system or `root`.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

#[path = "common/made.rs"]
mod place;

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mountmark::error::{Result, bail, one_line};
use mountmark::host::ledger::{Item, Ledger, leftovers_in};
use mountmark::host::marker;
use mountmark::target::{
    DirtyGauge, DirtyLimit, FsType, Image, WorkDir, block_counters, check_space, claim,
    dirty_bytes, mountinfo, namespace, snapshot, syncfs, wait_clean,
};
use mountmark::units::Bytes;
use place::{Place, can_make, made, mounted, private, skip};

fn no_loop_device_on(path: &Path) -> bool {
    let attached = fs::read_dir("/sys/block").unwrap().flatten().any(|entry| {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file"));
        backing.is_ok_and(|text| text.trim_end().starts_with(&*path.to_string_lossy()))
    });
    !attached
}

/// Every row must mount with its options in force, survive a remount, and unmount.
fn all_mount(fs: FsType, mib: u64, rows: &[&str]) {
    if !can_make(fs) {
        return;
    }
    private(|| {
        let place = Place::new();
        let image = place.image(mib);
        let at = place.mount_point();
        for row in rows {
            let guard = mounted(row, image.device(), &at)
                .unwrap_or_else(|error| panic!("{row}: {}", one_line(&error)));
            assert!(!guard.effective_options().unwrap().is_empty(), "{row}");
            assert_eq!(guard.source(), image.device().to_string_lossy());
            guard
                .unmount()
                .unwrap_or_else(|error| panic!("{row}: {}", one_line(&error)));
        }
    });
}

/// Every row must fail, with these words in the error.
fn all_fail(fs: FsType, mib: u64, rows: &[(&str, &str)]) {
    if !can_make(fs) {
        return;
    }
    private(|| {
        let place = Place::new();
        let image = place.image(mib);
        let at = place.mount_point();
        for (row, words) in rows {
            let error = match mounted(row, image.device(), &at) {
                Ok(_) => panic!("{row} mounted"),
                Err(error) => one_line(&error),
            };
            println!("{row}: {error}");
            assert!(error.contains(words), "{row}: {error}");
            assert!(
                mountinfo::read().unwrap().iter().all(|m| m.at != at),
                "{row}"
            );
        }
    });
}

#[test]
fn ext2_and_ext3_options_mount() {
    all_mount(
        FsType::Ext2,
        16,
        &["ext2", "ext2:nobarrier", "ext2:noatime"],
    );
    all_mount(
        FsType::Ext3,
        16,
        &[
            "ext3",
            "ext3:data=ordered",
            "ext3:data=writeback",
            "ext3:data=journal",
            "ext3:nobarrier",
            "ext3:barrier=0",
            "ext3:commit=30",
            "ext3:noatime",
            "ext3:sync",
            "ext3:data=ordered,extents",
        ],
    );
}

#[test]
fn ext4_options_mount() {
    all_mount(
        FsType::Ext4,
        32,
        &[
            "ext4",
            "ext4:data=ordered",
            "ext4:data=writeback",
            "ext4:data=journal",
            "ext4:delalloc",
            "ext4:nodelalloc",
            "ext4:nobarrier",
            "ext4:barrier",
            "ext4:barrier=0",
            "ext4:barrier=1",
            "ext4:commit=5",
            "ext4:commit=30",
            "ext4:noatime",
            "ext4:nodiratime",
            "ext4:relatime",
            "ext4:strictatime",
            "ext4:noatime,nodiratime,nosuid,nodev,noexec",
            "ext4:sync",
            "ext4:dirsync",
            "ext4:lazytime",
            "ext4:discard",
            "ext4:nodiscard",
            "ext4:noauto_da_alloc",
            "ext4:dioread_nolock",
            "ext4:dioread_lock",
            "ext4:norecovery,ro",
            "ext4:noload,ro",
            "ext4:stripe=16",
            "ext4:nobh",
            "ext4:i_version",
            "ext4:data=writeback,journal_async_commit",
            "ext4:journal_checksum",
            "ext4:max_batch_time=0,min_batch_time=0",
            "ext4:errors=remount-ro",
            "ext4:^has_journal",
            "ext4:^extents",
            "ext4:^extents,data=journal",
            "ext4:fast_commit",
            "ext4:bigalloc",
            "ext4:mkfs.b=1024",
            "ext4:stride=16,stripe_width=64",
            "ext4:^metadata_csum,inline_data",
        ],
    );
}

#[test]
fn xfs_options_mount() {
    all_mount(
        FsType::Xfs,
        304,
        &[
            "xfs",
            "xfs:logbsize=256k",
            "xfs:logbufs=4",
            "xfs:allocsize=64m",
            "xfs:noalign",
            "xfs:noatime",
            "xfs:lazytime",
            "xfs:wsync",
            "xfs:discard",
            "xfs:nodiscard",
            "xfs:inode32",
            "xfs:inode64",
            "xfs:largeio",
            "xfs:swalloc",
            "xfs:filestreams",
            "xfs:sync",
            "xfs:norecovery,ro",
            "xfs:attr2",
            "xfs:ikeep",
            "xfs:reflink=0",
            "xfs:mkfs.l=size=64m",
            "xfs:^finobt,reflink=0,rmapbt=0,bigtime=0,inobtcount=0,agcount=2",
        ],
    );
}

#[test]
fn btrfs_options_mount() {
    all_mount(
        FsType::Btrfs,
        128,
        &[
            "btrfs",
            "btrfs:nodatacow",
            "btrfs:nodatasum",
            "btrfs:datacow",
            "btrfs:compress",
            "btrfs:compress=zstd",
            "btrfs:compress=zstd:9",
            "btrfs:compress=lzo",
            "btrfs:compress=none",
            "btrfs:compress-force=zstd",
            "btrfs:nobarrier",
            "btrfs:barrier",
            "btrfs:notreelog",
            "btrfs:flushoncommit",
            "btrfs:ssd",
            "btrfs:nossd",
            "btrfs:autodefrag",
            "btrfs:commit=5",
            "btrfs:commit=30",
            "btrfs:discard",
            "btrfs:discard=async",
            "btrfs:nodiscard",
            "btrfs:max_inline=0",
            "btrfs:max_inline=2048",
            "btrfs:thread_pool=4",
            "btrfs:space_cache=v2",
            "btrfs:^no-holes",
            "btrfs:mixed",
            "btrfs:mkfs.m=single",
            "btrfs:csum=xxhash",
        ],
    );
}

#[test]
fn ext_options_that_cannot_be_had_are_told_in_the_kernels_words() {
    all_fail(
        FsType::Ext4,
        32,
        &[
            ("ext4:data=journl", "Bad value for 'data'"),
            ("ext4:bogus", "Unknown parameter 'bogus'"),
            ("ext4:noextents", "Unknown parameter 'noextents'"),
            (
                "ext4:data=journal,delalloc",
                "can't mount with both data=journal and delalloc",
            ),
            (
                "ext4:journal_async_commit",
                "can't mount with journal_async_commit in data=ordered mode",
            ),
            (
                "ext4:^has_journal,data=writeback",
                "can't mount with data=, fs mounted w/o journal",
            ),
            ("ext4:dax", "DAX unsupported by block device"),
            ("ext4:mkfs.b=65536", "bad block size"),
            ("ext4:mkfs.bogus", "Invalid filesystem option set"),
        ],
    );
    all_fail(
        FsType::Ext3,
        16,
        &[("ext3:journal_checksum", "incompatible with ext3")],
    );
}

#[test]
fn xfs_and_btrfs_options_that_cannot_be_had_are_told() {
    all_fail(
        FsType::Xfs,
        304,
        &[
            ("xfs:barrier", "Unknown parameter 'barrier'"),
            ("xfs:nobarrier", "Unknown parameter 'nobarrier'"),
            ("xfs:logdev=/dev/no-such-device", "No such file"),
            ("xfs:dax", "'dax'"),
        ],
    );
    all_fail(FsType::Xfs, 64, &[("xfs", "300MB")]);
    all_fail(
        FsType::Btrfs,
        128,
        &[
            ("btrfs:space_cache=v1", "space"),
            ("btrfs:inode_cache", "inode_cache"),
            (
                "btrfs:nodatacow,compress=zstd",
                "took 'nodatacow' and dropped it",
            ),
            ("btrfs:compress=zstd,nodatacow", "'compress=zstd'"),
        ],
    );
}

#[test]
fn tmpfs_mounts_without_a_device() {
    private(|| {
        let place = Place::new();
        let at = place.mount_point();
        for row in [
            "tmpfs",
            "tmpfs:size=16m",
            "tmpfs:size=16m,mode=0700,noatime",
        ] {
            let mut guard = made(row).mount(None, &at).unwrap();
            fs::write(at.join("file"), "kept").unwrap();
            assert_eq!(guard.fs_type(), "tmpfs");
            assert!(!guard.remount().unwrap());
            assert_eq!(fs::read(at.join("file")).unwrap(), b"kept");
            assert_eq!(dirty_bytes(&at), Some(0));
            guard.unmount().unwrap();
        }
        let guard = made("tmpfs").mount(None, &at).unwrap();
        assert_eq!(guard.added_options(), ["size=50%"]);
        drop(guard);
        assert!(made("tmpfs:bogus").mount(None, &at).is_err());
    });
}

#[test]
fn remarks_tell_what_the_label_does_not() {
    if !can_make(FsType::Ext3) || !can_make(FsType::Btrfs) {
        return;
    }
    private(|| {
        let place = Place::new();
        let image = place.image(128);
        let at = place.mount_point();
        let told = |text: &str| {
            let guard = mounted(text, image.device(), &at).unwrap();
            guard.remarks().join("\n")
        };
        assert!(told("ext3").contains("ext3 is served by the ext4 driver"));
        assert!(told("ext3:data=ordered,extents").contains("mounted as ext4"));
        assert!(told("ext4:nobh").contains("'nobh' and ignores it"));
        let guard = mounted("btrfs", image.device(), &at).unwrap();
        assert_eq!(guard.added_options(), ["nodiscard"]);
        let effective = guard.effective_options().unwrap();
        assert!(!effective.iter().any(|o| o.starts_with("discard")));
    });
}

#[test]
fn an_image_leaves_nothing_behind() {
    if !can_make(FsType::Ext4) {
        return;
    }
    private(|| {
        let place = Place::new();
        let one = place.image(16);
        let two = place.image(8);
        assert_ne!(one.device(), two.device());
        let facts = one.facts().clone();
        assert!(facts.direct_io);
        assert!(facts.in_memory);
        assert_eq!(facts.holder.fs_type, "tmpfs");
        assert_eq!(facts.size, Bytes::mib(16));
        assert_eq!(facts.device.size, Bytes::mib(16));
        assert_eq!(facts.device.logical_block_size, 512);
        assert_eq!(facts.device.write_cache, "write back");
        let written = fs::metadata(&facts.path).unwrap();
        assert_eq!(written.permissions().mode() & 0o777, 0o600);
        // mkfs must not punch holes into it.
        made("ext4").format(one.device()).unwrap();
        use std::os::unix::fs::MetadataExt;
        assert_eq!(fs::metadata(&facts.path).unwrap().blocks() * 512, 16 << 20);
        one.remove().unwrap();
        drop(two);
        assert!(!facts.path.exists());
        assert!(no_loop_device_on(place.work.path()));
        let path = place.work.path().to_path_buf();
        let state = place.ledger.path();
        drop(place);
        assert!(!path.exists());
        assert!(!state.exists());
    });
}

#[test]
fn an_image_on_disk_is_wholly_allocated_and_direct() {
    private(|| {
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let place = Place::new();
        let run_id = place.ledger.run_id();
        let work = WorkDir::create(parent.path(), &run_id, &place.ledger).unwrap();
        let image = Image::create(&work, Bytes::mib(9), &place.ledger, &|| Ok(())).unwrap();
        let facts = image.facts();
        use std::os::unix::fs::MetadataExt;
        let allocated = fs::metadata(&facts.path).unwrap().blocks() * 512;
        assert!(allocated >= 9 << 20, "{allocated}");
        if matches!(facts.holder.fs_type.as_str(), "ext4" | "xfs") {
            assert!(facts.direct_io, "{:?}", facts.remarks);
        }
        let mut tail = [0u8; 4096];
        let file = fs::File::open(&facts.path).unwrap();
        file.read_exact_at(&mut tail, (9 << 20) - 4096).unwrap();
        assert!(tail.iter().any(|byte| *byte != 0));
        let path = image.keep().unwrap();
        assert!(path.exists());
        assert!(no_loop_device_on(&path));
    });
}

#[test]
fn an_image_that_cannot_be_is_refused_before_anything_is_made() {
    private(|| {
        let place = Place::new();
        let fails = |size, tick: &dyn Fn() -> Result<()>| {
            one_line(&Image::create(&place.work, size, &place.ledger, tick).unwrap_err())
        };
        assert!(fails(Bytes(1 << 50), &|| Ok(())).contains("must stay free"));
        assert!(fails(Bytes(1000), &|| Ok(())).contains("multiple of 1M"));
        assert!(fails(Bytes::mib(8), &|| bail!("interrupted")).contains("interrupted"));
        assert_eq!(fs::read_dir(place.work.path()).unwrap().count(), 1);
        assert!(check_space(place.work.path(), Bytes::mib(1)).is_ok());
    });
}

/// By how much the kernel's count per device may be off: a batch of pages a CPU.
fn dirty_slack() -> u64 {
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    cpus * 8 * (1 + u64::from(cpus.ilog2())) * 4096
}

#[test]
fn the_dirty_data_of_one_file_system_is_seen() {
    for fs in [FsType::Ext4, FsType::Btrfs] {
        if !can_make(fs) {
            return;
        }
    }
    private(|| {
        let place = Place::new();
        let image = place.image(128);
        let at = place.mount_point();
        for text in ["ext4", "btrfs"] {
            let _guard = mounted(text, image.device(), &at).unwrap();
            syncfs(&at).unwrap();
            let gauge = DirtyGauge::open(&at);
            fs::write(at.join("file"), vec![7; 8 << 20]).unwrap();
            let dirty = gauge.read().unwrap();
            let wanted = (8 << 20) - dirty_slack()..(10 << 20) + dirty_slack();
            assert!(wanted.contains(&dirty), "{text}: {dirty}");
            let dir = at.join("dir");
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("file"), vec![7; 1 << 20]).unwrap();
            assert_eq!(dirty_bytes(&dir), Some(1 << 20), "{text}");
            syncfs(&at).unwrap();
            let left = wait_clean(&at, Duration::from_secs(5)).unwrap();
            assert!(left <= (64 << 10) + dirty_slack(), "{text}: {left}");
            assert_eq!(dirty_bytes(&dir), Some(0), "{text}");
        }
    });
}

#[test]
fn dirty_data_can_be_limited_and_the_limit_goes() {
    if !can_make(FsType::Ext4) {
        return;
    }
    private(|| {
        let place = Place::new();
        let image = place.image(32);
        let at = place.mount_point();
        let _guard = mounted("ext4", image.device(), &at).unwrap();
        let number = image.facts().device.number;
        let strict = format!("/sys/class/bdi/{}:{}/strict_limit", number.0, number.1);
        let limit = DirtyLimit::set(&at, Bytes::mib(64), &place.ledger).unwrap();
        let in_force = limit.in_force().0;
        assert!(in_force.abs_diff(64 << 20) < 1 << 20, "{in_force}");
        assert_eq!(fs::read_to_string(&strict).unwrap().trim(), "1");
        drop(limit);
        assert_eq!(fs::read_to_string(&strict).unwrap().trim(), "0");
        assert!(DirtyLimit::set(place.work.path(), Bytes::mib(64), &place.ledger).is_err());
    });
}

#[test]
fn mounted_disks_are_listed_once() {
    let found = mountinfo::measurable().unwrap();
    for mount in &found {
        assert!(mount.device().is_some());
        assert!(!mount.effective_options().is_empty());
        assert_eq!(found.iter().filter(|m| m.source == mount.source).count(), 1);
    }
}

#[test]
fn a_mount_in_use_says_by_whom() {
    if !can_make(FsType::Ext4) {
        return;
    }
    private(|| {
        let place = Place::new();
        let image = place.image(16);
        let at = place.mount_point();
        let guard = mounted("ext4", image.device(), &at).unwrap();
        let error = one_line(&made("xfs").format(image.device()).unwrap_err());
        assert!(error.contains("in use (mounted on"), "{error}");
        let mut child = Command::new("sleep")
            .arg("60")
            .current_dir(&at)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let error = one_line(&guard.unmount().unwrap_err());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(error.contains("sleep (pid"), "{error}");
    });
}

#[test]
fn a_device_is_claimed_only_without_foreign_data() {
    if !can_make(FsType::Ext4) {
        return;
    }
    private(|| {
        let place = Place::new();
        let image = place.image(16);
        let device = image.device().to_path_buf();
        let refused = |destroy: &[PathBuf]| one_line(&claim(&device, destroy).unwrap_err());
        // The scrambled image counts as unknown data.
        assert!(refused(&[]).contains("unknown kind"));
        let foreign = Command::new("mkfs.ext4")
            .args(["-q", "-F", "-L", "photos"])
            .arg(&device)
            .status();
        assert!(foreign.unwrap().success());
        let error = refused(&[]);
        assert!(error.contains("ext4 with the label 'photos'"), "{error}");
        let named = place.work.path().join("alias");
        symlink(&device, &named).unwrap();
        claim(&device, &[named]).unwrap();
        let guard = mounted("ext4", &device, &place.mount_point()).unwrap();
        assert!(refused(std::slice::from_ref(&device)).contains("never overwritten"));
        guard.unmount().unwrap();
        claim(&device, &[]).unwrap();
        assert!(block_counters(&device).unwrap().written_bytes > 0);
    });
}

#[test]
fn a_snapshot_is_restored_on_every_file_system() {
    private(|| {
        let place = Place::new();
        let from = place.work.path().join("data");
        fs::create_dir_all(from.join("base/1")).unwrap();
        fs::write(from.join("base/1/t"), vec![1; 100_000]).unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(&from, Some(65534), Some(65534)).unwrap();
        let archive = place.work.path().join("data.tar");
        snapshot::pack(&from, &archive).unwrap();
        let image = place.image(304);
        let at = place.mount_point();
        for text in ["ext2", "ext4:data=journal", "xfs", "btrfs:nodatacow"] {
            if !can_make(made(text).fs) {
                continue;
            }
            let mut guard = mounted(text, image.device(), &at).unwrap();
            let into = at.join("data");
            snapshot::restore(&archive, &into).unwrap();
            syncfs(&at).unwrap();
            assert!(guard.remount().unwrap());
            let meta = fs::metadata(&into).unwrap();
            use std::os::unix::fs::MetadataExt;
            assert_eq!((meta.uid(), meta.mode() & 0o777), (65534, 0o700));
            assert_eq!(fs::read(into.join("base/1/t")).unwrap().len(), 100_000);
            snapshot::drop_cached(&into).unwrap();
        }
    });
}

#[test]
fn a_working_directory_takes_only_itself_away() {
    let parent = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_in(state.path(), "r1").unwrap();
    let one = WorkDir::create(parent.path(), "r1", &ledger).unwrap();
    let two = WorkDir::create(parent.path(), "r1", &ledger).unwrap();
    assert_eq!(one.path().file_name().unwrap(), "mountmark-r1");
    assert_eq!(two.path().file_name().unwrap(), "mountmark-r1-2");
    assert_eq!(
        fs::metadata(one.path()).unwrap().permissions().mode() & 0o777,
        0o700
    );
    // Somebody replaces the second by a directory of his own.
    fs::remove_dir_all(two.path()).unwrap();
    fs::create_dir(two.path()).unwrap();
    fs::write(two.path().join("thesis"), "x").unwrap();
    let kept = two.path().to_path_buf();
    let error = one_line(&two.remove().unwrap_err());
    assert!(error.contains("left alone"), "{error}");
    assert!(kept.join("thesis").exists());
    let path = one.path().to_path_buf();
    fs::create_dir_all(path.join("a/b/c")).unwrap();
    one.remove().unwrap();
    assert!(!path.exists());
    let error = one_line(&WorkDir::create(Path::new("/proc"), "r1", &ledger).unwrap_err());
    assert!(error.contains("choose a writable one"), "{error}");
    assert!(WorkDir::create(Path::new("/no/such"), "r1", &ledger).is_err());
}

#[test]
fn a_working_directory_is_not_emptied_across_a_mount() {
    private(|| {
        let place = Place::new();
        let at = place.mount_point();
        let guard = made("tmpfs:size=1m").mount(None, &at).unwrap();
        fs::write(at.join("kept"), "x").unwrap();
        let run_id = place.ledger.run_id();
        let error = one_line(&marker::remove_tree(place.work.path(), &run_id).unwrap_err());
        assert!(error.contains("another file system"), "{error}");
        assert!(at.join("kept").exists());
        guard.unmount().unwrap();
    });
}

#[test]
fn what_a_killed_run_left_is_found_and_removed() {
    let parent = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let foreign = parent.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    {
        let ledger = Ledger::open_in(state.path(), "killed").unwrap();
        let note = |item| ledger.note(item).unwrap();
        let path = WorkDir::create(parent.path(), "killed", &ledger)
            .unwrap()
            .keep();
        let image = path.join("disk0.mountmark.img");
        note(Item::Image {
            path: image.clone(),
        });
        fs::write(&image, "x").unwrap();
        note(Item::Image {
            path: path.join("gone.mountmark.img"),
        });
        note(Item::Cgroup {
            path: "/sys/fs/cgroup/mountmark-never-made".into(),
        });
        note(Item::LoopDevice {
            device: "/dev/loop0".into(),
            backing: image,
        });
        let unmarked = parent.path().join("mountmark-killed-2");
        note(Item::Directory {
            path: unmarked.clone(),
        });
        fs::create_dir(unmarked).unwrap();
        assert!(
            leftovers_in(state.path()).unwrap().is_empty(),
            "it still runs"
        );
    }
    let mut found = leftovers_in(state.path()).unwrap();
    assert_eq!(found.len(), 1);
    let leftover = found.remove(0);
    assert_eq!(
        (leftover.run_id.as_str(), leftover.items.len()),
        ("killed", 6)
    );
    assert_eq!(leftover.pid, std::process::id());
    let removed = leftover.clean().unwrap();
    assert_eq!(removed.len(), 3, "{removed:?}");
    assert!(leftovers_in(state.path()).unwrap().is_empty());
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    assert!(foreign.exists());
}

#[test]
fn clean_touches_nothing_that_is_not_provably_ours() {
    let parent = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let dir = parent.path().join("home");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("thesis.mountmark.img"), "x").unwrap();
    {
        let ledger = Ledger::open_in(state.path(), "forged").unwrap();
        for item in [
            Item::Directory { path: dir.clone() },
            Item::Image {
                path: dir.join("thesis.mountmark.img"),
            },
            Item::Cgroup { path: dir.clone() },
        ] {
            ledger.note(item).unwrap();
        }
    }
    let leftover = leftovers_in(state.path()).unwrap().remove(0);
    let error = one_line(&leftover.clean().unwrap_err());
    assert_eq!(error.matches("left alone").count(), 3, "{error}");
    assert!(dir.join("thesis.mountmark.img").exists());
    assert_eq!(
        leftovers_in(state.path()).unwrap().len(),
        1,
        "it stays noted"
    );
}

#[test]
fn a_run_that_ends_well_leaves_no_state_file() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_in(state.path(), "good").unwrap();
    let other = Ledger::open_in(state.path(), "other").unwrap();
    assert!(Ledger::open_in(state.path(), "good").is_err());
    assert!(Ledger::open_in(state.path(), "../evil").is_err());
    let others = ledger.others().unwrap();
    assert_eq!(others.len(), 1);
    assert_eq!(
        (others[0].run_id.as_str(), others[0].pid),
        ("other", std::process::id())
    );
    let clone = ledger.clone();
    let item = clone.note(Item::Directory { path: "/x".into() }).unwrap();
    drop(ledger);
    clone.done(item).unwrap();
    drop(clone);
    drop(other);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

/// A run id of its own for each state directory.
fn victim(state: &Path) -> String {
    let name = state.file_name().unwrap().to_string_lossy();
    format!("victim-{}", name.trim_start_matches('.'))
}

/// The process that [`a_killed_process_is_seen_as_leftover`] kills: not a test itself.
#[test]
fn helper_that_is_killed() {
    let Some(state) = std::env::var_os("MOUNTMARK_TEST_KILLED") else {
        return;
    };
    let state = PathBuf::from(state);
    let run_id = victim(&state);
    let ready = state.join("ready");
    let hold = || {
        let ledger = Ledger::open_in(&state, &run_id).unwrap();
        let work = WorkDir::create(Path::new("/dev/shm"), &run_id, &ledger).unwrap();
        let image = Image::create(&work, Bytes::mib(16), &ledger, &|| Ok(())).unwrap();
        let at = work.path().join("mnt");
        fs::create_dir(&at).unwrap();
        let _guard = mounted("ext4", image.device(), &at).unwrap();
        fs::write(&ready, "").unwrap();
        std::thread::sleep(Duration::from_secs(60));
    };
    namespace::enter_private().unwrap();
    hold();
}

#[test]
fn a_killed_process_is_seen_as_leftover() {
    if !rustix::process::geteuid().is_root() {
        return skip("root", "not root");
    }
    if !can_make(FsType::Ext4) {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "helper_that_is_killed", "--nocapture"])
        .env("MOUNTMARK_TEST_KILLED", state.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..500 {
        if state.path().join("ready").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(leftovers_in(state.path()).unwrap().is_empty(), "it lives");
    child.kill().unwrap();
    child.wait().unwrap();
    let leftover = leftovers_in(state.path()).unwrap().remove(0);
    assert_eq!(leftover.run_id, victim(state.path()));
    let work = Path::new("/dev/shm").join(format!("mountmark-{}", leftover.run_id));
    assert!(work.exists());
    let removed = leftover.clean().unwrap();
    println!("{removed:?}");
    assert!(
        removed.iter().any(|what| what.starts_with("image")),
        "{removed:?}"
    );
    assert!(!work.exists());
    assert!(no_loop_device_on(&work));
}
