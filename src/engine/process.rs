//! The guard around a process of ours: it starts confined, ends with its parent, is
//! waited for within limits, and is gone when the guard is dropped.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::log::{Log, file_of};
use super::place::Account;
use super::watch;
use crate::error::{Context, Result, bail};
use crate::host::interrupt;

/// How long a dropped guard waits after its fast signal before it kills.
const DROP_LIMIT: Duration = Duration::from_secs(2);

/// The steps between two looks at a process that is waited for: short enough not to be
/// seen in a start of 50 ms.
pub(super) const POLL: Duration = Duration::from_millis(2);

/// What to start, and how confined.
pub(super) struct Spawn<'a> {
    /// The binary.
    pub program: &'a Path,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Whom to become; `None`: stay who we are.
    pub account: Option<&'a Account>,
    /// CPUs it may use; empty: all.
    pub cpus: &'a [usize],
    /// `cgroup.procs` files it joins.
    pub cgroups: &'a [PathBuf],
    /// Sent by the kernel when the thread that started it ends, whatever way: it must
    /// leave nothing of the process tree.
    pub orphaned: Signal,
}

impl<'a> Spawn<'a> {
    /// A short-lived helper, unconfined.
    pub fn helper(program: &'a Path, account: Option<&'a Account>) -> Self {
        Spawn {
            program,
            args: Vec::new(),
            account,
            cpus: &[],
            cgroups: &[],
            orphaned: Signal::SIGKILL,
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Starts it with its output going to `log`.
    pub fn start(&self, log: Log, input: Option<&str>) -> Result<Process> {
        let mut command = Command::new(self.program);
        command
            .args(&self.args)
            .current_dir("/")
            .env_clear()
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .stdin(match input {
                Some(text) => Stdio::from(file_of(text)?),
                None => Stdio::null(),
            })
            .stdout(log.stream()?)
            .stderr(log.stream()?);
        if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let confine = Confinement::new(self)?;
        // SAFETY: the closure makes system calls on values prepared above and allocates
        // nothing.
        unsafe { command.pre_exec(move || confine.apply()) };
        let child = command.spawn().with_context(|| self.cannot_start(&log))?;
        Ok(Process {
            child,
            log,
            ended: None,
            fast: self.orphaned,
        })
    }

    fn cannot_start(&self, log: &Log) -> String {
        let mut text = format!("cannot start {}", self.program.display());
        if let Some(account) = self.account {
            text += &format!(" as user {}", account.name);
        }
        let tail = log.tail();
        if !tail.is_empty() {
            text += &format!(" ({})", tail.join("; "));
        }
        text
    }

    /// Runs it to its end and returns what it printed.
    ///
    /// # Errors
    /// When it fails or takes longer than `limit`, with its last lines.
    pub fn run(&self, input: Option<&str>, limit: Duration) -> Result<String> {
        let mut process = self.start(Log::in_memory()?, input)?;
        let name = self.program.display();
        match process.wait(limit)? {
            Some(status) if status.success() => Ok(process.log.text()),
            Some(status) => bail!("{name} {}{}", ending(status), process.log.quoted()),
            None => bail!(
                "{name} did not end within {} s{}",
                limit.as_secs(),
                process.log.quoted()
            ),
        }
    }
}

/// What the child does to itself between fork and exec; made before the fork.
struct Confinement {
    parent: libc::pid_t,
    cgroups: Vec<File>,
    cpus: Option<libc::cpu_set_t>,
    account: Option<(libc::uid_t, libc::gid_t)>,
    orphaned: libc::c_int,
}

impl Confinement {
    fn new(spawn: &Spawn<'_>) -> Result<Self> {
        let open = |path: &PathBuf| {
            OpenOptions::new()
                .write(true)
                .open(path)
                .with_context(|| format!("cannot open {}", path.display()))
        };
        Ok(Confinement {
            parent: std::process::id() as libc::pid_t,
            cgroups: spawn.cgroups.iter().map(open).collect::<Result<_>>()?,
            cpus: (!spawn.cpus.is_empty()).then(|| cpu_set(spawn.cpus)),
            account: spawn.account.map(|a| (a.uid, a.gid)),
            orphaned: spawn.orphaned as libc::c_int,
        })
    }

    /// Async-signal-safe: system calls only. The step that fails is named in the log.
    fn apply(&self) -> io::Result<()> {
        for group in &self.cgroups {
            // SAFETY: the buffer is static; "0" is the writing process itself.
            let n = unsafe { libc::write(group.as_raw_fd(), b"0\n".as_ptr().cast(), 2) };
            step(if n == 2 { 0 } else { -1 }, "cannot join the cgroup\n")?;
        }
        // SAFETY: plain system calls with valid arguments.
        unsafe {
            if let Some(cpus) = &self.cpus {
                let size = size_of::<libc::cpu_set_t>();
                step(
                    libc::sched_setaffinity(0, size, cpus),
                    "cannot pin to the CPUs\n",
                )?;
            }
            step(libc::setpgid(0, 0), "cannot make a process group\n")?;
            libc::umask(0o077);
            let no_core = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &no_core);
            if let Some((uid, gid)) = self.account {
                step(libc::setgroups(0, std::ptr::null()), "cannot drop groups\n")?;
                step(libc::setgid(gid), "cannot change the group\n")?;
                step(libc::setuid(uid), "cannot change the user\n")?;
            }
            // After setuid, which clears it; and the parent may have gone before it.
            step(
                libc::prctl(libc::PR_SET_PDEATHSIG, self.orphaned),
                "cannot ask for a signal at the parent's end\n",
            )?;
            if libc::getppid() != self.parent {
                libc::_exit(1);
            }
            // Descriptors that some library opened without CLOEXEC; old kernels lack it.
            libc::syscall(
                libc::SYS_close_range,
                3,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            );
        }
        Ok(())
    }
}

fn step(answer: libc::c_int, text: &'static str) -> io::Result<()> {
    if answer >= 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    // SAFETY: the buffer is static; descriptor 2 is the log.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    Err(error)
}

fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: an all-zero cpu_set_t is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus.iter().filter(|&&c| c < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    set
}

/// A started process. Dropping it ends it and everything it started.
pub(super) struct Process {
    child: Child,
    log: Log,
    ended: Option<ExitStatus>,
    fast: Signal,
}

impl Process {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().unwrap_or(None);
        }
        self.ended
    }

    /// Sends a signal to the process alone.
    pub fn signal(&mut self, signal: Signal) {
        if self.ended().is_none() {
            // Not reaped yet, so the id is still its own.
            let _ = nix::sys::signal::kill(watch::pid_t(self.pid()), signal);
        }
    }

    /// Waits for its end; `None` when the limit passed.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        self.wait_for(limit, |process| Ok(process.ended()))
    }

    /// Asks `look` again and again until it has an answer or the limit has passed; a
    /// signal to ourselves ends the wait with an error.
    pub fn wait_for<T>(
        &mut self,
        limit: Duration,
        mut look: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let start = Instant::now();
        loop {
            if let Some(answer) = look(self)? {
                return Ok(Some(answer));
            }
            interrupt::check()?;
            if start.elapsed() > limit {
                return Ok(None);
            }
            sleep(POLL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let tree = watch::tree(self.pid());
        self.signal(self.fast);
        if self.fast == Signal::SIGKILL || !matches!(self.wait(DROP_LIMIT), Ok(Some(_))) {
            for pid in tree {
                let _ = nix::sys::signal::kill(watch::pid_t(pid), Signal::SIGKILL);
            }
            let group = nix::unistd::Pid::from_raw(-(self.pid() as i32));
            let _ = nix::sys::signal::kill(group, Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

/// "ended with exit code 1", "was killed by SIGKILL".
pub(super) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(9)) => {
            "was killed by SIGKILL (by hand, or the memory limit was reached)".to_string()
        }
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(signal) => format!("was killed by {signal}"),
            Err(_) => format!("was killed by signal {signal}"),
        },
        (None, None) => "ended".to_string(),
    }
}
