//! Memory limits, as a user meets them: set, felt, told, and gone whatever way a run ends.

mod common;
#[path = "common/made.rs"]
mod made;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{PoisonError, RwLock};

use common::{Place, Running, can_mount, open_to_all, server, text};
use made::{can_make, mounted, private, skip};
use mountmark::engine::{self, Engine, Launch, Session, connect};
use mountmark::host::{Controller, Hierarchies, Ledger, MemoryGroup};
use mountmark::record::{CaseRecord, MemoryRecord, Outcome};
use mountmark::target::{DirtyLimit, FsType, Image, WorkDir, block_counters, syncfs};
use mountmark::units::Bytes;
use nix::sys::signal::Signal;

/// Whether limits can be set here.
fn can_limit() -> bool {
    match Controller::find() {
        Ok(_) => can_mount(),
        Err(error) => {
            skip("root", &error.to_string());
            false
        }
    }
}

const ROWS: u64 = 250_000;
const READS: u64 = 6_000;

/// A table of rows that lie in the order of random keys.
fn fill(session: &mut dyn Session, engine: &dyn Engine) {
    let numbers = match engine.build().kind {
        engine::Kind::Postgres => format!("generate_series(1, {ROWS}) AS n(i)"),
        _ => format!("(SELECT seq AS i FROM seq_1_to_{ROWS}) AS n"),
    };
    let text = "CREATE TABLE t (k VARCHAR(32) PRIMARY KEY, v VARCHAR(1000))";
    session.execute(text).expect("a table");
    let rows = format!("INSERT INTO t SELECT md5(i), repeat('x', 700) FROM {numbers} ORDER BY 1");
    let rows = match engine.build().kind {
        engine::Kind::Postgres => rows.replace("md5(i)", "md5(i::text)"),
        _ => rows,
    };
    session.execute(&rows).expect("rows");
}

fn read(session: &mut dyn Session) {
    for i in 0..READS {
        // Spread over all rows, the same each time.
        let i = i * 7919 % ROWS + 1;
        let rows = session.fetch(&format!("SELECT v FROM t WHERE k = md5('{i}')"));
        assert_eq!(rows.expect("a row"), 1);
    }
}

/// Bytes read from the device by the second of two passes over the same keys.
fn second_pass(
    engine: &dyn Engine,
    launch: &Launch,
    device: &Path,
    (ledger, limit): (&Ledger, Bytes),
) -> u64 {
    let controller = Controller::find().expect("a controller");
    let name = format!("{}-{limit}", ledger.run_id());
    let group = MemoryGroup::create(&controller, &name, limit, ledger).expect("a group");
    assert_eq!(group.limit(), limit);
    let mut launch = launch.clone();
    launch
        .settings
        .extend(engine.build().kind.within(Bytes::mib(64)));
    launch.cgroups = group.procs();
    let server = engine.launch(&launch).expect("it starts");
    let mut session = connect(&server.address()).expect("a session");
    read(session.as_mut());
    let before = block_counters(device).expect("counters");
    let waited = group.counts();
    read(session.as_mut());
    let read = block_counters(device)
        .expect("counters")
        .since(before)
        .read_bytes;
    let counts = group.counts().since(waited);
    assert_eq!(counts.oom_kills, 0);
    println!(
        "{}, {limit}: {} MiB, {counts:?}, {:?}",
        engine.build().label(),
        read >> 20,
        group.usage()
    );
    drop(session);
    server.stop().expect("it stops");
    read
}

