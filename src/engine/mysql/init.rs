//! The making of data directories: the two have nothing in common here.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DATABASE, settings};
use crate::engine::Settings;
use crate::engine::instance::INIT_LIMIT;
use crate::engine::place::Account;
use crate::engine::process::Spawn;
use crate::error::{Context, Result, bail};

/// MySQL makes its own system tables; the password of root stays empty. Our database is
/// made by an init file, which is its standard input.
pub(super) fn mysql(
    binary: &Path,
    data: &Path,
    settings: &Settings,
    account: Option<&Account>,
) -> Result<()> {
    let mut spawn = Spawn::helper(binary, account)
        .arg("--no-defaults")
        .arg("--initialize-insecure")
        .arg(option("datadir", data))
        .arg("--secure-file-priv=NULL")
        .arg("--mysqlx=OFF")
        .arg("--skip-log-bin")
        .arg("--init-file=/dev/stdin");
    spawn.args.extend(settings::for_init(settings));
    let statement = format!("CREATE DATABASE {DATABASE};\n");
    spawn.run(Some(&statement), INIT_LIMIT).map(drop)
}

/// MariaDB is fed the system tables as statements, as its own install script does, but
/// without that script's extra server starts and without syncs.
pub(super) fn mariadb(
    binary: &Path,
    data: &Path,
    settings: &Settings,
    account: Option<&Account>,
) -> Result<()> {
    let share = Share::of(binary)?;
    let statements = share.statements()?;
    fs::create_dir(data.join("mysql"))
        .and_then(|()| chown(&data.join("mysql"), account))
        .context("cannot make the directory of the system tables")?;
    let mut spawn = Spawn::helper(binary, account)
        .arg("--no-defaults")
        .arg("--bootstrap")
        .arg(option("datadir", data))
        .arg(option("lc-messages-dir", &share.messages));
    spawn.args.extend(settings::for_init(settings));
    spawn = spawn.arg("--innodb-flush-method=nosync");
    spawn.run(Some(&statements), INIT_LIMIT).map(drop)
}

fn chown(path: &Path, account: Option<&Account>) -> std::io::Result<()> {
    match account {
        Some(a) => std::os::unix::fs::chown(path, Some(a.uid), Some(a.gid)),
        None => Ok(()),
    }
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut text = std::ffi::OsString::from(format!("--{name}="));
    text.push(path);
    text
}

/// The directory of error messages of a MariaDB build: one that is not where it was
/// built for does not find it by itself.
pub(super) fn mariadb_messages(binary: &Path) -> Option<std::ffi::OsString> {
    let share = Share::of(binary).ok()?;
    Some(option("lc-messages-dir", &share.messages))
}

/// The shared files of a MariaDB build.
struct Share {
    tables: PathBuf,
    rows: PathBuf,
    messages: PathBuf,
}

impl Share {
    /// Beside the binary's directory, so that a build in its own prefix is whole.
    fn of(binary: &Path) -> Result<Self> {
        let prefix = binary.parent().and_then(Path::parent);
        let prefixes = prefix.into_iter().chain([Path::new("/usr")]);
        let dirs = prefixes.flat_map(|prefix| {
            ["share/mysql", "share/mariadb", "share"].map(|dir| prefix.join(dir))
        });
        for dir in dirs {
            for name in ["mariadb", "mysql"] {
                let tables = dir.join(format!("{name}_system_tables.sql"));
                let rows = dir.join(format!("{name}_system_tables_data.sql"));
                if tables.exists() && rows.exists() {
                    return Ok(Share {
                        tables,
                        rows,
                        messages: dir,
                    });
                }
            }
        }
        bail!(
            "mariadb_system_tables.sql is not in the share directory beside {}; \
             install the package mariadb-server whole",
            binary.display()
        )
    }

    fn statements(&self) -> Result<String> {
        let read = |file: &Path| {
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
        };
        Ok(format!(
            "use mysql;\n{}\n{}\nCREATE DATABASE {DATABASE};\n",
            read(&self.tables)?,
            read(&self.rows)?
        ))
    }
}
