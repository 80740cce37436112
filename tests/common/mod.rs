//! What the tests of the whole program share: a private place to run it in, and a look
//! at what it left.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mountmark::engine::{self, Engine};
use mountmark::record::{Results, load, newest};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const MARK: &str = "MOUNTMARK_TEST_PLACE";

/// True when `name` must be present on this machine: then its absence is a failure.
pub fn required(name: &str) -> bool {
    std::env::var("MOUNTMARK_REQUIRE")
        .unwrap_or_default()
        .split(',')
        .any(|n| n == name)
}

/// Whether file systems can be made here; where they must, their absence fails.
pub fn can_mount() -> bool {
    let root = nix::unistd::geteuid().is_root() && Path::new("/dev/loop-control").exists();
    if !root {
        assert!(!required("root"), "these tests are required to run as root");
        eprintln!("SKIPPED: making file systems needs root and loop devices");
    }
    root
}

/// The engine `name`, if these tests can be run with it here.
pub fn server(name: &str) -> Option<Box<dyn Engine>> {
    if !can_mount() {
        return None;
    }
    match engine::find(&name.parse().expect("a spec")) {
        Ok(engine) => Some(engine),
        Err(error) => {
            assert!(!required(name), "{name} is required here: {error:#}");
            eprintln!("SKIPPED: {error:#}");
            None
        }
    }
}

/// Servers run as other users: they must get to what lies here.
pub fn open_to_all(place: &Place) {
    let root = place.path("bin").parent().expect("a parent").to_path_buf();
    for dir in [
        root.clone(),
        root.join("images"),
        root.join("data"),
        root.join("bin"),
    ] {
        if dir.exists() {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("its mode");
        }
    }
}

/// A place of its own for one test: images, state, results and a directory to measure.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        // Images in memory: quick, and nothing depends on the disk.
        let base = match Path::new("/dev/shm").is_dir() {
            true => PathBuf::from("/dev/shm"),
            false => std::env::temp_dir(),
        };
        let dir = tempfile::Builder::new()
            .prefix("mmtest-")
            .tempdir_in(base)
            .expect("a temporary directory");
        for name in ["images", "state", "results", "data"] {
            fs::create_dir(dir.path().join(name)).expect("a directory");
        }
        fs::write(dir.path().join("images/somebody-elses"), "untouched").expect("a file");
        fs::write(dir.path().join("data/somebody-elses"), "untouched").expect("a file");
        Place { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program with its state in this place; every process it starts carries a mark.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mountmark"));
        command
            .env("MOUNTMARK_STATE_DIR", self.path("state"))
            .env(MARK, self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    /// `run` with small images and results here.
    pub fn run(&self, args: &[&str]) -> Command {
        let mut command = self.command();
        command
            .arg("run")
            .args(["--image-size", "64M", "--seed", "1"])
            .arg("--image-dir")
            .arg(self.path("images"))
            .arg("--results")
            .arg(self.path("results"))
            .args(args);
        command
    }

    pub fn results(&self) -> Results {
        let dir = newest(&self.path("results")).expect("a run was stored");
        load(&dir).expect("the run can be read")
    }

    /// Processes of ours that are still there.
    pub fn processes(&self) -> Vec<i32> {
        let mark = format!("{MARK}={}", self.dir.path().display());
        let own = std::process::id() as i32;
        let entries = fs::read_dir("/proc").expect("/proc");
        entries
            .filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| *pid != own)
            .filter(|pid| {
                let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environ.split(|b| *b == 0).any(|v| v == mark.as_bytes())
            })
            .collect()
    }

    /// Loop devices on images in this place.
    pub fn loops(&self) -> Vec<String> {
        let devices = fs::read_dir("/sys/block").expect("/sys/block");
        devices
            .filter_map(|d| {
                let path = d.ok()?.path().join("loop/backing_file");
                let file = fs::read_to_string(path).ok()?;
                file.contains(&*self.dir.path().to_string_lossy())
                    .then_some(file)
            })
            .collect()
    }

    /// Mounts in this place that others can see.
    pub fn mounts(&self) -> Vec<String> {
        let text = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        let here = self.dir.path().to_string_lossy().into_owned();
        text.lines()
            .filter(|l| l.contains(&here))
            .map(String::from)
            .collect()
    }

    /// Names in a directory of this place.
    pub fn entries(&self, name: &str) -> BTreeSet<String> {
        let entries = fs::read_dir(self.path(name)).expect("a directory");
        entries
            .map(|e| {
                e.expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    }

    /// Nothing runs, nothing is mounted or attached; waits for what is on its way out.
    pub fn assert_nothing_runs(&self, when: &str) {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let (processes, loops, mounts) = (self.processes(), self.loops(), self.mounts());
            if processes.is_empty() && loops.is_empty() && mounts.is_empty() {
                return;
            }
            assert!(
                Instant::now() < end,
                "{when}: left processes {processes:?}, loops {loops:?}, mounts {mounts:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// As above, and nothing lies about either.
    pub fn assert_nothing_left(&self, when: &str) {
        self.assert_nothing_runs(when);
        self.assert_nothing_lies_about(when);
    }

    /// As above, of a place whose test has loop devices of its own in it.
    pub fn assert_nothing_left_but_loops(&self, when: &str) {
        let processes = self.processes();
        assert!(processes.is_empty(), "{when}: left processes {processes:?}");
        self.assert_nothing_lies_about(when);
    }

    fn assert_nothing_lies_about(&self, when: &str) {
        for name in ["images", "data"] {
            let left = self.entries(name);
            assert!(
                left.iter().eq(["somebody-elses"]),
                "{when}: {name} holds {left:?}"
            );
        }
        assert!(
            self.entries("state").is_empty(),
            "{when}: state holds {:?}",
            self.entries("state")
        );
        let groups = self.cgroups();
        assert!(groups.is_empty(), "{when}: cgroups {groups:?}");
    }

    /// Control groups of the runs stored here.
    pub fn cgroups(&self) -> Vec<PathBuf> {
        let runs = self.entries("results");
        let below = "/sys/fs/cgroup";
        let roots = ["", "/unified", "/memory"].map(|root| format!("{below}{root}"));
        let entries = roots.iter().filter_map(|r| fs::read_dir(r).ok()).flatten();
        entries
            .filter_map(|e| Some(e.ok()?.path()))
            .filter(|p| {
                let name = p
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                runs.iter()
                    .any(|run| name.starts_with(&format!("mountmark-{run}")))
            })
            .collect()
    }
}

pub fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A run in the background, whose standard error is watched.
pub struct Running {
    child: Child,
}

impl Running {
    /// Starts it and waits until standard error has a line with `words`.
    pub fn until(mut command: Command, words: &str) -> Self {
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut running = Running { child };
        let stderr = running.child.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(stderr).lines();
        let mut seen = String::new();
        loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("it ended before saying '{words}': {seen}");
            };
            seen.push_str(&line);
            seen.push('\n');
            if line.contains(words) {
                break;
            }
        }
        // Keeps reading, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        running
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("it is there");
    }

    /// Waits for its end; the exit code, or `None` after a signal.
    pub fn end(mut self) -> Option<i32> {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status.code();
            }
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The workers below `pid`, once there is one.
pub fn worker_of(pid: i32) -> i32 {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            if line.split(|b| *b == 0).nth(1) == Some(b"worker") {
                return child.parse().expect("a number");
            }
        }
        assert!(Instant::now() < end, "no worker appears");
        std::thread::sleep(Duration::from_millis(5));
    }
}