/// Data of some hundred MiB are read from the device with 64M, and from memory with 2G.
fn point_reads(name: &str) {
    if !can_limit() || !can_make(FsType::Ext4) {
        return;
    }
    private(|| {
        let Some(engine) = server(name) else {
            return;
        };
        let run_id = format!("memory-{}-{name}", std::process::id());
        let state = tempfile::tempdir().expect("a directory");
        let ledger = Ledger::open_in(state.path(), &run_id).expect("a ledger");
        // On a disk: an image in memory would be memory beyond the limit.
        let work = WorkDir::create(Path::new("/var/tmp"), &run_id, &ledger).expect("a directory");
        work.let_pass().expect("others may pass");
        let image = Image::create(&work, Bytes::mib(1024), &ledger, &|| Ok(())).expect("an image");
        assert!(image.facts().direct_io);
        let at = work.path().join("mnt");
        let run_dir = work.path().join("run");
        [&at, &run_dir]
            .iter()
            .for_each(|dir| fs::create_dir(dir).expect("a directory"));
        let mut guard = mounted("ext4", image.device(), &at).expect("a file system");
        let data = at.join("data");
        fs::create_dir(&data).expect("a directory");
        let mut launch = Launch {
            data,
            run_dir,
            settings: engine.defaults(),
            cpus: Vec::new(),
            cgroups: Vec::new(),
        };
        engine
            .initialise(&launch.data, &launch.settings)
            .expect("a data directory");
        // Filled without a limit, and quickly.
        let asked = launch.settings.clone();
        let quick: &[(&str, &str)] = match name {
            "postgres" => &[("fsync", "off"), ("max_wal_size", "2GB")],
            _ => &[
                ("innodb_flush_log_at_trx_commit", "0"),
                ("innodb_buffer_pool_size", "512M"),
            ],
        };
        for (name, value) in quick {
            launch.settings.insert(name.to_string(), value.to_string());
        }
        let server = engine.launch(&launch).expect("it starts");
        let mut session = connect(&server.address()).expect("a session");
        fill(session.as_mut(), engine.as_ref());
        drop(session);
        server.stop().expect("it stops");
        launch.settings = asked;
        let mut pass = |limit| {
            syncfs(&at).expect("synced");
            guard.remount().expect("mounted afresh");
            second_pass(engine.as_ref(), &launch, image.device(), (&ledger, limit))
        };
        let small = pass(Bytes::mib(64));
        let large = pass(Bytes::mib(2048));
        assert!(small > 32 << 20, "64M: only {small} bytes from the device");
        assert!(large < 1 << 20, "2G: {large} bytes from the device");
        guard.unmount().expect("unmounted");
    });
}

#[test]
fn postgres_reads_from_the_device_with_64m_and_from_memory_with_2g() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    point_reads("postgres");
}

#[test]
fn mariadb_reads_from_the_device_with_64m_and_from_memory_with_2g() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    point_reads("mariadb");
}

fn memory(case: &CaseRecord) -> &MemoryRecord {
    case.memory.as_ref().expect("what the limit did")
}

/// Held alone by tests that look at the limits of all devices, which the others set.
static LIMITS: RwLock<()> = RwLock::new(());

/// The backing devices of loop devices that are held to a limit.
fn limited() -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/class/bdi").expect("sysfs").flatten();
    let strict = |dir: &PathBuf| {
        let text = fs::read_to_string(dir.join("strict_limit")).unwrap_or_default();
        text.trim() == "1"
    };
    devices.map(|entry| entry.path()).filter(strict).collect()
}

