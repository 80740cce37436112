//! Servers for tests: found or skipped, initialised once, copied for each test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use mountmark::engine::{Engine, Kind, Launch, Server, Session, Settings, Spec, connect, find};
use mountmark::error::one_line;
use tempfile::TempDir;

/// The build of `kind`, or `None` with a visible word when it may be absent.
pub fn engine(kind: Kind) -> Option<Box<dyn Engine>> {
    let path = match kind {
        Kind::Mysql => std::env::var_os("MOUNTMARK_MYSQL").map(PathBuf::from),
        _ => None,
    };
    match find(&Spec { kind, path }) {
        Ok(engine) => Some(engine),
        Err(error) => {
            let required = std::env::var("MOUNTMARK_REQUIRE").unwrap_or_default();
            let required = required.split(',').any(|k| k.trim() == kind.name());
            assert!(!required, "{kind} is required: {}", one_line(&error));
            eprintln!("SKIPPED, no {kind}: {}", one_line(&error));
            None
        }
    }
}

/// A directory that other users can pass but not look into.
pub fn passable_dir() -> TempDir {
    let dir = tempfile::Builder::new()
        .prefix("mm-")
        .permissions(fs::Permissions::from_mode(0o711))
        .tempdir();
    dir.expect("a temporary directory")
}

/// A data directory of its own for one test.
pub struct Place {
    pub dir: TempDir,
    pub engine: Box<dyn Engine>,
}

impl Place {
    /// With a copy of a data directory that is made once for each kind.
    pub fn new(kind: Kind) -> Option<Self> {
        let engine = engine(kind)?;
        let dir = passable_dir();
        let template = template(kind, engine.as_ref());
        let copied = Command::new("cp")
            .arg("-a")
            .arg(template)
            .arg(dir.path().join("data"))
            .status();
        assert!(copied.expect("cp runs").success());
        fs::create_dir(dir.path().join("run")).unwrap();
        Some(Place { dir, engine })
    }

    pub fn launch_with(&self, settings: &[(&str, &str)]) -> Launch {
        launch_in(self.dir.path(), self.engine.as_ref(), settings)
    }

    pub fn start(&self) -> Box<dyn Server> {
        let launch = self.launch_with(&[]);
        self.engine
            .launch(&launch)
            .unwrap_or_else(|error| panic!("{}", one_line(&error)))
    }
}

/// With the defaults and `settings`, in the two directories below `dir`.
pub fn launch_in(dir: &Path, engine: &dyn Engine, settings: &[(&str, &str)]) -> Launch {
    let mut all = engine.defaults();
    all.extend(settings_of(settings));
    Launch {
        data: dir.join("data"),
        run_dir: dir.join("run"),
        settings: all,
        cpus: Vec::new(),
        cgroups: Vec::new(),
    }
}

/// Without syncs, which change no count.
pub fn unsynced(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Postgres => &[("fsync", "off")],
        _ => &[("innodb_flush_log_at_trx_commit", "0")],
    }
}

pub fn session(server: &dyn Server) -> Box<dyn Session> {
    connect(&server.address()).expect("a session")
}

pub fn settings_of(pairs: &[(&str, &str)]) -> Settings {
    pairs
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect()
}

/// Data directories to copy; statics are not dropped, so they go when the process ends.
static TEMPLATES: [OnceLock<PathBuf>; 5] = [const { OnceLock::new() }; 5];

fn template(kind: Kind, engine: &dyn Engine) -> PathBuf {
    let dir = TEMPLATES[kind as usize].get_or_init(|| {
        let dir = passable_dir().keep();
        // SAFETY: the handler only reads a static and removes files.
        unsafe { libc::atexit(remove_templates) };
        fs::create_dir(dir.join("data")).unwrap();
        engine
            .initialise(&dir.join("data"), &engine.defaults())
            .unwrap_or_else(|error| panic!("{}", one_line(&error)));
        dir
    });
    dir.join("data")
}

extern "C" fn remove_templates() {
    for dir in TEMPLATES.iter().filter_map(OnceLock::get) {
        let _ = fs::remove_dir_all(dir);
    }
}

/// True for a process that runs (not one that is only waited for).
pub fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
}

/// Waits until none of the processes runs, ten seconds at most.
pub fn assert_gone(pids: &[u32]) {
    for _ in 0..1000 {
        if !pids.iter().any(|pid| alive(*pid)) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("left over: {pids:?}");
}
