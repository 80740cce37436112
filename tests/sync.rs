//! Bare sync calls on file systems on an image in memory, where counts are exact.

mod common;

use common::{Place, can_mount, text};
use mountmark::record::{CaseRecord, OperationRecord, Outcome};
use mountmark::target::{FsType, probe};

fn measured(place: &Place, args: &[&str]) -> Vec<CaseRecord> {
    let output = place.run(args).output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
    place.results().cases
}

fn find<'c>(cases: &'c [CaseRecord], target: &str, name: &str) -> &'c OperationRecord {
    let case = cases
        .iter()
        .find(|c| c.case.target == target)
        .expect("the case");
    assert_eq!(case.outcome, Outcome::Measured);
    let mut operations = case.phases[0].operations.iter();
    operations.find(|o| o.name == name).expect("the shape")
}

/// Flushes a call; a journal commit of its own may come in between now and then.
fn flushes(operation: &OperationRecord) -> u64 {
    let flushes = operation.device.expect("a device").flushes;
    let calls = operation.statements.expect("calls");
    let spare = flushes % calls;
    assert!(spare * 3 <= calls, "{} of {}", flushes, operation.name);
    flushes / calls
}

/// The report of the newest run.
fn report(place: &Place) -> String {
    let mut command = place.command();
    command
        .arg("report")
        .arg("--results")
        .arg(place.path("results"));
    text(&command.output().expect("it runs"))
}

#[test]
fn flushes_a_call_are_those_known_of_each_file_system() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = vec!["sync", "--sync-calls", "20", "--image-size", "320M"];
    let expected = [
        ("ext2", "ext2_defaults", 1, 1),
        ("ext4", "ext4_defaults", 1, 2),
        ("ext4:nobarrier", "ext4_nobarrier", 0, 0),
        ("xfs", "xfs_defaults", 1, 2),
        ("btrfs", "btrfs_defaults", 2, 2),
    ];
    let makeable = |spec: &str| {
        let kind: FsType = spec
            .split(':')
            .next()
            .expect("a type")
            .parse()
            .expect("known");
        probe(kind).is_ok()
    };
    for (spec, ..) in expected.iter().filter(|(spec, ..)| makeable(spec)) {
        args.extend(["--on", spec]);
    }
    let cases = measured(&place, &args);
    for (_, target, overwrite, append) in expected.iter().filter(|(spec, ..)| makeable(spec)) {
        for method in ["fdatasync", "O_DSYNC", "RWF_DSYNC", "fdatasync O_DIRECT"] {
            for (pattern, flushed) in [("overwrite", overwrite), ("append", append)] {
                let shape = find(&cases, target, &format!("{pattern} 8K {method}"));
                assert_eq!(shape.refused, None);
                assert_eq!(shape.statements, Some(20));
                assert_eq!(flushes(shape), *flushed, "{target} {}", shape.name);
                assert_eq!(shape.bytes, Some(20 * 8192));
                assert!(shape.latency.as_ref().is_some_and(|l| l.count == 20));
            }
        }
        let once = find(&cases, target, "two-writes 8K fdatasync");
        let twice = find(&cases, target, "two-writes 8K O_DSYNC");
        assert_eq!(flushes(once), *overwrite, "{target}");
        assert_eq!(flushes(twice), 2 * overwrite, "{target}");
        assert_eq!(flushes(find(&cases, target, "device flush")), 1);
        let wal = find(&cases, target, "log postgres WAL 8K");
        assert_eq!(flushes(wal), *overwrite, "{target}");
        let journal = find(&cases, target, "log sqlite rollback journal");
        let flushed = journal.device.expect("a device").flushes;
        assert!(flushed >= 20 * 4 * overwrite, "{target}: {flushed}");
    }
    let report = report(&place);
    assert!(
        report.contains("ext4_nobarrier†°: 124 shapes did not reach the device (!)"),
        "{report}"
    );
    assert!(
        report.contains("ext4_defaults†°: 124 shapes reached the device"),
        "{report}"
    );
    place.assert_nothing_left("after sync calls");
}

#[test]
fn refused_and_unseen_are_told_apart() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let args = [
        "sync",
        "--sync-calls",
        "5",
        "--on",
        "ext4:data=journal",
        "--on",
        "tmpfs",
    ];
    let cases = measured(&place, &args);
    let buffered = find(&cases, "ext4_data=journal", "overwrite 8K fdatasync");
    assert_eq!(buffered.refused, None);
    // Taken at open and then passed over: the kernel tells, where it is new enough.
    let direct = find(
        &cases,
        "ext4_data=journal",
        "overwrite 8K fdatasync O_DIRECT",
    );
    if let Some(words) = &direct.refused {
        assert!(words.contains("not supported"), "{words}");
        assert_eq!(direct.statements, Some(0));
    }
    assert!(
        find(&cases, "tmpfs_defaults", "append 4K fsync")
            .device
            .is_none()
    );
    let report = report(&place);
    assert!(report.contains("shapes cannot be seen (?)"), "{report}");
    if direct.refused.is_some() {
        assert!(
            report.contains("shapes refused: Operation not supported"),
            "{report}"
        );
    }
}

#[test]
fn too_little_room_is_told_before_anything_is_written() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let args = ["sync", "--sync-calls", "100000", "--on", "ext2"];
    let output = place.run(&args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output);
    assert!(
        said.contains("are needed and") && said.contains("--sync-calls"),
        "{said}"
    );
    place.assert_nothing_left("after no room");
}

#[test]
fn the_bare_call_stands_beside_the_load_that_makes_it() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let output = place
        .run(&[
            "load",
            "sync",
            "--on",
            "ext4",
            "-c",
            "2",
            "--preload",
            "100",
            "--tuples",
            "50",
            "--warmup",
            "0",
            "--sync-calls",
            "5",
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains("bare sync call, µs") && shown.contains("(log sqlite WAL 2 frames)"),
        "{shown}"
    );
    place.assert_nothing_left("after the run");
}
