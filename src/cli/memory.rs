//! `--memory`: what was typed, what it may be on this machine, and what the servers are
//! told to live within it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use crate::engine::Kind;
use crate::error::{Result, ensure, one_line, shown, usage};
use crate::host::{Controller, Facts};
use crate::plan::{Case, Fitted, Plan};
use crate::target::{Device, FsType, Spec, mountinfo};
use crate::units::Bytes;

/// Arguments on memory.
#[derive(Debug, clap::Args)]
pub struct MemoryArgs {
    /// Memory that the server may use, page cache included, an axis (64M,2G); where there is
    /// no server (sqlite, tree, sync), the worker. Servers get the settings that the smallest
    /// can start with, in all cells
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    pub memory: Vec<Bytes>,

    /// With --memory: settings of servers that fit each size, instead of the smallest
    #[arg(long, requires = "memory")]
    pub tune_memory: bool,
}

/// Less than this holds no program at all.
const LEAST: Bytes = Bytes::mib(4);

impl MemoryArgs {
    /// The axis.
    pub fn axis(&self) -> Vec<Option<Bytes>> {
        match self.memory.as_slice() {
            [] => vec![None],
            given => given.iter().copied().map(Some).collect(),
        }
    }

    /// Refuses sizes that limit nothing or hold nothing, and targets on which a limit would
    /// measure nothing.
    ///
    /// # Errors
    /// With the way out.
    pub fn check(&self, targets: &[Spec]) -> Result<()> {
        if self.memory.is_empty() {
            return Ok(());
        }
        let machine = Bytes(Facts::read().memory_bytes);
        for size in &self.memory {
            ensure!(
                *size >= LEAST,
                usage(format!(
                    "--memory {size} holds no program; give it {LEAST} at least"
                ))
            );
            ensure!(
                machine.0 == 0 || *size <= machine,
                usage(format!(
                    "--memory {size} is more than this machine has ({}); name less",
                    machine.human()
                ))
            );
        }
        targets.iter().try_for_each(measures_something)
    }

    /// Chooses the settings of the servers: those of the smallest size for all, or with
    /// `--tune-memory` each its own.
    pub fn fit(&self, cases: &mut [Case]) {
        let smallest = self.memory.iter().min().copied();
        for case in cases {
            let own = if self.tune_memory {
                case.key.memory
            } else {
                smallest
            };
            if let Some(limit) = own {
                case.fit(limit);
            }
        }
    }
}

fn measures_something(target: &Spec) -> Result<()> {
    let dir = match target {
        Spec::Made(made) if made.fs == FsType::Tmpfs => {
            return Err(usage(format!(
                "--memory and --on {target}: data on a tmpfs are memory themselves, a limit \
                 would measure nothing; name a file system on a device"
            )));
        }
        Spec::Made(_) => return Ok(()),
        Spec::Directory(dir) => dir,
    };
    // One that cannot be looked at fails later, with its own reason.
    let Ok(mount) = mountinfo::holder_of(dir) else {
        return Ok(());
    };
    ensure!(
        !mount.in_memory(),
        usage(format!(
            "--memory and --on {}: it is in memory ({}), a limit would measure nothing; name a \
             directory on a disk",
            shown(dir),
            mount.fs_type
        ))
    );
    let device = mount.device().and_then(|path| Device::read(&path).ok());
    ensure!(
        device.is_none_or(|device| device.loop_direct_io != Some(false)),
        usage(format!(
            "--memory and --on {}: it is on a loop device without direct I/O, and the machine \
             would cache what the limit must not hold; attach it with losetup --direct-io=on",
            shown(dir)
        ))
    );
    Ok(())
}

