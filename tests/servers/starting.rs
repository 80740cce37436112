//! From the making of the data directory to the stop, and what can go wrong there.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use mountmark::engine::{Kind, ServerWatch};
use mountmark::error::one_line;

use crate::support::{Place, assert_gone, engine, passable_dir, session, settings_of};

pub fn lives_from_initialise_to_stop(kind: Kind) {
    let Some(engine) = engine(kind) else { return };
    let dir = passable_dir();
    let place = Place { dir, engine };
    let launch = place.launch_with(&[]);
    for dir in [&launch.data, &launch.run_dir] {
        fs::create_dir(dir).unwrap();
    }
    let start = Instant::now();
    place
        .engine
        .initialise(&launch.data, &launch.settings)
        .unwrap();
    let made = start.elapsed();
    let (mut starts, mut stops) = (Vec::new(), Vec::new());
    for round in 0..5 {
        let start = Instant::now();
        let mut server = place.engine.launch(&launch).unwrap();
        starts.push(start.elapsed());
        assert_eq!(server.died(), None);
        let mut session = session(server.as_ref());
        if round == 0 {
            session.execute("CREATE TABLE t (a int)").unwrap();
        }
        session.execute("INSERT INTO t VALUES (1)").unwrap();
        assert_eq!(session.fetch("SELECT * FROM t").unwrap(), round + 1);
        session.checkpoint().unwrap();
        drop(session);
        let pids = server.pids();
        let start = Instant::now();
        server.stop().unwrap();
        stops.push(start.elapsed());
        assert_gone(&pids);
    }
    eprintln!(
        "{}: initialise {made:?}, start {starts:?}, stop {stops:?}",
        place.engine.build().label()
    );
}

pub fn opens_no_port_and_is_closed_to_others(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let mut tcp = HashSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        let inodes = text
            .lines()
            .skip(1)
            .filter_map(|l| l.split_whitespace().nth(9));
        tcp.extend(inodes.map(|inode| format!("socket:[{inode}]")));
    }
    let mut sockets = 0;
    for pid in server.pids() {
        for fd in fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let Ok(link) = fs::read_link(fd.path()) else {
                continue;
            };
            let link = link.display().to_string();
            sockets += usize::from(link.starts_with("socket:"));
            assert!(
                !tcp.contains(&link),
                "process {pid} has an internet socket {link}"
            );
        }
    }
    assert!(sockets > 0, "its unix socket was not even seen");
    for name in ["data", "run"] {
        let mode = fs::metadata(place.dir.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{name}");
    }
    let log = place.dir.path().join("run/server.log");
    assert_eq!(fs::metadata(log).unwrap().permissions().mode() & 0o077, 0);
    if nix::unistd::geteuid().is_root() {
        let status = fs::read_to_string(format!("/proc/{}/status", server.pids()[0])).unwrap();
        let uid = status.lines().find(|l| l.starts_with("Uid:")).unwrap();
        assert!(!uid.split_whitespace().any(|u| u == "0"), "{uid}");
        let groups = status
            .lines()
            .find_map(|l| l.strip_prefix("Groups:"))
            .unwrap();
        assert_eq!(groups.trim(), "");
    }
    server.stop().unwrap();
}

pub fn refuses_unknown_settings(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let launch = place.launch_with(&[("no_such_setting", "7")]);
    let error = place.engine.launch(&launch).map(|_| ()).unwrap_err();
    let told = one_line(&error);
    let own_words = match kind {
        Kind::Postgres => "unrecognized configuration parameter \"no_such_setting\"",
        _ => "unknown variable 'no_such_setting=7'",
    };
    assert!(told.contains(own_words), "{told}");
}

pub fn keeps_what_makes_it_private(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let name = match kind {
        Kind::Postgres => "listen_addresses",
        _ => "bind-address",
    };
    let launch = place.launch_with(&[(name, "0.0.0.0")]);
    let error = place.engine.launch(&launch).map(|_| ()).unwrap_err();
    assert!(one_line(&error).contains(name), "{error}");
}

