//! `plan`: what a run would measure and need.

use std::io::{self, Write};

use super::ALL_MEASURED;
use super::args::RunArgs;
use super::memory;
use super::resolve::{Resolved, resolve};
use crate::error::{Result, one_line};
use crate::plan::Plan;
use crate::target::{Privilege, namespace};
use crate::units::Bytes;

/// Prints what `args` would measure and need.
///
/// # Errors
/// As [`resolve`].
pub(super) fn show(args: &RunArgs) -> Result<u8> {
    let privilege = namespace::enter_private()?;
    let Resolved { plan, notes } = resolve(args, &privilege).map_err(|e| args.blame(e))?;
    let mut out = io::stdout().lock();
    for note in &args.typed.notes {
        writeln!(out, "{note}")?;
    }
    let twins = plan.cases.iter().filter(|c| c.key.replicate > 0).count();
    let cases = plan.cases.len() - twins;
    for (number, case) in plan.cases.iter().enumerate() {
        if number == cases {
            writeln!(
                out,
                "each baseline once more in every round, to show the noise of the run (A/A pairs):"
            )?;
        }
        writeln!(out, "{:4}  {}", number + 1, case.key)?;
    }
    duets(&mut out, &plan)?;
    let pairs = match twins {
        0 => String::new(),
        n => format!(" and {n} for A/A pairs"),
    };
    writeln!(
        out,
        "\n{cases} cases{pairs} × {} rounds = {} measurements; profile {}",
        plan.rounds,
        plan.measurements(),
        plan.sqlbench.profile
    )?;
    if let Some(rule) = plan.until_sure {
        writeln!(
            out,
            "rounds are added until no interval is wider than {} %, up to {}",
            (rule.width * 1000.0).round() / 10.0,
            rule.most
        )?;
    }
    memory::means(&mut out, &plan)?;
    if plan.needs_image() {
        disk_need(&mut out, &plan, &privilege)?;
    }
    for device in &plan.devices {
        let fit = match crate::target::claim(device, &args.destroy) {
            Ok(facts) => format!("{}, overwritten before every case", facts.size.human()),
            Err(error) => one_line(&error),
        };
        writeln!(out, "device {}: {fit}", crate::error::shown(device))?;
    }
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(ALL_MEASURED)
}

fn disk_need(out: &mut dyn Write, plan: &Plan, privilege: &Privilege) -> Result<()> {
    if let Privilege::DirectoriesOnly { reason } = privilege {
        writeln!(
            out,
            "file systems cannot be made here ({reason}): those cases would be skipped; run as root"
        )?;
        return Ok(());
    }
    let size = Bytes(plan.image_size.0 * plan.lanes() as u64);
    let fits = crate::target::check_space(&plan.image_dir, size);
    let images = match plan.lanes() {
        1 => "a loop image of".to_string(),
        n => format!("{n} loop images, together"),
    };
    writeln!(
        out,
        "{images} {} in {}: {}",
        size.human(),
        plan.image_dir.display(),
        match fits {
            Ok(()) => "there is room".to_string(),
            Err(error) => one_line(&error),
        }
    )?;
    Ok(())
}

/// Which cases take turns, by their numbers in the list.
fn duets(out: &mut dyn Write, plan: &Plan) -> Result<()> {
    let pairs: Vec<String> = plan
        .units
        .iter()
        .filter_map(|unit| match unit[..] {
            [base, new] => Some(format!("{} beside {}", new + 1, base + 1)),
            _ => None,
        })
        .collect();
    if let Some(slice) = plan.slice {
        writeln!(
            out,
            "in duet, taking turns of {} ms: {}",
            slice.as_secs_f64() * 1000.0,
            pairs.join(", ")
        )?;
    }
    Ok(())
}
