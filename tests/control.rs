//! A case under control, as a user meets it: what is watched, what is marked, what is kept
//! and what is resumed.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{Place, Running, can_mount, required, text, worker_of};
use mountmark::engine;
use mountmark::record::{CaseRecord, DurabilityRecord, Ending, Outcome, Results};
use nix::mount::{MsFlags, mount, umount};
use nix::sys::signal::Signal;

/// Arguments of a short run of real commits on SQLite.
const SHORT: [&str; 5] = ["create", "--profile", "small-test", "--loops", "0.1"];

fn case<'r>(results: &'r Results, target: &str) -> &'r CaseRecord {
    let found = results.cases.iter().find(|c| c.case.target == target);
    found.unwrap_or_else(|| panic!("no case on {target}"))
}

fn cases_file(place: &Place) -> PathBuf {
    let run = place.entries("results").pop_last().expect("a run");
    place.path("results").join(run).join("cases.jsonl")
}

#[test]
fn an_interrupted_run_is_resumed_to_the_complete_set() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = SHORT.to_vec();
    args.extend(["--on", "ext2", "--on", "ext4", "--on", "ext4:nobarrier"]);
    args.extend(["--rounds", "2"]);
    let run = Running::until(place.run(&args), "[3/8]");
    run.signal(Signal::SIGINT);
    assert_eq!(run.end(), Some(130));
    place.assert_nothing_left("after the interrupt");
    let before = fs::read(cases_file(&place)).expect("cases");
    let id = place.results().run.id;
    assert!(place.results().cases.len() < 8);

    // A crash may have left half a line, and a resumed run its own plan.
    fs::write(
        cases_file(&place),
        [before.as_slice(), b"{\"format\":1,"].concat(),
    )
    .expect("written");
    let resume = |more: &[&str]| {
        let mut command = place.command();
        command.args(["run", "--resume", &id, "--results", "results"]);
        command.args(more).output().expect("it runs")
    };
    for other in [&["create", "--on", "xfs"][..], &["--rounds", "7"]] {
        let shown = text(&resume(other));
        assert!(
            shown.contains("cannot be resumed: the plan differs"),
            "{shown}"
        );
    }
    let output = resume(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let results = place.results();
    assert_eq!(results.run.ending, Some(Ending::Complete));
    assert!(
        results
            .run
            .remarks
            .iter()
            .any(|r| r.starts_with("resumed at"))
    );
    let keys: BTreeSet<_> = results.cases.iter().map(|c| (&c.case, c.round)).collect();
    assert_eq!((keys.len(), results.cases.len()), (8, 8));
    assert!(results.cases.iter().all(|c| c.outcome == Outcome::Measured));
    let after = fs::read(cases_file(&place)).expect("cases");
    assert!(after.starts_with(&before), "what was stored was rewritten");

    let again = resume(&[]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
    assert_eq!(fs::read(cases_file(&place)).expect("cases"), after);
    // The same arguments make the same plan.
    let mut same = vec!["run", "--resume", &id, "--results", "results"];
    same.extend(&args);
    let images = place.path("images");
    let output = place
        .command()
        .args(same)
        .args(["--image-size", "64M", "--image-dir"])
        .arg(images)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    place.assert_nothing_left("after the resumed run");
}

#[test]
fn a_killed_run_is_resumed_after_cleaning() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = SHORT.to_vec();
    args.extend(["--on", "ext2", "--on", "ext4"]);
    let mut command = place.run(&args);
    command.env("MOUNTMARK_HOLD_AT", "work");
    let run = Running::until(command, "holding at");
    let id = place.results().run.id;
    let resume = || {
        let mut command = place.command();
        command.args(["run", "--results", "results", "--resume", &id]);
        command.output().expect("it runs")
    };
    let shown = text(&resume());
    assert!(shown.contains("still running"), "{shown}");
    run.signal(Signal::SIGKILL);
    run.end();
    place.assert_nothing_runs("after the kill");
    assert!(text(&resume()).contains("mountmark clean"));
    place.command().arg("clean").output().expect("clean runs");
    let output = resume();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(place.results().cases.len(), 2);
    place.assert_nothing_left("after the resumed run");
}