pub fn takes_settings_and_tells_them(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let (asked, wrong): (&[(&str, &str)], _) = match kind {
        Kind::Postgres => (
            &[
                ("shared_buffers", "16MB"),
                ("wal_sync_method", "open_datasync"),
                ("synchronous_commit", "off"),
                ("deadlock_timeout", "2s"),
            ],
            ("wal_segment_size", "1MB"),
        ),
        _ => (
            &[
                ("default_storage_engine", "MyISAM"),
                ("innodb-buffer-pool-size", "32M"),
                ("innodb_flush_log_at_trx_commit", "2"),
                ("net_retry_count", "7"),
            ],
            ("net_buffer_length", "1"),
        ),
    };
    let server = place.engine.launch(&place.launch_with(asked)).unwrap();
    let mut session = session(server.as_ref());
    let told = session.settings().unwrap();
    let expected = match kind {
        Kind::Postgres => settings_of(&[
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("shared_buffers", "16MB"),
            ("wal_sync_method", "open_datasync"),
            ("synchronous_commit", "off"),
            ("deadlock_timeout", "2s"),
            ("wal_segment_size", "16MB"),
            ("block_size", "8192"),
        ]),
        _ => settings_of(&[
            ("default_storage_engine", "MyISAM"),
            ("innodb_buffer_pool_size", "33554432"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("net_retry_count", "7"),
            ("log_bin", "OFF"),
            ("innodb_doublewrite", "ON"),
        ]),
    };
    for (name, value) in &expected {
        assert_eq!(told.get(name), Some(value), "{name} in {told:#?}");
    }
    assert!(!told.values().any(|v| v.contains("/mm-")), "{told:#?}");
    session.checkpoint().unwrap();
    drop(session);
    server.stop().unwrap();
    let error = place.engine.launch(&place.launch_with(&[wrong]));
    let error = one_line(&error.map(|_| ()).unwrap_err());
    assert!(error.contains("did not take"), "{error}");
}

pub fn refuses_a_long_socket_path(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let mut launch = place.launch_with(&[]);
    launch.run_dir = place.dir.path().join("x".repeat(100));
    fs::create_dir(&launch.run_dir).unwrap();
    let error = place.engine.launch(&launch).map(|_| ()).unwrap_err();
    assert!(one_line(&error).contains("107 are possible"), "{error}");
}

pub fn refuses_a_directory_in_use(kind: Kind) {
    let Some(engine) = engine(kind) else { return };
    let dir = passable_dir();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("lost"), "x").unwrap();
    let error = engine.initialise(&data, &engine.defaults()).unwrap_err();
    let told = one_line(&error);
    assert!(told.contains("cannot make a data directory"), "{told}");
    assert!(
        told.contains("not empty") || told.contains("files in it"),
        "{told}"
    );
}

pub fn is_killed_when_dropped(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let pids = server.pids();
    drop(server);
    assert_gone(&pids);
    // What a killed server leaves is recovered from at the next start.
    place.start().stop().unwrap();
}

pub fn joins_its_cgroup_and_cpus(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let Some(root) = mountmark::host::Hierarchies::detect().unified else {
        eprintln!("SKIPPED: no cgroup version 2 hierarchy");
        return;
    };
    let group = root.join(format!("mm-test-{}-{kind}", std::process::id()));
    if let Err(error) = fs::create_dir(&group) {
        eprintln!("SKIPPED: cannot make {}: {error}", group.display());
        return;
    }
    let cpu = mountmark::host::allowed_cpus()[0];
    let mut launch = place.launch_with(&[]);
    launch.cpus = vec![cpu];
    launch.cgroups = vec![group.join("cgroup.procs")];
    let server = place.engine.launch(&launch).unwrap();
    for pid in server.pids() {
        let text = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
        assert!(text("cgroup").contains("/mm-test-"), "process {pid}");
        let allowed = format!("Cpus_allowed_list:\t{cpu}\n");
        assert!(text("status").contains(&allowed), "process {pid}");
    }
    let watch = server.watch().unwrap();
    assert_eq!(watch.cgroup.as_ref(), Some(&group));
    assert!(watch.cpu().unwrap().total_ns() > 1_000_000);
    server.stop().unwrap();
    fs::remove_dir(&group).unwrap();
}

pub fn can_be_watched(kind: Kind) {
    let Some(place) = Place::new(kind) else {
        return;
    };
    let server = place.start();
    let watch = server.watch().expect("a process to watch");
    let text = serde_json::to_string(&watch).unwrap();
    let watch: ServerWatch = serde_json::from_str(&text).unwrap();
    let before = watch.cpu().unwrap();
    let mut session = session(server.as_ref());
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(600) {
        session.fetch("SELECT 1").unwrap();
    }
    // The backend's time must stay in the sum when it has ended.
    let during = watch.cpu().unwrap().since(before).total_ns();
    drop(session);
    std::thread::sleep(Duration::from_millis(200));
    let after = watch.cpu().unwrap().since(before).total_ns();
    assert!(during >= 50_000_000, "{during} ns");
    assert!(after >= during, "{after} ns after {during} ns");
    let memory = watch.memory().unwrap();
    assert!(memory > 5 << 20, "{memory} bytes");
    assert!(Path::new("/proc").join(watch.pid.to_string()).exists());
    server.stop().unwrap();
    assert_eq!(watch.cpu(), None);
}
