//! May this device be overwritten? Devices in use never; one with foreign data only if
//! the user named it for that.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde::Deserialize;

use super::device::{Device, number_of, sysfs};
use super::mkfs::LABEL;
use super::mount::BUSY_LIMIT;
use super::probe::find_program;
use super::{mountinfo, partition_table};
use crate::error::{Context, Error, Result, anyhow, bail, shown};
use crate::host::marker::IMAGE_SUFFIX;

/// A device of the user's that made targets may overwrite, locked (`flock`) so that no
/// second mountmark takes it between two cases.
#[derive(Debug)]
pub struct Claimed {
    facts: Device,
    _lock: File,
}

impl Claimed {
    /// As [`claim`], for as long as this lives.
    pub fn take(device: &Path, destroy: &[PathBuf]) -> Result<Claimed> {
        let facts = claim(device, destroy)?;
        let shown = facts.path.display();
        let image = facts.loop_backing.as_deref();
        if image.is_some_and(|i| i.to_string_lossy().ends_with(IMAGE_SUFFIX)) {
            bail!("{shown} is on the image of a run of mountmark; name another device");
        }
        let lock = File::open(&facts.path).with_context(|| format!("cannot open {shown}"))?;
        let start = Instant::now();
        // udev locks a device while it looks at it.
        while flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            if start.elapsed() > BUSY_LIMIT {
                bail!("{shown} is locked, perhaps by another mountmark; wait for its end");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Claimed { facts, _lock: lock })
    }

    /// What is known of it.
    pub fn facts(&self) -> &Device {
        &self.facts
    }
}

/// Accepts a device of the user's for made targets, or says why not. `destroy` names
/// the devices whose present content may go (compared after resolving links); a blank
/// one and one that holds a file system of ours need no naming.
pub fn claim(device: &Path, destroy: &[PathBuf]) -> Result<Device> {
    let facts = Device::read(device)?;
    check_idle(&facts.path)?;
    let shown = facts.path.display();
    if facts.size.0 == 0 {
        bail!("{shown} has no size: nothing is attached to it; name another device");
    }
    if facts.read_only {
        bail!("{shown} is read-only; name another device");
    }
    let named = destroy
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .any(|path| path == facts.path);
    if !named && let Some(content) = foreign_content(&facts.path)? {
        bail!("{shown} holds {content}; to overwrite it, add --destroy {shown}");
    }
    Ok(facts)
}

/// Fails if the device is mounted, swapped on, held by another device, or partitioned, or
/// if it is a loop device and what it sits on is used besides.
pub(super) fn check_idle(device: &Path) -> Result<()> {
    let mut device = device.to_path_buf();
    // A loop device may sit on another device.
    for _ in 0..16 {
        check_one(&device)?;
        let Some(backing) = Device::read(&device)?.loop_backing else {
            return Ok(());
        };
        if let Some(other) = other_loop_on(&device, &backing)? {
            bail!(
                "{} and {other} sit on the same {}: it is never overwritten; detach one",
                device.display(),
                shown(&backing)
            );
        }
        if number_of(&backing).is_err() {
            return Ok(());
        }
        device = backing;
    }
    bail!("{} is on too many loop devices", device.display())
}

/// Another loop device on the same file or device.
fn other_loop_on(device: &Path, backing: &Path) -> Result<Option<String>> {
    let own = device.file_name().unwrap_or_default();
    for entry in std::fs::read_dir("/sys/block")?.flatten() {
        let other = std::fs::read_to_string(entry.path().join("loop/backing_file"));
        let same = other.is_ok_and(|text| Path::new(text.trim_end_matches('\n')) == backing);
        if same && entry.file_name() != own {
            return Ok(Some(format!("/dev/{}", entry.file_name().display())));
        }
    }
    Ok(None)
}