#[test]
fn evidence_is_kept_and_cleaned() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let data = place.path("data");
    let output = place
        .run(&[
            "create",
            "--keep-on-failure",
            "--engine",
            "null",
            "--set",
            "null:fail_statement=3",
            "--on",
            "ext2",
            "--on",
            "ext4",
            "--on",
            data.to_str().expect("utf-8"),
        ])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    place.assert_nothing_runs("after the run");
    let results = place.results();
    let kept = |target: &str| {
        let remarks = case(&results, target).remarks.iter();
        let mut kept = remarks.filter(|r| r.starts_with("kept for a look"));
        kept.next()
            .unwrap_or_else(|| panic!("{target}: nothing kept: {shown}"))
    };
    for target in ["ext2_defaults", "ext4_defaults"] {
        let words = kept(target);
        let image = words
            .split(' ')
            .find(|w| w.ends_with(".img"))
            .expect("an image");
        assert!(Path::new(image).exists(), "{words}");
        assert!(words.contains("mount -o loop,ro"), "{words}");
        assert!(holds_data(&place, image), "{words}");
        assert!(shown.contains(image), "{shown}");
    }
    assert!(kept(data.to_str().expect("utf-8")).contains("mountmark-"));
    assert_eq!(place.entries("data").len(), 2);
    let clean = place.command().arg("clean").output().expect("clean runs");
    assert!(clean.status.success(), "{}", text(&clean));
    place.assert_nothing_left("after clean");
}

/// Whether the image can be mounted as the words say, and holds a data directory.
fn holds_data(place: &Place, image: &str) -> bool {
    let found = std::thread::scope(|scope| {
        let look = scope.spawn(|| {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).expect("a namespace");
            let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>).expect("private");
            let at = place.path("look");
            fs::create_dir_all(&at).expect("a mount point");
            let status = std::process::Command::new("mount")
                .args(["-o", "loop,ro", image])
                .arg(&at)
                .status();
            assert!(status.expect("mount runs").success());
            let found = at.join("data").is_dir();
            umount(&at).expect("unmounted");
            found
        });
        look.join()
    });
    found.expect("no panic")
}

#[test]
fn the_third_of_five_fails_and_the_others_run() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut args = SHORT.to_vec();
    for target in ["ext2", "ext3", "ext4:data=journl", "ext4", "tmpfs"] {
        args.extend(["--on", target]);
    }
    let output = place.run(&args).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let results = place.results();
    assert_eq!(results.cases.len(), 5);
    for case in &results.cases {
        match (case.case.target.as_str(), &case.outcome) {
            ("ext4_data=journl", Outcome::Failed { stage, .. }) => assert_eq!(stage, "prepare"),
            (_, outcome) => assert_eq!(*outcome, Outcome::Measured, "{shown}"),
        }
    }
    place.assert_nothing_left("after the run");
}

#[test]
fn an_image_that_is_full() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let args = ["insert", "--profile", "small-test", "--image-size", "8M"];
    let mut args = args.to_vec();
    // The log grows without end, quickly.
    args.extend(["--set", "wal_autocheckpoint=0", "--set", "synchronous=off"]);
    args.extend(["--on", "ext2", "--on", "tmpfs"]);
    let output = place.run(&args).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("the file system is full"), "{shown}");
    assert!(shown.contains("--image-size"), "{shown}");
    let results = place.results();
    assert_eq!(case(&results, "tmpfs_defaults").outcome, Outcome::Measured);
    place.assert_nothing_left("after the run");
}

/// The loop device on an image in this place.
fn loop_in(place: &Place) -> Option<String> {
    let here = place.path("images").to_string_lossy().into_owned();
    let devices = fs::read_dir("/sys/block").expect("sysfs").flatten();
    let mut names = devices.map(|d| d.file_name().to_string_lossy().into_owned());
    names.find(|name| {
        let backing = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        backing.is_ok_and(|file| file.contains(&here))
    })
}

