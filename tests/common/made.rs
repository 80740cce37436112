//! For tests that make file systems themselves: images in memory, each test in the
//! private mount namespace of a thread of its own.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mountmark::error::Result;
use mountmark::host::ledger::Ledger;
use mountmark::target::{
    FsType, Image, Made, MountGuard, Privilege, Spec, WorkDir, namespace, probe,
};
use mountmark::units::Bytes;

/// Skips visibly, or fails where the environment requires `what`.
pub fn skip(what: &str, why: &str) {
    let required = std::env::var("MOUNTMARK_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|word| word.trim() == what),
        "{what} is required (MOUNTMARK_REQUIRE) but {why}"
    );
    eprintln!("skipped: {what}: {why}");
}

pub fn can_make(fs: FsType) -> bool {
    match probe(fs) {
        Ok(()) => true,
        Err(missing) => {
            skip(fs.name(), &missing.to_string());
            false
        }
    }
}

/// A place for one test: a working directory in memory, and a ledger.
pub struct Place {
    pub work: WorkDir,
    pub ledger: Ledger,
    _state: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let run_id = format!("test-{}-{number}", std::process::id());
        let state = tempfile::tempdir().unwrap();
        let ledger = Ledger::open_in(state.path(), &run_id).unwrap();
        let work = WorkDir::create(Path::new("/dev/shm"), &run_id, &ledger).unwrap();
        Place {
            work,
            ledger,
            _state: state,
        }
    }

    pub fn image(&self, mib: u64) -> Image {
        Image::create(&self.work, Bytes::mib(mib), &self.ledger, &|| Ok(())).unwrap()
    }

    pub fn mount_point(&self) -> PathBuf {
        let at = self.work.path().join("mnt");
        fs::create_dir_all(&at).unwrap();
        at
    }
}

/// Runs `test` in a thread with a private mount namespace, or skips.
pub fn private(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let outcome = scope
            .spawn(|| match namespace::enter_private().unwrap() {
                Privilege::Full => test(),
                Privilege::DirectoriesOnly { reason } => skip("root", &reason),
            })
            .join();
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
}

pub fn made(text: &str) -> Made {
    match text.parse() {
        Ok(Spec::Made(made)) => made,
        other => panic!("{text}: {other:?}"),
    }
}

pub fn mounted(text: &str, device: &Path, at: &Path) -> Result<MountGuard> {
    let made = made(text);
    made.format(device)?;
    made.mount(Some(device), at)
}
