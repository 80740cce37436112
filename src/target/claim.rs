//! May this device be overwritten? Devices in use never; one with foreign data only if
//! the user named it for that.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::device::{Device, number_of, sysfs};
use super::mkfs::LABEL;
use super::mountinfo;
use super::probe::find_program;
use crate::error::{Context, Result, bail};

/// Accepts a device of the user's for made targets, or says why not. `destroy` names
/// the devices whose present content may go (compared after resolving links); a blank
/// one and one that holds a file system of ours need no naming.
pub fn claim(device: &Path, destroy: &[PathBuf]) -> Result<Device> {
    let facts = Device::read(device)?;
    check_idle(&facts.path)?;
    let named = destroy
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .any(|path| path == facts.path);
    if !named && let Some(content) = foreign_content(&facts.path)? {
        bail!(
            "{} holds {content}; to overwrite it, add --destroy {}",
            facts.path.display(),
            facts.path.display()
        );
    }
    Ok(facts)
}

/// Fails if the device is mounted, swapped on, held by another device, or partitioned.
/// The kernel keeps exclusive openers apart from all of these, in every namespace.
pub(super) fn check_idle(device: &Path) -> Result<()> {
    let number = number_of(device)?;
    let shown = device.display();
    let partitioned = std::fs::read_dir(sysfs(number).join(""))
        .with_context(|| format!("sysfs does not know {shown}"))?
        .flatten()
        .any(|entry| entry.path().join("partition").exists());
    if partitioned {
        bail!("{shown} is partitioned: it is never overwritten; name one of its partitions");
    }
    let exclusive = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL | libc::O_CLOEXEC)
        .open(device);
    match exclusive {
        Ok(_) => Ok(()),
        Err(e) if e.raw_os_error() == Some(libc::EBUSY) => {
            let real = device.canonicalize()?;
            let user = mountinfo::read()?
                .into_iter()
                .find(|mount| mount.device().as_ref() == Some(&real))
                .map_or_else(
                    || "mounted elsewhere, swapped on, or part of another device".to_string(),
                    |mount| format!("mounted on {}", mount.at.display()),
                );
            bail!("{shown} is in use ({user}): it is never overwritten; name another device")
        }
        Err(e) => Err(e).with_context(|| format!("cannot open {shown}")),
    }
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
