//! Trees of files on real file systems: counts, what is left, full targets, interrupts.

mod common;

use common::{Place, Running, can_mount, text, worker_of};
use mountmark::record::{CaseRecord, Outcome, PhaseRecord};
use mountmark::target::{FsType, probe};
use nix::sys::signal::Signal;

fn can_make(fs: &str) -> bool {
    let kind: FsType = fs.parse().expect("a file system");
    let there = probe(kind).is_ok();
    if !there {
        assert!(!common::required(fs), "{fs} is required here");
        eprintln!("SKIPPED: {fs} cannot be made here");
    }
    there
}

fn measured(place: &Place, args: &[&str]) -> Vec<CaseRecord> {
    let output = place.run(args).output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
    let cases = place.results().cases;
    assert!(cases.iter().all(|c| c.outcome == Outcome::Measured));
    cases
}

fn phases(case: &CaseRecord) -> Vec<(&str, u64)> {
    let files = |p: &PhaseRecord| p.operations[0].statements.expect("files");
    case.phases
        .iter()
        .map(|p| (p.name.as_str(), files(p)))
        .collect()
}

#[test]
fn every_file_system_gets_the_same_tree() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = vec!["tree", "--tree-scale", "0.002", "--image-size", "320M"];
    for fs in ["ext2", "ext4", "btrfs", "xfs"] {
        if can_make(fs) {
            args.extend(["--on", fs]);
        }
    }
    let cases = measured(&place, &args);
    let of = |workload: &str| -> Vec<&CaseRecord> {
        cases
            .iter()
            .filter(|c| c.case.workload == workload)
            .collect()
    };
    assert_eq!(of("small-files").len() * 2, cases.len());
    for case in of("small-files") {
        assert_eq!(phases(case), [("unpack", 2000), ("remove", 2000)]);
        assert!(case.case.engine.starts_with("files "), "{:?}", case.case);
    }
    for case in of("source-tree") {
        assert_eq!(phases(case), phases(of("source-tree")[0]));
        let names: Vec<&str> = phases(case).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["unpack", "copy", "copy-again", "read", "remove"]);
        for phase in &case.phases {
            let ends = phase.ends.expect("it ended");
            let flushed = ends.flushed.expect("it was flushed");
            assert!(flushed.wall_ns >= ends.returned.wall_ns);
            assert_eq!(ends.settled, ends.flushed);
            let device = flushed.device.expect("a device");
            let bytes = phase.operations[0].bytes.expect("bytes");
            match phase.name.as_str() {
                // Cold: all of it comes from the device.
                "read" => assert!(device.read_bytes >= bytes, "{} {bytes}", device.read_bytes),
                "remove" => {}
                name => assert!(
                    device.written_bytes >= bytes,
                    "{name} wrote less than it made"
                ),
            }
            // The kernel counts the sum and guesses how it is split.
            let cpu = phase.client.expect("CPU");
            assert!(cpu.user_ns + cpu.system_ns > 0);
            assert!(phase.machine.is_some());
        }
    }
    let mut report = place.command();
    report
        .arg("report")
        .arg("--results")
        .arg(place.path("results"));
    let report = report.output().expect("it runs");
    assert!(
        text(&report).contains("files and links of"),
        "{}",
        text(&report)
    );
    place.assert_nothing_left("after a tree");
}

#[test]
fn jobs_and_orders_are_axes_of_the_same_tree() {
    let place = Place::new();
    let data = place.path("data");
    let on = ["--on", data.to_str().expect("utf-8"), "--cpus", "free"];
    let mut args = vec!["source-tree", "--tree-scale", "0.002", "--tree-jobs", "1,3"];
    args.extend(["--order", "generated,shuffled"]);
    args.extend(on);
    let cases = measured(&place, &args);
    assert_eq!(cases.len(), 4);
    let settings: std::collections::BTreeSet<_> =
        cases.iter().map(|c| c.case.settings.clone()).collect();
    assert_eq!(settings.len(), 4);
    assert!(cases.iter().all(|c| phases(c) == phases(&cases[0])));
    place.assert_nothing_left("after a tree in a directory");
}

#[test]
fn a_target_that_is_too_small_fails_with_both_numbers() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let args = ["tree", "--on", "ext2", "--tree-scale", "0.5"];
    let output = place.run(&args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    for case in place.results().cases {
        let Outcome::Failed { stage, causes, .. } = &case.outcome else {
            panic!("{:?}", case.outcome);
        };
        assert_eq!(stage, "restore");
        let message = causes.join(": ");
        assert!(message.contains("are needed and"), "{message}");
        assert!(message.contains("--image-size"), "{message}");
    }
    place.assert_nothing_left("after no room");
}

#[test]
fn a_hostile_archive_fails_its_case_with_the_name() {
    let place = Place::new();
    let archive = place.path("evil.tar");
    let mut builder = tar::Builder::new(std::fs::File::create(&archive).expect("a file"));
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder
        .append_link(&mut header, "dir/way-out", "../../../../etc")
        .expect("an entry");
    builder.finish().expect("an archive");
    let data = place.path("data");
    let (data, archive) = (
        data.to_str().expect("utf-8"),
        archive.to_str().expect("utf-8"),
    );
    let args = ["source-tree", "--on", data, "--tree-archive", archive];
    let output = place.run(&args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output);
    assert!(
        said.contains("dir/way-out") && said.contains("points outside"),
        "{said}"
    );
    place.assert_nothing_left("after a hostile archive");
    let missing = ["tree", "--on", data, "--tree-archive", "no-such.tar"];
    let output = place.run(&missing).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let unfit = ["tree", "--on", data, "--engine", "sqlite"];
    let output = place.run(&unfit).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

#[test]
fn a_signal_in_a_step_leaves_nothing() {
    let place = Place::new();
    let data = place.path("data");
    let mut targets = vec![data.to_str().expect("utf-8").to_string()];
    if can_mount() {
        targets.push("ext2".to_string());
    }
    for target in targets {
        let args = ["small-files", "--tree-scale", "0.012", "--on", &target];
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let when = format!("{signal} in a step on {target}");
            let run = Running::until(place.run(&args), "results go to");
            // The first worker is the ceiling's and is gone by now.
            worker_of(run.pid());
            std::thread::sleep(std::time::Duration::from_millis(40));
            run.signal(signal);
            assert_eq!(run.end(), Some(130), "{when}");
            place.assert_nothing_left(&when);
            let stage = "work".to_string();
            assert_eq!(
                place.results().cases[0].outcome,
                Outcome::Interrupted { stage }
            );
        }
    }
}
