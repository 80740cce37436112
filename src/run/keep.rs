//! `--keep-on-failure`: what the first failed case leaves stays, and how to look at it.

use std::path::PathBuf;

use super::environment::{Environment, Options};
use super::lifecycle::lane_of;
use crate::error::{Context, Result};
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

/// Keeps the image or device of a case that failed on one: the image goes into a marked
/// directory of its own, and the cases that follow get another. Says so in the record.
///
/// # Errors
/// When it cannot be kept, or there is no room for another image.
pub(super) fn after(
    record: &mut CaseRecord,
    environment: &mut Environment,
    plan: &Plan,
    options: &Options,
) -> Result<()> {
    let failed = matches!(record.outcome, Outcome::Failed { .. });
    let made = record.target.as_ref().is_some_and(|t| t.mkfs.is_some());
    if !options.keep_on_failure || !failed || !made {
        return Ok(());
    }
    let round = record.round;
    let lane = record.duet.as_ref();
    let lane = lane.map_or(0, |duet| lane_of(duet.side, round));
    if let Some(claimed) = &environment.lanes[lane].claimed {
        let device = claimed.facts().path.display();
        environment.held = Some(format!("{device} holds what a failed case left"));
        record.remarks.push(format!(
            "kept for a look: the data on {device} (mount -o ro {device} /mnt)"
        ));
        return Ok(());
    }
    let Some(image) = environment.lanes[lane].image.take() else {
        return Ok(());
    };
    let dir = WorkDir::create(&plan.image_dir, &options.run_id, &environment.ledger)?.keep();
    let from = image.keep()?;
    let image = dir.join(from.file_name().unwrap_or_default());
    let log = dir.join("worker.log");
    std::fs::rename(&from, &image).context("cannot keep the image")?;
    // The log is there if a worker ever ran.
    drop(std::fs::copy(&environment.lanes[lane].worker_log, &log));
    record.remarks.push(format!(
        "kept for a look: the image {} (mount -o loop,ro {} /mnt; the data are in data) and the \
         worker's {}; 'mountmark clean' removes them",
        image.display(),
        image.display(),
        log.display()
    ));
    environment.held = another(environment, lane, plan).err();
    Ok(())
}

/// Another image for the cases that follow; if there cannot be one, why they are skipped.
fn another(environment: &mut Environment, lane: usize, plan: &Plan) -> Result<(), String> {
    let made = Image::create(
        &environment.workdir,
        plan.image_size,
        &environment.ledger,
        &interrupt::check,
    );
    let image = made.map_err(|error| {
        format!(
            "the image of a failed case is kept, and there can be no other: {}",
            crate::error::one_line(&error)
        )
    })?;
    environment.lanes[lane].image = Some(image);
    Ok(())
}