#[test]
fn a_limit_on_the_worker_is_felt_told_and_compared() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    if !can_limit() {
        return;
    }
    let place = Place::new();
    let output = place
        .run(&[
            "small-files",
            "--tree-scale",
            "0.03",
            "--image-size",
            "256M",
        ])
        .args(["--on", "ext2", "--on", "ext4", "--memory", "32M,512M"])
        .args(["--rounds", "2"])
        .output()
        .expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let results = place.results();
    // Two targets, two sizes, the baseline of each once more.
    assert_eq!(results.cases.len(), (4 + 2) * 2);
    for case in &results.cases {
        assert_eq!(case.outcome, Outcome::Measured);
        let limit = case.case.memory_bytes.expect("a limit");
        let memory = memory(case);
        assert_eq!((memory.limit_bytes, memory.of.as_str()), (limit, "worker"));
        assert_eq!(memory.oom_kills, 0);
        match (limit >> 20, memory.method.as_str()) {
            (32, _) => assert!(memory.reached > 0),
            _ => assert_eq!(memory.reached, 0),
        }
        if let Some(dirty) = memory.dirty_limit_bytes {
            assert!(dirty.abs_diff(limit / 5) < 1 << 20, "{dirty} of {limit}");
        } else {
            assert!(memory.writeback_by_group, "{}", memory.dirty);
        }
        let data = memory.data_bytes.expect("the amount of data");
        assert!((30 << 20..200 << 20).contains(&data), "{data}");
        assert!(memory.own_bytes > 1 << 20);
    }
    for words in [
        "one case after the other, not in duet: two memory limits",
        "and 32M against 512M",
        "where the data were",
        "512M was never reached, the data fit: small-files",
        "limits by cgroup v",
    ] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    place.assert_nothing_left("after the run");
}

const NULL_WITH_LIMIT: [&str; 7] = [
    "create", "--engine", "null", "--on", "ext4", "--memory", "64M",
];

#[test]
fn nothing_of_a_limit_is_left_whatever_way_a_run_ends() {
    let _alone = LIMITS.write().unwrap_or_else(PoisonError::into_inner);
    if !can_limit() {
        return;
    }
    let place = Place::new();
    let mut args = NULL_WITH_LIMIT.to_vec();
    args.extend(["--set", "null:hang_statement=3"]);
    let before = limited();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let when = format!("{signal} while measuring");
        let run = Running::until(place.run(&args), "results go to");
        common::worker_of(run.pid());
        let groups = place.cgroups();
        let v1 = Hierarchies::detect().memory_v1;
        if let Some(v1) = v1 {
            assert!(groups.iter().any(|g| g.starts_with(&v1)), "{groups:?}");
        }
        run.signal(signal);
        run.end();
        place.assert_nothing_runs(&when);
        if signal == Signal::SIGKILL {
            assert!(!place.cgroups().is_empty());
            assert!(
                limited().len() > before.len(),
                "{when}: no limit to be lifted"
            );
            let clean = place.command().arg("clean").output().expect("clean runs");
            assert!(clean.status.success(), "{}", text(&clean));
            assert!(
                text(&clean).contains("limit on dirty data"),
                "{}",
                text(&clean)
            );
        }
        place.assert_nothing_left(&when);
        let after = limited();
        assert!(
            after.iter().all(|dir| before.contains(dir)),
            "{when}: {after:?}"
        );
    }
    for failing in [&["--set", "null:fail_statement=3"][..], &[]] {
        let output = place.run(&NULL_WITH_LIMIT).args(failing).output();
        let code = output.expect("it runs").status.code();
        assert_eq!(code, Some(i32::from(!failing.is_empty())));
        place.assert_nothing_left("after the end");
        assert!(limited().iter().all(|dir| before.contains(dir)));
    }
}

#[test]
fn a_limit_that_another_run_has_set_stays() {
    let _alone = LIMITS.write().unwrap_or_else(PoisonError::into_inner);
    if !can_limit() || !can_make(FsType::Ext4) {
        return;
    }
    private(|| {
        let state = tempfile::tempdir().expect("a directory");
        let place = made::Place::new();
        let image = place.image(32);
        let at = place.mount_point();
        let _guard = mounted("ext4", image.device(), &at).expect("a file system");
        let open = |name: &str| Ledger::open_in(state.path(), name).expect("a ledger");
        // What a killed run leaves: its note, and no lock on it.
        let elsewhere = tempfile::tempdir().expect("a directory");
        let killed = Ledger::open_in(elsewhere.path(), "killed").expect("a ledger");
        let limit = DirtyLimit::set(&at, Bytes::mib(8), &killed).expect("a limit");
        let notes = fs::read(killed.path()).expect("its notes");
        fs::write(state.path().join("killed.jsonl"), notes).expect("a copy");
        let strict = limited();
        let living = open("c-living");
        let own = DirtyLimit::set(&at, Bytes::mib(16), &living).expect("a limit");
        let clean = || {
            let left = mountmark::host::ledger::leftovers_in(state.path()).expect("read");
            let mut left: Vec<_> = left.into_iter().rev().collect();
            assert_eq!(left.len(), 1);
            left.remove(0).clean()
        };
        let whole = mountmark::error::one_line(&clean().expect_err("it is another's"));
        assert!(whole.contains("c-living limits the dirty data"), "{whole}");
        drop(own);
        drop(living);
        assert_eq!(limited(), strict, "that of the killed run is still there");
        assert!(clean().expect("cleaned")[0].starts_with("limit on dirty data"));
        assert!(limited().len() < strict.len());
        drop(limit);
    });
}

