//! Where the server's binary is, and which of the two it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Mysql;
use crate::engine::place::{is_executable, on_path};
use crate::engine::process::Spawn;
use crate::engine::{Build, Kind};
use crate::error::{Context, Result, bail, usage};
use crate::sql::Dialect;

/// Where distributions and their makers put the server, which is often not on PATH.
const USUAL: [&str; 6] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/libexec",
    "/usr/local/mysql/bin",
];

/// The server `file`, or the first of PATH and the usual places that is a `kind`.
///
/// # Errors
/// What is missing or of the other kind, and the way out.
pub(in crate::engine) fn find(kind: Kind, file: Option<&Path>) -> Result<Mysql> {
    if let Some(file) = file {
        if !is_executable(file) {
            return Err(usage(format!(
                "{} is no server binary: name the mysqld or mariadbd file itself",
                file.display()
            )));
        }
        let found = asked(file)?;
        return match found.build.kind == kind {
            true => Ok(found),
            false => Err(other_kind(kind, &found)),
        };
    }
    let mut other = None;
    for file in candidates(kind) {
        match asked(&file) {
            Ok(found) if found.build.kind == kind => return Ok(found),
            Ok(found) => other = other.or(Some(found)),
            Err(_) => {}
        }
    }
    Err(match other {
        Some(found) => other_kind(kind, &found),
        None => usage(missing(kind)),
    })
}

fn missing(kind: Kind) -> String {
    let (package, file) = match kind {
        Kind::Mysql => ("mysql-server (the distribution's or mysql.com's)", "mysqld"),
        _ => ("mariadb-server", "mariadbd"),
    };
    format!(
        "no {kind} server found on PATH, in /usr/sbin or /usr/libexec; install the package \
         {package}, or name the file: --engine {kind}=/path/to/{file}"
    )
}

fn other_kind(kind: Kind, found: &Mysql) -> crate::error::Error {
    usage(format!(
        "{} is {}, not {kind}; use --engine {}, or name another file: --engine {kind}=FILE",
        found.binary.display(),
        found.build.label(),
        found.build.kind
    ))
}

fn candidates(kind: Kind) -> Vec<PathBuf> {
    let names: &[&str] = match kind {
        Kind::Mysql => &["mysqld"],
        _ => &["mariadbd", "mysqld"],
    };
    let usual = names
        .iter()
        .flat_map(|name| USUAL.map(|dir| Path::new(dir).join(name)))
        .filter(|file| is_executable(file));
    on_path(names).into_iter().chain(usual).collect()
}

fn asked(file: &Path) -> Result<Mysql> {
    let told = Spawn::helper(file, None)
        .arg("--no-defaults")
        .arg("--version")
        .run(None, Duration::from_secs(10))
        .with_context(|| format!("cannot ask {} for its version", file.display()))?;
    let Some((kind, version)) = version_in(&told) else {
        bail!(
            "{} is neither MySQL nor MariaDB: it calls itself '{}'",
            file.display(),
            told.trim()
        );
    };
    let binary = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    Ok(Mysql {
        build: Build {
            kind,
            version,
            binary: Some(binary.clone()),
        },
        dialect: match kind {
            Kind::Mysql => Dialect::Mysql,
            _ => Dialect::Mariadb,
        },
        binary,
    })
}

/// `mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for …`, `mysqld  Ver 9.7.4-2 for …`.
fn version_in(told: &str) -> Option<(Kind, String)> {
    let words = told.split_once(" Ver ")?.1.split_whitespace().next()?;
    let version = words.split('-').next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| {
        let kind = match told.contains("MariaDB") {
            true => Kind::Mariadb,
            false => Kind::Mysql,
        };
        (kind, version.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_are_told_apart() {
        let debian = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        assert_eq!(version_in(debian), Some((Kind::Mariadb, "10.11.19".into())));
        let mysql = "/opt/mysql/bin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))";
        assert_eq!(version_in(mysql), Some((Kind::Mysql, "9.7.4".into())));
        assert_eq!(version_in("postgres (PostgreSQL) 15.18"), None);
    }

    #[test]
    fn a_file_that_is_no_server_is_named() {
        for file in ["/nonexistent", "/bin/true"] {
            let error = find(Kind::Mysql, Some(Path::new(file))).map(|_| ());
            let told = error.unwrap_err().to_string();
            assert!(told.contains(file), "{told}");
        }
    }
}
