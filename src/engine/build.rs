//! Engine builds: what was found on this machine.

use std::path::PathBuf;

use super::{Engine, Kind, Spec, mysql, null, postgres, sqlite};
use crate::error::Result;

/// One engine with its binaries and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Which kind.
    pub kind: Kind,
    /// The version as the engine itself tells it.
    pub version: String,
    /// The main binary; `None` for an engine that is built in.
    pub binary: Option<PathBuf>,
}

impl Build {
    /// `postgres 15.18`: the name of the build in keys and tables.
    pub fn label(&self) -> String {
        format!("{} {}", self.kind, self.version)
    }
}

/// Finds the build that `spec` names.
///
/// # Errors
/// What is missing, and the package or option that brings it.
pub fn find(spec: &Spec) -> Result<Box<dyn Engine>> {
    match spec.kind {
        Kind::Sqlite => Ok(Box::new(sqlite::Sqlite::new())),
        Kind::Null => Ok(Box::new(null::Null::new())),
        Kind::Postgres => Ok(Box::new(postgres::find(spec.path.as_deref())?)),
        Kind::Mysql | Kind::Mariadb => Ok(Box::new(mysql::find(spec.kind, spec.path.as_deref())?)),
    }
}