/// What a user should know of the choices of `plan`.
pub(super) fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    for (kind, of_kind) in fitted(&plan.cases) {
        for (fitted, sizes) in of_kind {
            let settings: Vec<String> = fitted
                .settings
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let sizes: Vec<String> = sizes.iter().map(Bytes::to_string).collect();
            notes.push(format!(
                "{kind} with {} of memory: {} (fits {})",
                sizes.join(" and "),
                settings.join(" "),
                fitted.to
            ));
        }
    }
    notes.extend(past_the_cache(&plan.cases));
    notes
}

/// For each kind of engine the settings that were chosen, with the sizes they serve.
fn fitted(cases: &[Case]) -> BTreeMap<Kind, Vec<(&Fitted, Vec<Bytes>)>> {
    let mut found: BTreeMap<Kind, Vec<(&Fitted, Vec<Bytes>)>> = BTreeMap::new();
    for case in cases {
        let (Some(fitted), Some(spec), Some(size)) = (&case.fitted, &case.engine, case.key.memory)
        else {
            continue;
        };
        let of_kind = found.entry(spec.kind).or_default();
        match of_kind.iter_mut().find(|(other, _)| *other == fitted) {
            Some((_, sizes)) if sizes.contains(&size) => {}
            Some((_, sizes)) => sizes.push(size),
            None => of_kind.push((fitted, vec![size])),
        }
    }
    found
}

/// InnoDB told to read past the page cache.
fn past_the_cache(cases: &[Case]) -> Option<String> {
    let direct = |case: &&Case| {
        let kind = case.engine.as_ref().map(|spec| spec.kind);
        let innodb = matches!(kind, Some(Kind::Mariadb | Kind::Mysql));
        case.key.memory.is_some()
            && innodb
            && case.key.settings.iter().any(|(name, value)| {
                Kind::Mariadb.same_setting(name, "innodb_flush_method")
                    && value.to_ascii_uppercase().starts_with("O_DIRECT")
            })
    };
    cases.iter().find(direct).map(|_| {
        "innodb_flush_method=O_DIRECT reads past the page cache: InnoDB then uses no memory but \
         its pool, and a larger limit changes nothing"
            .to_string()
    })
}

/// How the limits of `plan` would be set here, or why they cannot.
pub(super) fn means(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    if !plan.limits_memory() {
        return Ok(());
    }
    match Controller::find() {
        Ok(controller) => writeln!(out, "memory limits by {controller}"),
        Err(error) => writeln!(out, "memory limits cannot be set: {}", one_line(&error)),
    }
}

/// What `doctor` says of memory limits: whether they can be set, and how or why not.
pub(super) fn finding() -> (bool, String) {
    match Controller::find() {
        Ok(controller) if Path::new("/run/systemd/system").exists() => (
            true,
            format!("{controller}, in a scope that systemd delegates"),
        ),
        Ok(controller) => (true, controller.to_string()),
        Err(error) => {
            let words = one_line(&error);
            // Every finding that is missing tells the way out after a semicolon.
            let words = match words.contains(';') {
                true => words,
                false => words.replacen(": ", "; ", 1),
            };
            (false, words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(memory: &[&str]) -> MemoryArgs {
        MemoryArgs {
            memory: memory.iter().map(|m| m.parse().unwrap()).collect(),
            tune_memory: false,
        }
    }

    fn refused(memory: &str, target: &str) -> String {
        let targets = [target.parse::<Spec>().unwrap()];
        args(&[memory]).check(&targets).unwrap_err().to_string()
    }

    #[test]
    fn what_would_measure_nothing_is_refused() {
        assert!(refused("64M", "tmpfs").contains("are memory themselves"));
        assert!(refused("1M", "ext4").contains("4M at least"));
        assert!(refused("4T", "ext4").contains("more than this machine has"));
        if Path::new("/dev/shm").is_dir() {
            assert!(refused("64M", "/dev/shm").contains("it is in memory"));
        }
        assert!(args(&["64M"]).check(&["ext4".parse().unwrap()]).is_ok());
        assert!(args(&[]).check(&["tmpfs".parse().unwrap()]).is_ok());
    }
}
