//! A running private server: the same for PostgreSQL, MySQL and MariaDB.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::process::{Process, ending};
use super::watch::{ServerWatch, tree};
use super::{Address, Server};
use crate::error::{Result, bail};
use crate::measure::CpuTime;

/// After this a server that has not become ready is given up: long enough for recovery
/// from a full log on a slow disk.
pub(super) const READY_LIMIT: Duration = Duration::from_secs(120);

/// After this a server that was asked to stop is given up: it writes everything that is
/// dirty in its memory first.
pub(super) const STOP_LIMIT: Duration = Duration::from_secs(300);

/// After this the making of a data directory is given up.
pub(super) const INIT_LIMIT: Duration = Duration::from_secs(300);

/// One running server; killed on drop.
pub(super) struct Instance {
    /// For messages: `postgres 15.18`.
    pub label: String,
    pub process: Process,
    pub address: Address,
    pub watch: ServerWatch,
    /// What makes it stop cleanly.
    pub stop: Signal,
}

impl Instance {
    /// Asks `look` until it says that the server is ready, with the reason at hand when
    /// the server ends first or the limit passes.
    pub fn await_ready(
        &mut self,
        limit: Duration,
        mut look: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        let label = self.label.clone();
        let ready = self.process.wait_for(limit, |process| {
            if let Some(status) = process.ended() {
                let log = process.log().quoted();
                bail!("{label} {} before it was ready{log}", ending(status));
            }
            Ok(look()?.then_some(()))
        })?;
        if ready.is_none() {
            bail!(
                "{label} was not ready within {} s{}",
                limit.as_secs(),
                self.process.log().quoted()
            );
        }
        Ok(())
    }

    /// Stops it cleanly within `limit`.
    fn stop_within(mut self, limit: Duration) -> Result<()> {
        if let Some(reason) = self.died() {
            bail!("{reason}");
        }
        self.process.signal(self.stop);
        match self.process.wait(limit)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!(
                "{} {} when it was stopped{}",
                self.label,
                ending(status),
                self.process.log().quoted()
            ),
            None => bail!(
                "{} did not stop within {} s{}",
                self.label,
                limit.as_secs(),
                self.process.log().quoted()
            ),
        }
    }
}

impl Server for Instance {
    fn address(&self) -> Address {
        self.address.clone()
    }

    fn pids(&self) -> Vec<u32> {
        tree(self.process.pid())
    }

    fn cpu(&self) -> Option<CpuTime> {
        self.watch.cpu()
    }

    fn watch(&self) -> Option<ServerWatch> {
        Some(self.watch.clone())
    }

    fn died(&mut self) -> Option<String> {
        let status = self.process.ended()?;
        debug_assert!(status.code().is_some() || status.signal().is_some());
        Some(format!(
            "{} {}{}",
            self.label,
            ending(status),
            self.process.log().quoted()
        ))
    }

    fn log_tail(&self) -> Vec<String> {
        self.process.log().tail()
    }

    fn stop(self: Box<Self>) -> Result<()> {
        self.stop_within(STOP_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::log::Log;
    use crate::engine::process::Spawn;

    fn instance(script: &str) -> Instance {
        let process = Spawn::helper(Path::new("/bin/sh"), None)
            .arg("-c")
            .arg(script)
            .start(Log::in_memory().unwrap(), None)
            .unwrap();
        Instance {
            label: "pretended 1".to_string(),
            watch: ServerWatch::new(process.pid(), &[]),
            process,
            address: Address::Null {
                script: Default::default(),
            },
            stop: Signal::SIGTERM,
        }
    }

    #[test]
    fn one_that_never_becomes_ready_is_given_up_with_its_log() {
        let mut slow = instance("echo still busy; sleep 60");
        let error = slow
            .await_ready(Duration::from_millis(200), || Ok(false))
            .unwrap_err()
            .to_string();
        assert!(error.contains("not ready within"), "{error}");
        assert!(error.contains("still busy"), "{error}");
        let pid = slow.process.pid();
        drop(slow);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn one_that_ends_early_tells_code_and_log() {
        let mut early = instance("echo no space left >&2; exit 3");
        let error = early
            .await_ready(Duration::from_secs(10), || Ok(false))
            .unwrap_err()
            .to_string();
        assert!(error.contains("exit code 3"), "{error}");
        assert!(error.contains("no space left"), "{error}");
        assert!(early.died().unwrap().contains("exit code 3"));
    }

    #[test]
    fn one_that_does_not_stop_is_given_up_and_killed_with_its_children() {
        let mut deaf = instance("trap '' TERM; sleep 61 & echo set; wait; wait; sleep 62");
        deaf.await_ready(Duration::from_secs(10), || Ok(true))
            .unwrap();
        while deaf.log_tail().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let pids = deaf.pids();
        assert!(pids.len() > 1, "{pids:?}");
        let error = deaf
            .stop_within(Duration::from_millis(100))
            .unwrap_err()
            .to_string();
        assert!(error.contains("did not stop within"), "{error}");
        let alive = |pid: &u32| {
            std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z "))
        };
        for _ in 0..500 {
            if !pids.iter().any(alive) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("left over: {pids:?}");
    }
}
