//! `mountmark doctor`: what can be measured here and what cannot, with reason and remedy.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use super::ALL_MEASURED;
use super::memory;
use super::on::place_on;
use crate::engine::{self, Kind};
use crate::error::{Result, one_line, shown};
use crate::host::{Facts, Hierarchies, disturbers};
use crate::plan::{DurabilityFacts, durability};
use crate::target::mountinfo::{self, Mount};
use crate::target::{self, FsType, namespace};
use crate::units::Bytes;

/// Writes the findings; finding something missing is no failure.
///
/// # Errors
/// When they cannot be written.
pub fn doctor() -> Result<u8> {
    let mut out = io::stdout().lock();
    machine(&mut out)?;
    engines(&mut out)?;
    file_systems(&mut out)?;
    means(&mut out)?;
    mounted(&mut out)?;
    disturbing(&mut out)?;
    Ok(ALL_MEASURED)
}

/// A finding: whether it is there, what, and details or the way out.
fn line(out: &mut dyn Write, there: bool, what: &str, words: &str) -> io::Result<()> {
    let sign = if there { "yes" } else { "no " };
    writeln!(out, "  {sign}  {what}: {words}")
}

fn machine(out: &mut dyn Write) -> io::Result<()> {
    let facts = Facts::read();
    writeln!(
        out,
        "{}, Linux {}, {} CPUs, {} of memory{}",
        facts.system,
        facts.kernel,
        facts.cpus,
        Bytes(facts.memory_bytes).human(),
        match facts.virtual_machine {
            true => ", virtual: what its disks do with a flush cannot be seen",
            false => "",
        }
    )
}

fn engines(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nengines")?;
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Null) {
        match engine::find(&engine::Spec { kind, path: None }) {
            Ok(found) => {
                let build = found.build();
                let place = build.binary.as_deref().map_or("built in".into(), shown);
                line(
                    out,
                    true,
                    kind.name(),
                    &format!("{}, {place}", build.version),
                )?;
            }
            Err(error) => line(out, false, kind.name(), &one_line(&error))?,
        }
    }
    Ok(())
}

fn file_systems(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nfile systems that can be made")?;
    for fs in FsType::ALL {
        match target::probe(fs) {
            Ok(()) if fs.needs_device() => line(out, true, fs.name(), "kernel and mkfs have it")?,
            Ok(()) => line(out, true, fs.name(), "the kernel has it")?,
            Err(missing) => line(out, false, fs.name(), &missing.to_string())?,
        }
    }
    Ok(())
}

/// What is needed beside: mounts, loop devices, control groups, FUSE.
fn means(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nmeans")?;
    match namespace::enter_private() {
        Ok(target::Privilege::Full) => line(out, true, "mounting", "in a private namespace")?,
        Ok(target::Privilege::DirectoriesOnly { reason }) => {
            line(out, false, "mounting", &format!("{reason}; run as root"))?;
        }
        Err(error) => line(out, false, "mounting", &one_line(&error))?,
    }
    device(
        out,
        "loop devices",
        "/dev/loop-control",
        "modprobe loop, or use --device",
    )?;
    cgroups(out)?;
    device(
        out,
        "FUSE",
        "/dev/fuse",
        "modprobe fuse; without it power cuts cannot be tried",
    )
}

fn device(out: &mut dyn Write, what: &str, path: &str, remedy: &str) -> io::Result<()> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(_) => line(out, true, what, path),
        Err(error) => line(out, false, what, &format!("{path}: {error}; {remedy}")),
    }
}

fn cgroups(out: &mut dyn Write) -> io::Result<()> {
    let found = Hierarchies::detect();
    let writable = |dir: &Path| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok();
    match found.unified.as_deref() {
        Some(dir) if writable(dir) => {
            line(
                out,
                true,
                "CPU of a server",
                &format!("cgroup v2 at {}", shown(dir)),
            )?;
        }
        Some(dir) => {
            let words = format!("{} is not writable; run as root", shown(dir));
            line(out, false, "CPU of a server", &words)?;
        }
        None => {
            let words = "no cgroup v2 is mounted; the clock tick has to do";
            line(out, false, "CPU of a server", words)?;
        }
    }
    let (there, words) = memory::finding();
    line(out, there, "memory limits", &words)
}

/// Kinds that hold no files of a user's.
const PSEUDO: &str = "\
    autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl \
    hugetlbfs mqueue nsfs proc pstore rpc_pipefs securityfs selinuxfs sysfs tracefs";

fn mounted(out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\nmounted file systems as targets")?;
    let measurable = mountinfo::measurable()?;
    let all = mountinfo::read()?;
    for (number, mount) in all.iter().enumerate() {
        let pseudo = PSEUDO.split_whitespace().any(|kind| kind == mount.fs_type);
        let hidden = all[number + 1..].iter().any(|later| later.at == mount.at);
        if pseudo || hidden || mount.at.starts_with("/sys") {
            continue;
        }
        let what = format!("{} ({})", shown(&mount.at), mount.fs_type);
        match why_not(mount, &measurable) {
            Some(reason) => line(out, false, &what, &reason)?,
            None => line(out, true, &what, &offer(mount))?,
        }
    }
    Ok(())
}

/// How it is named and what it can give.
fn offer(mount: &Mount) -> String {
    let dir = place_on(mount).unwrap_or_else(|| mount.at.clone());
    let free = rustix::fs::statvfs(&dir).map_or(0, |s| s.f_bavail * s.f_frsize);
    let worth = durability(&DurabilityFacts {
        chain: &target::chain(&dir),
        engine: None,
        counted: None,
    });
    format!(
        "--on {}, {} free, {worth}",
        shown(&dir),
        Bytes(free).human()
    )
}

fn why_not(mount: &Mount, measurable: &[Mount]) -> Option<String> {
    if measurable.iter().any(|usable| usable.id == mount.id) {
        return match place_on(mount) {
            Some(_) => None,
            None => Some("no directory on it can be written to; run as another user".into()),
        };
    }
    let read_only = mount.options().iter().any(|option| option == "ro");
    Some(match mount.device() {
        _ if read_only => "read-only; remount it with rw".to_string(),
        _ if mount.in_memory() => {
            format!(
                "memory, not a disk; --on {} measures it all the same",
                shown(&mount.at)
            )
        }
        None => format!(
            "not on a block device that can be seen ({}); --on DIR measures it, without counts",
            mount.source.to_string_lossy()
        ),
        Some(_) if !mount.at.is_dir() => "a single file".to_string(),
        Some(device) => match measurable.iter().find(|m| m.source == mount.source) {
            Some(first) => format!("the same file system as {}", shown(&first.at)),
            None => format!("{} cannot be used", shown(&device)),
        },
    })
}

fn disturbing(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nwhat would disturb a measurement now")?;
    let found = disturbers();
    if found.is_empty() {
        return writeln!(out, "  nothing that can be seen");
    }
    for disturber in found {
        writeln!(out, "  {}; {}", disturber.what, disturber.remedy)?;
    }
    Ok(())
}
