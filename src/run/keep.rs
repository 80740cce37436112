//! `--keep-on-failure`: what the first failed case leaves stays, and how to look at it.

use std::path::PathBuf;

use super::environment::{Environment, Options};
use crate::error::{Context, Result, one_line};
use crate::host::interrupt;
use crate::plan::Plan;
use crate::record::{CaseRecord, Outcome};
use crate::target::{Image, WorkDir};

/// Tells of a directory that is kept.
pub(super) fn words(dir: PathBuf) -> String {
    format!(
        "kept for a look: the data in {}; 'mountmark clean' removes them",
        dir.display()
    )
}

/// Keeps the image or device of a case that failed on that of a lane: the image goes into
/// a marked directory of its own, and the cases that follow get another. Says so in the
/// record.
///
/// # Errors
/// When it cannot be kept.
pub(super) fn after(
    record: &mut CaseRecord,
    environment: &mut Environment,
    lane: usize,
    (plan, options): (&Plan, &Options),
) -> Result<()> {
    let failed = matches!(record.outcome, Outcome::Failed { .. });
    let made = record.target.as_ref().is_some_and(|t| t.mkfs.is_some());
    if !options.keep_on_failure || !failed || !made {
        return Ok(());
    }
    let place = &mut environment.lanes[lane];
    if let Some(claimed) = &place.claimed {
        let device = claimed.facts().path.display();
        place.held = Some(format!("{device} holds what a failed case left"));
        record.remarks.push(format!(
            "kept for a look: the data on {device} (mount -o ro {device} /mnt)"
        ));
        return Ok(());
    }
    let Some(image) = place.image.take() else {
        return Ok(());
    };
    let dir = WorkDir::create(&plan.image_dir, &options.run_id, &environment.ledger)?.keep();
    let from = image.keep()?;
    let image = dir.join(from.file_name().unwrap_or_default());
    let log = dir.join("worker.log");
    std::fs::rename(&from, &image).context("cannot keep the image")?;
    // The log is there if a worker ever ran.
    drop(std::fs::copy(&place.worker_log, &log));
    record.remarks.push(format!(
        "kept for a look: the image {} (mount -o loop,ro {} /mnt; the data are in data) and the \
         worker's {}; 'mountmark clean' removes them",
        image.display(),
        image.display(),
        log.display()
    ));
    // Another for the cases that follow, if there is room.
    let made = Image::create(
        &environment.workdir,
        plan.image_size,
        &environment.ledger,
        &interrupt::check,
    );
    let place = &mut environment.lanes[lane];
    match made {
        Ok(image) => place.image = Some(image),
        Err(error) => {
            place.held = Some(format!(
                "the image of a failed case is kept, and there can be no other: {}",
                one_line(&error)
            ));
        }
    }
    Ok(())
}
