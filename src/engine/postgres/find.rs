//! Where PostgreSQL's binaries are, and which version they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Postgres;
use crate::engine::place::{is_executable, on_path};
use crate::engine::process::Spawn;
use crate::engine::{Build, Kind};
use crate::error::{Context, Result, usage};

/// Directories that hold one directory a version, as distributions lay them out.
const VERSIONED: [(&str, &str); 2] = [("/usr/lib/postgresql", ""), ("/usr", "pgsql-")];
const OTHERS: [&str; 2] = ["/usr/local/pgsql/bin", "/usr/lib/postgresql/bin"];

/// The build in `dir` (binaries or prefix), or the first of PATH and the usual places.
///
/// # Errors
/// What is missing, and how to get it.
pub(in crate::engine) fn find(dir: Option<&Path>) -> Result<Postgres> {
    let bin = match dir {
        Some(dir) => named(dir)?,
        None => usual().ok_or_else(|| {
            usage(
                "no PostgreSQL server found on PATH or in /usr/lib/postgresql/*/bin; \
                 install the package postgresql, or name the directory of its binaries: \
                 --engine postgres=DIR",
            )
        })?,
    };
    let binary = bin.join("postgres");
    let told = Spawn::helper(&binary, None)
        .arg("--version")
        .run(None, Duration::from_secs(10))
        .with_context(|| format!("cannot ask {} for its version", binary.display()))?;
    let version = version_in(&told).ok_or_else(|| {
        usage(format!(
            "{} is not PostgreSQL: it calls itself '{}'",
            binary.display(),
            told.trim()
        ))
    })?;
    Ok(Postgres {
        build: Build {
            kind: Kind::Postgres,
            version,
            binary: Some(binary),
        },
        bin,
    })
}

fn named(dir: &Path) -> Result<PathBuf> {
    [dir.to_path_buf(), dir.join("bin")]
        .into_iter()
        .find(|bin| complete(bin))
        .map(|bin| bin.canonicalize().unwrap_or(bin))
        .ok_or_else(|| {
            usage(format!(
                "no PostgreSQL server in {}: name the directory that holds postgres and initdb",
                dir.display()
            ))
        })
}

fn complete(bin: &Path) -> bool {
    is_executable(&bin.join("postgres")) && is_executable(&bin.join("initdb"))
}

/// Links are followed first: distributions put one into /usr/bin and leave the rest.
fn usual() -> Option<PathBuf> {
    let of_path = on_path(&["postgres"])
        .and_then(|file| file.canonicalize().ok())
        .and_then(|file| file.parent().map(Path::to_path_buf));
    of_path
        .into_iter()
        .chain(versioned())
        .chain(OTHERS.map(PathBuf::from))
        .find(|bin| complete(bin))
}

/// Newest first.
fn versioned() -> Vec<PathBuf> {
    let mut found: Vec<(Vec<u32>, PathBuf)> = Vec::new();
    for (parent, prefix) in VERSIONED {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(version) = name.strip_prefix(prefix) else {
                continue;
            };
            let numbers: Option<Vec<u32>> = version.split('.').map(|n| n.parse().ok()).collect();
            if let Some(numbers) = numbers {
                found.push((numbers, entry.path().join("bin")));
            }
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, bin)| bin).collect()
}

/// `postgres (PostgreSQL) 15.18 (Debian …)`.
fn version_in(told: &str) -> Option<String> {
    let rest = told.trim().strip_prefix("postgres (PostgreSQL) ")?;
    rest.split_whitespace().next().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(version_in(debian).unwrap(), "15.18");
        assert_eq!(
            version_in("postgres (PostgreSQL) 18beta1").unwrap(),
            "18beta1"
        );
        assert_eq!(version_in("mariadbd  Ver 10.11"), None);
    }

    #[test]
    fn a_directory_without_a_server_is_named() {
        let error = find(Some(Path::new("/nonexistent")))
            .map(|_| ())
            .unwrap_err();
        assert!(error.to_string().contains("/nonexistent"), "{error}");
    }
}
