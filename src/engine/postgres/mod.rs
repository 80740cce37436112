//! PostgreSQL: found, initialised and run as a private server of our own.

mod activity;
mod find;
mod link;
mod session;
mod settings;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;

pub(super) use find::find;
pub use link::{Answer, PgLink};
pub use session::PgSession;

use super::instance::{INIT_LIMIT, Instance, READY_LIMIT};
use super::log::Log;
use super::place::{Account, give, must_be_empty, socket_path};
use super::process::Spawn;
use super::watch::ServerWatch;
use super::{Address, Build, Engine, Launch, Server, Settings};
use crate::error::{Context, Error, Result};
use crate::sql::Dialect;

/// The superuser of every data directory, and the only user.
pub const USER: &str = "postgres";
/// The database that sessions use where nothing else is said.
pub const DATABASE: &str = "mountmark";

/// The socket's name follows the port number, although no port is opened.
const SOCKET: &str = ".s.PGSQL.5432";
/// The server's log, beside its socket.
const LOG: &str = "server.log";
/// An unprivileged user of this name must exist where we are root.
const ACCOUNT: &str = "postgres";
/// A first session must get its answers in this time.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// One build of PostgreSQL.
pub struct Postgres {
    build: Build,
    /// The directory of `postgres` and `initdb`.
    bin: PathBuf,
}

impl Engine for Postgres {
    fn build(&self) -> &Build {
        &self.build
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    /// The manual's durable set, which is also what the server does unasked.
    fn defaults(&self) -> Settings {
        [
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous_commit", "on"),
        ]
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .into()
    }

    fn has_server(&self) -> bool {
        true
    }

    fn initialise(&self, data: &Path, settings: &Settings) -> Result<()> {
        settings::check(settings)?;
        let account = Account::for_server(ACCOUNT)?;
        give(data, account.as_ref())?;
        must_be_empty(data)
            .and_then(|()| self.initdb(data, settings, account.as_ref()))
            .and_then(|()| self.name_database(data, account.as_ref()))
            .with_context(|| {
                format!(
                    "{} cannot make a data directory in {}",
                    self.build.label(),
                    data.display()
                )
            })
    }

    fn launch(&self, launch: &Launch) -> Result<Box<dyn Server>> {
        settings::check(&launch.settings)?;
        let account = Account::for_server(ACCOUNT)?;
        socket_path(&launch.run_dir, SOCKET)?;
        give(&launch.run_dir, account.as_ref())?;
        give(&launch.data, account.as_ref())?;
        let mut instance = self.start(launch, account.as_ref())?;
        let pid_file = launch.data.join("postmaster.pid");
        let pid = instance.process.pid();
        instance.await_ready(READY_LIMIT, || Ok(says_ready(&pid_file, pid)))?;
        settings::verify(&launch.run_dir, &launch.settings)
            .with_context(|| format!("{} is not as it was asked to be", self.build.label()))?;
        Ok(Box::new(instance))
    }
}

impl Postgres {
    fn major(&self) -> u32 {
        let digits = |c: char| c.is_ascii_digit();
        let end = self.build.version.find(|c| !digits(c));
        let major = &self.build.version[..end.unwrap_or(self.build.version.len())];
        major.parse().unwrap_or(0)
    }

    fn initdb(&self, data: &Path, settings: &Settings, account: Option<&Account>) -> Result<()> {
        let program = self.bin.join("initdb");
        let mut initdb = Spawn::helper(&program, account)
            .arg("-D")
            .arg(data)
            .arg("-U")
            .arg(USER)
            .arg("--auth=trust")
            .arg("--encoding=UTF8")
            .arg("--locale=C")
            .arg("--no-instructions")
            .arg("--no-sync");
        initdb
            .args
            .extend(settings::for_initdb(settings, self.major())?);
        initdb.run(None, INIT_LIMIT).map(drop)
    }

    /// Gives the database that initdb made our name, in single-user mode: a second one
    /// would be 300 more files to restore before every round.
    fn name_database(&self, data: &Path, account: Option<&Account>) -> Result<()> {
        let statement = format!("ALTER DATABASE postgres RENAME TO {DATABASE}\n");
        let program = self.bin.join("postgres");
        let output = Spawn::helper(&program, account)
            .arg("--single")
            .arg("-F")
            .arg("-D")
            .arg(data)
            .arg("template1")
            .run(Some(&statement), INIT_LIMIT)?;
        // Single-user mode ends with 0 whatever its statements did.
        if output.contains("ERROR:") {
            return Err(Error::msg(output)).context("cannot name the database");
        }
        Ok(())
    }

    fn start(&self, launch: &Launch, account: Option<&Account>) -> Result<Instance> {
        let program = self.bin.join("postgres");
        let mut spawn = Spawn {
            cpus: &launch.cpus,
            cgroups: &launch.cgroups,
            // The immediate shutdown: unlike SIGKILL it also ends backends in the middle
            // of a statement, and removes shared memory.
            orphaned: Signal::SIGQUIT,
            ..Spawn::helper(&program, account)
        }
        .arg("-D")
        .arg(&launch.data);
        for (name, value) in settings::private(&launch.run_dir) {
            spawn = spawn.arg("-c").arg(format!("{name}={value}"));
        }
        for (name, value) in settings::for_server(&launch.settings) {
            spawn = spawn.arg("-c").arg(format!("{name}={value}"));
        }
        let log = Log::at(&launch.run_dir.join(LOG))?;
        let process = spawn.start(log, None)?;
        Ok(Instance {
            label: self.build.label(),
            watch: ServerWatch::new(process.pid(), &launch.cgroups),
            process,
            address: Address::Postgres {
                dir: launch.run_dir.clone(),
                user: USER.to_string(),
                database: DATABASE.to_string(),
            },
            // Fast shutdown: sessions are ended, dirty pages written.
            stop: Signal::SIGINT,
        })
    }
}

/// The eighth line of `postmaster.pid` is the state; the first tells whose it is.
fn says_ready(pid_file: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(pid_file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.first().and_then(|l| l.parse().ok()) == Some(pid) && lines.get(7) == Some(&"ready")
}
