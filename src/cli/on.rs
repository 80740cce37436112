//! What follows `--on`, and what it means on this machine.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result, shown, usage};
use crate::target::mountinfo::{self, Mount};
use crate::target::{Made, Spec};

/// A target, or a word that stands for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// One target.
    Target(Spec),
    /// Each mounted, writable file system on a block device.
    Mounted,
}

impl FromStr for On {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "mounted" => Ok(On::Mounted),
            text => text.parse().map(On::Target),
        }
    }
}

/// The targets that `given` names, and what a user should know about the choice.
///
/// # Errors
/// The root directory; `mounted` where nothing is mounted that could be measured.
pub fn targets(given: &[On], notes: &mut Vec<String>) -> Result<Vec<Spec>> {
    let mut found = Vec::new();
    for on in given {
        match on {
            On::Target(spec) => {
                refuse_root(spec)?;
                found.push(spec.clone());
            }
            On::Mounted => found.extend(mounted(notes)?),
        }
    }
    Ok(found)
}

/// The root directory is the system's own: nothing of ours is put beside its entries.
fn refuse_root(spec: &Spec) -> Result<()> {
    match spec {
        Spec::Directory(path) if path.canonicalize().is_ok_and(|p| p == Path::new("/")) => {
            Err(usage(format!(
                "{} is the root directory, where nothing is made; name a directory on it, \
                 like /var/tmp",
                shown(path)
            )))
        }
        _ => Ok(()),
    }
}

fn mounted(notes: &mut Vec<String>) -> Result<Vec<Spec>> {
    let mut found = Vec::new();
    for mount in mountinfo::measurable()? {
        match place_on(&mount) {
            Some(dir) => found.push(Spec::Directory(dir)),
            None => notes.push(format!(
                "{} is left out: no directory on it can be written to",
                shown(&mount.at)
            )),
        }
    }
    if found.is_empty() {
        return Err(usage(
            "no mounted, writable file system on a block device is seen here; name a directory \
             or a file system to make with --on",
        ));
    }
    Ok(found)
}

/// Where to work on a mounted file system: its mount point, or for the root the usual
/// place for large temporary files.
pub fn place_on(mount: &Mount) -> Option<PathBuf> {
    let candidates = match mount.at == Path::new("/") {
        true => ["/var/tmp", "/home", "/root", "/srv"]
            .map(PathBuf::from)
            .to_vec(),
        false => vec![mount.at.clone()],
    };
    candidates.into_iter().find(|dir| {
        let here = mountinfo::holder_of(dir).is_ok_and(|holder| holder.id == mount.id);
        here && rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok()
    })
}

/// Whether some target lives on a device or image.
pub fn needs_device(targets: &[Spec]) -> bool {
    let on_device = |made: &Made| made.fs.needs_device();
    targets
        .iter()
        .any(|target| matches!(target, Spec::Made(made) if on_device(made)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounted_is_a_word_and_the_root_is_refused() {
        assert_eq!("mounted".parse::<On>().unwrap(), On::Mounted);
        assert!(matches!("ext4".parse().unwrap(), On::Target(Spec::Made(_))));
        for root in ["/", "/.", "/usr/.."] {
            let error = targets(&[root.parse().unwrap()], &mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains("root directory"), "{error}");
        }
    }

    #[test]
    fn what_is_mounted_has_a_place_to_work_in() {
        for mount in mountinfo::measurable().unwrap() {
            if let Some(dir) = place_on(&mount) {
                assert!(dir.starts_with(&mount.at) && dir != Path::new("/"));
            }
        }
    }
}
