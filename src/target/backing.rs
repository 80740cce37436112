//! What a write passes on its way down, from the file system of a directory to what
//! keeps it: loop devices to the file system that holds their image, and so on.

use std::path::{Path, PathBuf};

use super::device::{number_of, sysfs};
use super::mountinfo::{self, Mount};

/// Deeper than anybody stacks on purpose.
const DEEPEST: usize = 16;

/// One station of the way down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A file system.
    FileSystem {
        /// The type, as the kernel names it.
        fs_type: String,
        /// Where it is mounted.
        at: PathBuf,
        /// Its options in force.
        options: Vec<String>,
    },
    /// A loop device: a flush becomes an fsync of its image.
    Loop {
        /// Its name, `loop0`.
        name: String,
        /// Whether it announces a volatile cache, so that flushes are sent to it.
        write_back: bool,
    },
    /// A device that hands everything to those beneath it: device mapper, md.
    Stacked {
        /// Its name, `dm-0`.
        name: String,
    },
    /// A device that is memory: zram, a RAM disk.
    Memory {
        /// Its name, `zram0`.
        name: String,
    },
    /// The last device that can be seen.
    Disk {
        /// Its name, `vda`.
        name: String,
        /// Whether it announces a volatile cache.
        write_back: bool,
        /// Whether it can write one request through its cache.
        fua: bool,
    },
    /// Something behind which nothing can be seen, in words.
    Unseen(String),
}

/// The way down from the file system that holds `path`.
pub fn chain(path: &Path) -> Vec<Layer> {
    let mut found = Vec::new();
    match mountinfo::holder_of(path) {
        Ok(mount) => of_mount(&mount, DEEPEST, &mut found),
        Err(_) => found.push(Layer::Unseen(format!("what holds {}", path.display()))),
    }
    found
}

fn of_mount(mount: &Mount, depth: usize, found: &mut Vec<Layer>) {
    let options = mount.effective_options();
    found.push(Layer::FileSystem {
        fs_type: mount.fs_type.clone(),
        at: mount.at.clone(),
        options: options.clone(),
    });
    if mount.in_memory() {
        return;
    }
    if mount.fs_type == "overlay" {
        let upper = options.iter().find_map(|o| o.strip_prefix("upperdir="));
        return match upper.map(Path::new).map(mountinfo::holder_of) {
            Some(Ok(holder)) if depth > 0 && holder.fs_type != "overlay" => {
                of_mount(&holder, depth - 1, found);
            }
            _ => found.push(Layer::Unseen("what is below the overlay".to_string())),
        };
    }
    if mount.fs_type.starts_with("fuse") {
        let unseen = format!("what the FUSE server of {} does", mount.at.display());
        return found.push(Layer::Unseen(unseen));
    }
    let by_source = mount.device().and_then(|path| number_of(&path).ok());
    // The source may be a name that is no path here, `/dev/root`.
    let number = by_source.or_else(|| (mount.dev.0 != 0).then_some(mount.dev));
    match number {
        Some(number) => of_device(&sysfs(number), depth, found),
        None => found.push(Layer::Unseen(format!(
            "what is behind {} ({})",
            mount.source.to_string_lossy(),
            mount.fs_type
        ))),
    }
}

fn of_device(sysfs: &Path, depth: usize, found: &mut Vec<Layer>) {
    let Ok(own) = sysfs.canonicalize() else {
        return found.push(Layer::Unseen(format!("the device {}", sysfs.display())));
    };
    let disk = match own.parent() {
        Some(parent) if own.join("partition").exists() => parent.to_path_buf(),
        _ => own,
    };
    let name = disk.file_name().unwrap_or_default().to_string_lossy();
    let name = name.into_owned();
    if depth == 0 {
        return found.push(Layer::Unseen(format!("what is below {name}")));
    }
    let write_back = text(&disk.join("queue/write_cache")).as_deref() != Some("write through");
    if let Some(image) = text(&disk.join("loop/backing_file")) {
        found.push(Layer::Loop { name, write_back });
        return of_file(Path::new(&image), depth - 1, found);
    }
    if name.starts_with("zram") || is_ram_disk(&name) {
        return found.push(Layer::Memory { name });
    }
    let slaves: Vec<PathBuf> = std::fs::read_dir(disk.join("slaves"))
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    if !slaves.is_empty() {
        found.push(Layer::Stacked { name });
        return slaves
            .iter()
            .for_each(|slave| of_device(slave, depth - 1, found));
    }
    found.push(match remote(&name) {
        true => Layer::Unseen(format!("the other end of {name}")),
        false => Layer::Disk {
            name,
            write_back,
            fua: text(&disk.join("queue/fua")).as_deref() == Some("1"),
        },
    });
}

/// What a loop device sits on: a file, or a device.
fn of_file(image: &Path, depth: usize, found: &mut Vec<Layer>) {
    if let Ok(number) = number_of(image) {
        return of_device(&sysfs(number), depth, found);
    }
    match mountinfo::holder_of(image) {
        Ok(holder) => of_mount(&holder, depth, found),
        Err(_) => found.push(Layer::Unseen(format!("the file {}", image.display()))),
    }
}

fn is_ram_disk(name: &str) -> bool {
    let number = name.strip_prefix("ram");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn remote(name: &str) -> bool {
    ["nbd", "rbd", "ublkb", "drbd"]
        .iter()
        .any(|kind| name.starts_with(kind))
}

fn text(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_ends_somewhere() {
        let last = |path: &str| chain(Path::new(path)).pop().unwrap();
        assert!(
            matches!(last("/proc"), Layer::Unseen(_)),
            "{:?}",
            last("/proc")
        );
        assert!(matches!(last("/no/such"), Layer::Unseen(_)));
        assert!(!chain(Path::new("/")).is_empty());
    }

    #[test]
    fn names_tell_what_is_memory_and_what_is_far_away() {
        assert!(is_ram_disk("ram0") && !is_ram_disk("ram") && !is_ram_disk("rambo"));
        assert!(remote("nbd0") && remote("rbd1") && !remote("nvme0n1"));
    }
}