/// The kernel keeps exclusive openers apart from mounts, swap and holders, in every
/// namespace.
fn check_one(device: &Path) -> Result<()> {
    let number = number_of(device)?;
    let shown = device.display();
    let known_partitions = std::fs::read_dir(sysfs(number))
        .with_context(|| format!("sysfs does not know {shown}"))?
        .flatten()
        .any(|entry| entry.path().join("partition").exists());
    if let Some(at) = mounted_on(device)? {
        return Err(in_use(device, &format!("mounted on {}", self::shown(&at))));
    }
    let start = Instant::now();
    loop {
        let exclusive = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_EXCL | libc::O_CLOEXEC)
            .open(device);
        let error = match exclusive {
            Ok(_) if known_partitions || partition_table::is_on(device)? => {
                bail!("{shown} is partitioned: it is never overwritten; name one of its partitions")
            }
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if error.raw_os_error() != Some(libc::EBUSY) {
            return Err(error).with_context(|| format!("cannot open {shown}"));
        }
        let user = user_of(device)?;
        // A file system just unmounted lives on while a process that is being started
        // or ended still has our descriptors.
        if user.is_none() && start.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        }
        let user = user.as_deref();
        return Err(in_use(
            device,
            user.unwrap_or("mounted elsewhere, or part of another device"),
        ));
    }
}

fn in_use(device: &Path, by: &str) -> Error {
    anyhow!(
        "{} is in use ({by}): it is never overwritten; name another device",
        device.display()
    )
}

/// Who uses it, where that can be seen.
fn user_of(device: &Path) -> Result<Option<String>> {
    if let Some(at) = mounted_on(device)? {
        return Ok(Some(format!("mounted on {}", shown(&at))));
    }
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    let swap = |line: &str| line.split_whitespace().next().map(PathBuf::from);
    let is_swap = swaps.lines().skip(1).filter_map(swap).any(|s| s == device);
    Ok(is_swap.then(|| "swapped on".to_string()))
}

fn mounted_on(device: &Path) -> Result<Option<PathBuf>> {
    let real = device.canonicalize()?;
    let mut mounts = mountinfo::read()?.into_iter();
    let found = mounts.find(|mount| mount.device().as_ref() == Some(&real));
    Ok(found.map(|mount| mount.at))
}

#[derive(Deserialize)]
struct Signatures {
    signatures: Vec<Signature>,
}

#[derive(Deserialize)]
struct Signature {
    #[serde(rename = "type")]
    kind: String,
    label: Option<String>,
}

/// What is on the device that is not ours, for people; `None` if nothing. All
/// signatures count: under a foreign file system the remains of one of ours may lie.
fn foreign_content(device: &Path) -> Result<Option<String>> {
    let Some(program) = find_program("wipefs") else {
        return Ok(Some(
            "something that cannot be told without wipefs (package util-linux)".to_string(),
        ));
    };
    let output = Command::new(program)
        .args(["--no-act", "--json", "--output", "TYPE,LABEL"])
        .arg(device)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .context("cannot start wipefs")?;
    if !output.status.success() {
        bail!(
            "wipefs cannot read {}: {}",
            device.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let found = parse(&output.stdout)?;
    if found.is_empty() {
        let blank = starts_blank(device)?;
        return Ok((!blank).then(|| "data of an unknown kind".to_string()));
    }
    let foreign = found.iter().find(|s| s.label.as_deref() != Some(LABEL));
    Ok(foreign.map(|signature| match signature.label.as_deref() {
        None | Some("") => signature.kind.clone(),
        Some(label) => format!("{} with the label '{label}'", signature.kind),
    }))
}

/// wipefs prints nothing at all where it finds nothing.
fn parse(json: &[u8]) -> Result<Vec<Signature>> {
    if json.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let all: Signatures =
        serde_json::from_slice(json).context("cannot understand the output of wipefs")?;
    Ok(all.signatures)
}

fn starts_blank(device: &Path) -> Result<bool> {
    let mut start = Vec::new();
    File::open(device)
        .and_then(|file| file.take(1 << 20).read_to_end(&mut start))
        .with_context(|| format!("cannot read {}", device.display()))?;
    Ok(start.iter().all(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read() {
        let json = br#"{"signatures": [{"type":"ext4","label":"mountmark"},
            {"type":"gpt","label":null}]}"#;
        let found = parse(json).unwrap();
        assert_eq!(found[0].label.as_deref(), Some(LABEL));
        assert_eq!(found[1].kind, "gpt");
        assert!(parse(b"\n").unwrap().is_empty());
        assert!(parse(b"no json").is_err());
    }
}