fn refused(place: &Place, args: &[&str]) -> String {
    let output = place.run(args).output().expect("it runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {shown}");
    assert!(place.entries("results").is_empty(), "{args:?}: it ran");
    shown
}

#[test]
fn a_limit_that_would_measure_nothing_is_refused() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let data = place.path("data");
    let data = data.to_str().expect("utf-8");
    fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["create", "--memory"], more].concat()
    }
    assert!(refused(&place, &with(&["64M", "--on", "tmpfs"])).contains("memory themselves"));
    if data.starts_with("/dev/shm") {
        assert!(refused(&place, &with(&["64M", "--on", data])).contains("it is in memory"));
    }
    assert!(refused(&place, &with(&["1M", "--on", "ext4"])).contains("at least"));
    assert!(refused(&place, &with(&["900T", "--on", "ext4"])).contains("more than this machine"));
    assert!(refused(&place, &with(&["64M,64M", "--on", "ext4"])).contains("named twice"));
    let tuned = refused(&place, &["create", "--on", "ext4", "--tune-memory"]);
    assert!(tuned.contains("--memory"), "{tuned}");
}

#[test]
fn without_a_controller_nothing_runs_unlimited() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    if !can_limit() {
        return;
    }
    let place = Place::new();
    let command = place.run(&NULL_WITH_LIMIT);
    let hidden = |command: &Command, plan: bool| {
        let mut outer = Command::new("unshare");
        // In a mount namespace of its own the hierarchies are not there.
        let script = "umount -R /sys/fs/cgroup && exec \"$0\" \"$@\"";
        outer.args(["--mount", "--propagation", "private", "sh", "-c", script]);
        outer.arg(command.get_program());
        let run = |arg: &std::ffi::OsStr| plan && arg == "run";
        outer.args(
            command
                .get_args()
                .map(|a| if run(a) { "plan".as_ref() } else { a }),
        );
        let envs = command.get_envs().filter_map(|(k, v)| Some((k, v?)));
        outer.envs(envs).output().expect("it runs")
    };
    let output = hidden(&command, false);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("--memory cannot be used here"), "{shown}");
    assert!(shown.contains("cgroup_enable=memory"), "{shown}");
    assert!(place.entries("results").is_empty(), "it ran");
    place.assert_nothing_left("after the refusal");
    let planned = text(&hidden(&command, true));
    assert!(planned.contains("memory limits cannot be set"), "{planned}");
}

#[test]
fn a_loop_device_that_caches_is_refused() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    if !can_limit() {
        return;
    }
    let place = Place::new();
    let image = place.path("plain");
    let file = fs::File::create(&image).expect("an image");
    file.set_len(64 << 20).expect("its size");
    let losetup = |args: &[&str]| {
        let output = Command::new("losetup")
            .args(args)
            .output()
            .expect("losetup");
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    };
    let path = image.to_str().expect("utf-8");
    let device = losetup(&["--find", "--show", "--direct-io=off", path]);
    let mut args = NULL_WITH_LIMIT.to_vec();
    args.extend(["--device", &device]);
    let shown = refused(&place, &args);
    losetup(&["--detach", &device]);
    assert!(shown.contains("losetup --direct-io=on"), "{shown}");
}

