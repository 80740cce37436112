//! `mountmark import`.

use super::args::ImportArgs;
use super::commands::run_id;
use super::{ALL_MEASURED, SOME_FAILED};
use crate::error::{Result, ensure, usage};
use crate::import::{self, Options};
use crate::record::Store;

/// Makes a run of files and stores it; lines that cannot be read are told, and then the
/// exit code says so.
///
/// # Errors
/// A file that cannot be opened, nothing in any of them, a run that cannot be stored.
pub(super) fn import(args: &ImportArgs) -> Result<u8> {
    let options = Options {
        id: run_id(),
        label: args.label.clone(),
        on: args.on.clone(),
    };
    let imported = import::import(&args.files, &options)?;
    for fault in &imported.faults {
        eprintln!("mountmark: {fault}");
    }
    ensure!(
        !imported.cases.is_empty(),
        usage(
            "nothing was imported: name RUN files or outputs of phases of sql-bench, or reports and \
             logs of pgbench"
        )
    );
    let mut store = Store::create(&args.results, imported.run)?;
    for case in &imported.cases {
        store.append(case)?;
    }
    println!(
        "{} cases stored in {}; 'mountmark report' shows them",
        imported.cases.len(),
        store.dir().display()
    );
    match imported.faults.len() {
        0 => Ok(ALL_MEASURED),
        _ => Ok(SOME_FAILED),
    }
}
