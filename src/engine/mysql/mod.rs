//! MySQL and MariaDB: found, told apart, initialised and run as private servers of our
//! own.

mod activity;
mod checkpoint;
mod find;
mod init;
mod local_infile;
mod protocol;
mod session;
mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;

pub(super) use find::find;
pub use session::MySession;

use super::instance::{Instance, READY_LIMIT};
use super::log::Log;
use super::place::{Account, give, must_be_empty, socket_path};
use super::process::Spawn;
use super::watch::ServerWatch;
use super::{Address, Build, Engine, Launch, Server, Settings};
use crate::error::{Context, Error, Result};
use crate::sql::Dialect;

/// The superuser; without a password, as nobody else passes the socket's directory.
pub const USER: &str = "root";
/// The database that sessions use where nothing else is said.
pub const DATABASE: &str = "mountmark";

const SOCKET: &str = "mysql.sock";
/// An unprivileged user of this name must exist where we are root.
const ACCOUNT: &str = "mysql";
/// A first session must get its answers in this time.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// One build of MySQL or MariaDB.
pub struct Mysql {
    build: Build,
    dialect: Dialect,
    /// The server.
    binary: PathBuf,
}

impl Engine for Mysql {
    fn build(&self) -> &Build {
        &self.build
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The manual's durable set. The binary log is off unless `log_bin` is set, on MySQL
    /// as on MariaDB: one server without replicas needs none, and with it every commit
    /// costs two more flushes.
    fn defaults(&self) -> Settings {
        [
            ("innodb_flush_log_at_trx_commit", "1"),
            ("sync_binlog", "1"),
        ]
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .into()
    }

    fn has_server(&self) -> bool {
        true
    }

    fn initialise(&self, data: &Path, settings: &Settings) -> Result<()> {
        settings::check(self.build.kind, settings)?;
        let account = Account::for_server(ACCOUNT)?;
        give(data, account.as_ref())?;
        must_be_empty(data)
            .and_then(|()| match self.dialect {
                Dialect::Mysql => init::mysql(&self.binary, data, settings, account.as_ref()),
                _ => init::mariadb(&self.binary, data, settings, account.as_ref()),
            })
            .with_context(|| {
                format!(
                    "{} cannot make a data directory in {}",
                    self.build.label(),
                    data.display()
                )
            })
    }

    fn launch(&self, launch: &Launch) -> Result<Box<dyn Server>> {
        settings::check(self.build.kind, &launch.settings)?;
        let account = Account::for_server(ACCOUNT)?;
        let socket = socket_path(&launch.run_dir, SOCKET)?;
        give(&launch.run_dir, account.as_ref())?;
        give(&launch.data, account.as_ref())?;
        let mut instance = self.start(launch, &socket, account.as_ref())?;
        let mut first = None;
        instance.await_ready(READY_LIMIT, || {
            first = self.try_session(&socket)?;
            Ok(first.is_some())
        })?;
        if let Some(mut session) = first {
            settings::verify(&mut session, &launch.settings)
                .with_context(|| format!("{} is not as it was asked to be", self.build.label()))?;
        }
        Ok(Box::new(instance))
    }
}

impl Mysql {
    /// A session; `None` while the server does not take one yet.
    fn try_session(&self, socket: &Path) -> Result<Option<MySession>> {
        let limit = Some(ANSWER_LIMIT);
        if !socket.exists() {
            return Ok(None);
        }
        match MySession::open(socket, USER, DATABASE, self.dialect, limit) {
            Ok(session) => Ok(Some(session)),
            Err(error) if error.code.is_empty() => Ok(None),
            Err(error) => Err(Error::new(error).context(format!(
                "{} refuses a session to database {DATABASE}",
                self.build.label()
            ))),
        }
    }

    fn start(&self, launch: &Launch, socket: &Path, account: Option<&Account>) -> Result<Instance> {
        let mut spawn = Spawn {
            cpus: &launch.cpus,
            cgroups: &launch.cgroups,
            // One process: nothing can outlive it.
            orphaned: Signal::SIGKILL,
            ..Spawn::helper(&self.binary, account)
        };
        spawn.args = settings::command_line(self.dialect, launch, socket);
        if self.dialect == Dialect::Mariadb {
            spawn.args.extend(init::mariadb_messages(&self.binary));
        }
        let log = Log::at(&launch.run_dir.join("server.log"))?;
        let process = spawn.start(log, None)?;
        Ok(Instance {
            label: self.build.label(),
            watch: ServerWatch::new(process.pid(), &launch.cgroups),
            process,
            address: Address::Mysql {
                socket: socket.to_path_buf(),
                user: USER.to_string(),
                database: DATABASE.to_string(),
                dialect: self.dialect,
                asked: launch.settings.keys().cloned().collect(),
            },
            stop: Signal::SIGTERM,
        })
    }
}