#[test]
fn servers_get_the_settings_of_the_smallest_cell_or_their_own() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    let Some(engine) = server("postgres") else {
        return;
    };
    if !can_limit() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    let run = |more: &[&str]| {
        let output = place
            .run(&[
                "connect",
                "--profile",
                "short",
                "--loops",
                "0.1",
                "--engine",
                "postgres",
            ])
            .args(["--on", "ext4", "--image-size", "256M", "--memory", "64M,1G"])
            .args(more)
            .output()
            .expect("it runs");
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(0), "{shown}");
        shown
    };
    let effective = || -> Vec<(u64, String, String)> {
        let results = place.results();
        let of = |case: &CaseRecord| {
            let settings = &case.engine.as_ref().expect("an engine").settings;
            let limit = memory(case).limit_bytes >> 20;
            let shown = |name: &str| settings[name].clone();
            (limit, shown("shared_buffers"), shown("work_mem"))
        };
        results.cases.iter().map(of).collect()
    };
    let shown = run(&["--set", "work_mem=2MB"]);
    assert!(shown.contains("shared_buffers=16384kB"), "{shown}");
    assert!(shown.contains("was told to fit 64M"), "{shown}");
    for (_, buffers, work) in effective() {
        assert_eq!((buffers.as_str(), work.as_str()), ("16MB", "2MB"));
    }
    for case in &place.results().cases {
        let memory = memory(case);
        assert_eq!(memory.of, "server");
        assert_eq!(memory.settings_for_bytes, Some(64 << 20));
        assert!(!memory.settings.contains_key("work_mem"), "the user's own");
        assert_eq!(memory.cache_bytes, Some(16 << 20));
        assert!(memory.own_bytes > 0);
    }
    let label = engine.build().label();
    assert!(shown.contains(&label), "{shown}");
    run(&["--tune-memory"]);
    let mut tuned = effective();
    tuned.sort();
    let buffers: Vec<&str> = tuned.iter().map(|(_, b, _)| b.as_str()).collect();
    assert_eq!(buffers, ["16MB", "256MB"]);
    place.assert_nothing_left("after the runs");
}

#[test]
fn a_process_that_is_killed_for_want_of_memory_fails_the_case() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    if !can_limit() {
        return;
    }
    let failed = |engine: &str, args: &[&str], stage: &str| {
        if server(engine).is_none() {
            return;
        }
        let place = Place::new();
        open_to_all(&place);
        let output = place
            .run(args)
            .args(["--engine", engine, "--on", "ext4", "--image-size", "256M"])
            .output()
            .expect("it runs");
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(1), "{shown}");
        let results = place.results();
        let case = &results.cases[0];
        let Outcome::Failed {
            stage: at, causes, ..
        } = &case.outcome
        else {
            panic!("{:?}", case.outcome);
        };
        assert_eq!(at, stage, "{shown}");
        assert!(causes[0].contains("of memory are too little"), "{causes:?}");
        assert!(causes[0].contains("--memory"), "{causes:?}");
        assert!(memory(case).oom_kills > 0);
        place.assert_nothing_left("after the run");
    };
    let pool = ["--set", "innodb_buffer_pool_size=256M"];
    let create = ["create", "--memory", "64M"];
    failed("mariadb", &[&create[..], &pool].concat(), "work");
    // One session sorts in memory; the server itself lives on without it.
    let scripts = tempfile::tempdir().expect("a directory");
    let script = scripts.path().join("sort.sql");
    let sort = "SELECT count(*) FROM (SELECT i FROM generate_series(1, 4000000) AS n(i) \
                ORDER BY i DESC OFFSET 1) AS s;\n";
    fs::write(&script, sort).expect("a script");
    let script = script.to_str().expect("utf-8");
    let args = ["load", "-f", script, "-t", "1", "--warmup", "0"];
    let more = ["--memory", "48M", "--set", "work_mem=1GB"];
    failed("postgres", &[&args[..], &more].concat(), "work");
}