#[test]
fn a_file_system_that_becomes_read_only_while_it_is_measured() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let args = ["insert", "--profile", "small-test", "--seed", "1"];
    let mut args = args.to_vec();
    args.extend(["--on", "ext4:errors=remount-ro", "--on", "tmpfs"]);
    let run = Running::until(place.run(&args), "results go to");
    let device = loop_in(&place).expect("the image is attached");
    let trigger = PathBuf::from(format!("/sys/fs/ext4/{device}/trigger_fs_error"));
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < end, "{} never appears", trigger.display());
        let worker = worker_of(run.pid());
        std::thread::sleep(Duration::from_millis(50));
        // The worker of this case has its files open on it.
        let open = fs::read_dir(format!("/proc/{worker}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        let mut files = open.filter_map(|fd| fs::read_link(fd.path()).ok());
        if files.any(|file| file.ends_with("mnt/data/main.db")) && trigger.exists() {
            fs::write(&trigger, "1").expect("triggered");
            break;
        }
    }
    assert_eq!(run.end(), Some(1));
    let results = place.results();
    match &case(&results, "ext4_errors=remount-ro").outcome {
        Outcome::Failed { stage, causes, .. } => {
            assert_eq!(stage, "work");
            assert!(causes[0].contains("become read-only"), "{causes:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(case(&results, "tmpfs_defaults").outcome, Outcome::Measured);
    place.assert_nothing_left("after the run");
}

#[test]
fn durability_is_judged_and_marked() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let data = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let data = data.path().to_str().expect("utf-8");
    let mut args = SHORT.to_vec();
    args.extend(["--on", "ext4", "--on", "ext4:nobarrier", "--on", data]);
    args.extend(["--set", "synchronous=full", "--set", "synchronous=normal"]);
    args.extend(["--rounds", "2"]);
    let output = place.run(&args).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let results = place.results();
    for case in &results.cases {
        let durability = case.durability.as_ref().expect("judged");
        let normal = case.case.settings["synchronous"] == "normal";
        match (durability, case.case.target.as_str()) {
            (DurabilityRecord::NotDurable(why), "ext4_nobarrier") => {
                assert!(why.contains("nobarrier"), "{why}");
            }
            (DurabilityRecord::NotDurable(why), "ext4_defaults") => {
                assert!(
                    why.contains("tmpfs is memory (it holds the image)"),
                    "{why}"
                );
            }
            (DurabilityRecord::NotDurable(why), _) => assert!(normal, "{why}"),
            (DurabilityRecord::HonouredTo(to), target) => {
                assert!(!normal && to.starts_with("/dev/"), "{target}: {to}");
            }
            (DurabilityRecord::Unknown(_), target) => assert_eq!(target, data),
        }
    }
    for words in [
        "ext4_nobarrier †°",
        "† ext4_nobarrier: not durable: ext4 with nobarrier",
        "° ext4_defaults, ext4_nobarrier: the device is in memory",
        "not ranked: ext4_nobarrier †°",
        "synchronous=normal with journal_mode=wal",
    ] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    place.assert_nothing_left("after the run");
}

#[test]
fn what_is_mounted_is_measured_in_a_directory_of_ours() {
    let place = Place::new();
    let plan = place
        .command()
        .args(["plan", "create", "--on", "mounted"])
        .output();
    let plan = text(&plan.expect("it runs"));
    if plan.contains("no mounted, writable file system") {
        eprintln!("SKIPPED: {plan}");
        return;
    }
    let mut args = SHORT.to_vec();
    args.extend(["--on", "mounted"]);
    let output = place.run(&args).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let results = place.results();
    assert!(!results.cases.is_empty());
    for case in &results.cases {
        let target = case.target.as_ref().expect("a target");
        assert!(target.device.is_some() && !target.cold, "{target:?}");
        assert!(plan.contains(&case.case.target), "{plan}");
        let ours = Path::new(&case.case.target).join(format!("mountmark-{}", results.run.id));
        assert!(!ours.exists());
    }
    assert!(shown.contains("(warm)"), "{shown}");
    place.assert_nothing_left("after the run");
}

#[test]
fn the_orchestrator_keeps_away_from_the_measured_cpu() {
    if !can_mount() || mountmark::host::allowed_cpus().len() < 2 {
        return;
    }
    let place = Place::new();
    let args = ["create", "--engine", "null", "--on", "ext4"];
    let mut args = args.to_vec();
    args.extend(["--set", "null:hang_statement=3"]);
    let run = Running::until(place.run(&args), "results go to");
    let worker = worker_of(run.pid());
    let cpus = |pid: i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let line = status.lines().find(|l| l.starts_with("Cpus_allowed_list"));
        line.expect("a line")
            .split_whitespace()
            .nth(1)
            .expect("CPUs")
            .to_string()
    };
    let last = mountmark::host::allowed_cpus()
        .pop()
        .expect("a CPU")
        .to_string();
    let end = Instant::now() + Duration::from_secs(5);
    while cpus(worker) != last && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(cpus(worker), last);
    let mine = cpus(run.pid());
    assert!(!mine.split([',', '-']).any(|cpu| cpu == last), "{mine}");
    run.signal(Signal::SIGTERM);
    run.end();
}

#[test]
fn the_rest_of_the_machine_is_watched_cheaply() {
    if !can_mount() {
        return;
    }
    for name in ["postgres", "mariadb"] {
        if let Err(error) = engine::find(&name.parse().expect("a spec")) {
            assert!(!required(name), "{name} is required here: {error:#}");
            eprintln!("SKIPPED: {error:#}");
            continue;
        }
        let place = Place::new();
        let root = place.path("").canonicalize().expect("it is there");
        for dir in [root.clone(), root.join("images")] {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("its mode");
        }
        let args = ["create", "--profile", "small-test", "--image-size", "256M"];
        let mut args = args.to_vec();
        args.extend(["--engine", name, "--on", "ext4"]);
        let output = place.run(&args).output().expect("it runs");
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(0), "{shown}");
        let results = place.results();
        let phase = &results.cases[0].phases[0];
        let sampled = phase.sampled.expect("it was looked at");
        let wall = phase.ends.expect("three ends").returned.wall_ns;
        let share = sampled.cpu_ns as f64 / wall as f64;
        println!(
            "{name}: {} looks in {:.2} s, {:.3} % of the wall time",
            sampled.samples,
            wall as f64 / 1e9,
            share * 100.0
        );
        assert!(share < 0.01, "{name}: {share}");
        assert!(sampled.samples >= 2);
        assert!(sampled.server_memory_stable_bytes.expect("memory") > 1 << 20);
        assert!(phase.machine.is_some());
        assert!(shown.contains("CPU of the rest of the machine"), "{shown}");
        assert!(shown.contains("server memory, stable"), "{shown}");
    }
}

#[test]
fn doctor_tells_what_can_be_measured() {
    let place = Place::new();
    let doctor = || {
        let output = place.command().arg("doctor").output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        text(&output)
    };
    let shown = doctor();
    for words in [
        "yes  sqlite: ",
        "postgres: ",
        "mariadb: ",
        "mysql: ",
        "file systems that can be made",
        "ext2: ",
        "btrfs: ",
        "loop devices: ",
        "memory limits: ",
        "FUSE: ",
        "mounted file systems as targets",
        "what would disturb a measurement now",
    ] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    let missing = shown.lines().filter(|line| line.starts_with("  no   "));
    assert!(
        missing.clone().all(|line| line.contains(';')),
        "no way out: {shown}"
    );
    let data = place.path("data");
    let mut command = place.run(&["create", "--engine", "null", "--on"]);
    command.arg(data).env("MOUNTMARK_HOLD_AT", "work");
    let run = Running::until(command, "holding at");
    let other = format!("(process {})", run.pid());
    assert!(doctor().contains(&other));
    run.signal(Signal::SIGTERM);
    run.end();
    assert!(!doctor().contains(&other));
}