/// The example run, with every case in two sizes of which the smaller takes `factor` times
/// as long.
fn in_two_sizes(factor: f64) -> mountmark::record::Results {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    let mut results = mountmark::record::load(&dir).expect("the example");
    let sizes = [(64 << 20, factor), (2 << 30, 1.0)];
    let plan = &mut results.run.plan;
    plan.units.clear();
    plan.order.clear();
    let keys = plan.cases.clone();
    plan.cases = sizes
        .iter()
        .flat_map(|(size, _)| {
            keys.iter().cloned().map(|mut key| {
                key.memory_bytes = Some(*size);
                key
            })
        })
        .collect();
    let mut cases = Vec::new();
    for (size, factor) in sizes {
        for (case, number) in results.cases.iter().zip(0u64..) {
            let mut case = case.clone();
            case.case.memory_bytes = Some(size);
            case.duet = None;
            case.memory = Some(MemoryRecord {
                limit_bytes: size,
                method: "cgroup v1".into(),
                of: "worker".into(),
                dirty: "the device limited to 20 %".into(),
                reached: u64::from(factor > 1.0),
                refault_bytes: Some(if factor > 1.0 { 100 << 20 } else { 0 }),
                data_bytes: Some(100 << 20),
                ..MemoryRecord::default()
            });
            for phase in &mut case.phases {
                let settled = phase.ends.as_mut().and_then(|ends| ends.settled.as_mut());
                let noise = 1.0 + 0.001 * (number % 5) as f64;
                settled.expect("it settled").wall_ns = (1e9 * factor * noise) as u64;
            }
            cases.push(case);
        }
    }
    results.cases = cases;
    results
}

#[test]
fn the_table_has_a_column_a_size_their_ratio_and_a_verdict() {
    let _beside = LIMITS.read().unwrap_or_else(PoisonError::into_inner);
    use mountmark::compare::{
        Choice, Felt, Figure, MemoryTable, Rule, Verdict, Whereabouts, within,
    };
    let results = in_two_sizes(3.0);
    let choice = Choice {
        baseline: None,
        figure: Figure::Settled,
        rule: Rule::default(),
    };
    let comparisons = within(&results, &choice);
    let table = MemoryTable::of(&results, &comparisons, &Figure::Settled).expect("a table");
    assert_eq!(table.sizes, [Some(64 << 20), Some(2 << 30)]);
    let rows: Vec<_> = table.blocks.iter().flat_map(|block| &block.rows).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let comparison = row.comparison.as_ref().expect("compared");
        assert_eq!(
            comparison.base.memory_bytes,
            Some(2 << 30),
            "the most is the base"
        );
        let judgement = comparison.judgement.as_ref().expect("judged");
        assert!((judgement.estimate.ratio() - 3.0).abs() < 0.1);
        assert_eq!(comparison.verdict, Verdict::Slower);
        let [small, large] = row.cells.as_slice() else {
            panic!("two sizes");
        };
        assert_eq!(
            (small.felt, large.felt),
            (Some(Felt::Felt), Some(Felt::Never))
        );
        assert_eq!(small.whereabouts, Some(Whereabouts::Device));
        assert_eq!(large.whereabouts, Some(Whereabouts::PageCache));
    }
    let mut out = Vec::new();
    let options = mountmark::report::TextOptions {
        operations: false,
        choice,
    };
    mountmark::report::text(&mut out, &results, &options).expect("written");
    let shown = String::from_utf8(out).expect("text");
    for words in [
        "memory: seconds until settled, and 64M against 2G",
        "device, felt (read again 100.0 MiB)",
        "page cache, never reached",
        "2G was never reached, the data fit: create",
        "limits by cgroup v1, without swap; dirty data: the device limited to 20 %",
    ] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
}
