//! An image file on a loop device: the blocks that made targets share.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, IFlags};

use super::device::Device;
use super::loop_device::LoopDevice;
use super::mountinfo::{self, Mount};
use super::space::check_space;
use super::workdir::WorkDir;
use crate::error::{Context, Result, bail, usage};
use crate::host::ledger::{Item, ItemId, Ledger};
use crate::host::marker::IMAGE_SUFFIX;
use crate::units::Bytes;

/// What a reader of results from a loop device must know.
pub const LOOP_REMARK: &str = "a loop device runs flushes in line with other I/O: counts are \
     exact, results with several clients are not; use --device with a disk for figures to publish";

const MIB: u64 = 1 << 20;
const CHUNK: usize = 4 << 20;
const ALIGN: usize = 4096;

/// What is known of an image and of what it lives on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFacts {
    /// The image file.
    pub path: PathBuf,
    /// Its size.
    pub size: Bytes,
    /// The loop device on it, with its cache mode and block size.
    pub device: Device,
    /// Whether the loop device bypasses the host's page cache. If not, what the tested
    /// file system reads may come from the host's memory.
    pub direct_io: bool,
    /// The mount that holds the image file.
    pub holder: Mount,
    /// Whether the image lies in memory: nothing of it survives a power cut, and its
    /// times are not those of a disk.
    pub in_memory: bool,
    /// What a reader of the results must know.
    pub remarks: Vec<String>,
}

/// An image file, attached; detached and removed on drop.
#[derive(Debug)]
pub struct Image {
    facts: ImageFacts,
    device: Option<LoopDevice>,
    device_item: Option<ItemId>,
    file: Option<NotedFile>,
    ledger: Ledger,
}

impl Image {
    /// Makes an image in `dir`: reserved, written once over its whole length (so that no
    /// case pays for the holder's first allocation), and attached to a loop device.
    ///
    /// `tick` is called every few MiB; an error from it (Ctrl-C) ends the work and
    /// removes the file.
    pub fn create(
        dir: &WorkDir,
        size: Bytes,
        ledger: &Ledger,
        tick: &dyn Fn() -> Result<()>,
    ) -> Result<Image> {
        if size.0 == 0 || !size.0.is_multiple_of(MIB) {
            return Err(usage(format!(
                "an image of {size} bytes cannot be used; give a multiple of 1M"
            )));
        }
        check_space(dir.path(), size)?;
        let holder = mountinfo::holder_of(dir.path())?;
        let noted = NotedFile::create(dir, ledger)?;
        let path = noted.path.clone();
        fill(&noted.file, &path, size, &holder, tick)
            .with_context(|| format!("cannot make the image {}", path.display()))?;
        let mut items = Vec::new();
        let attached = LoopDevice::attach(&noted.file, &path, &mut |device| {
            items.push(ledger.note(Item::LoopDevice {
                device: device.to_path_buf(),
                backing: path.clone(),
            })?);
            Ok(())
        });
        // Only the last one noted was taken.
        let device_item = attached.is_ok().then(|| items.pop()).flatten();
        for item in items {
            ledger.done(item)?;
        }
        let device = attached?;
        let facts = facts(path, size, &device, holder)?;
        Ok(Image {
            facts,
            device: Some(device),
            device_item,
            file: Some(noted),
            ledger: ledger.clone(),
        })
    }

    /// What is known of it.
    pub fn facts(&self) -> &ImageFacts {
        &self.facts
    }

    /// The loop device node.
    pub fn device(&self) -> &Path {
        &self.facts.device.path
    }

    /// Detaches and removes it now and tells what goes wrong.
    pub fn remove(mut self) -> Result<()> {
        self.take_away()
    }

    /// Detaches it and leaves the file, noted in the ledger for `mountmark clean`.
    pub fn keep(mut self) -> Result<PathBuf> {
        self.detach()?;
        if let Some(mut file) = self.file.take() {
            file.item = None;
        }
        Ok(self.facts.path.clone())
    }

    fn detach(&mut self) -> Result<()> {
        if let Some(device) = self.device.take() {
            device.detach()?;
        }
        match self.device_item.take() {
            Some(item) => self.ledger.done(item),
            None => Ok(()),
        }
    }

    fn take_away(&mut self) -> Result<()> {
        let detached = self.detach();
        let removed = match self.file.take() {
            Some(mut file) => file.remove(),
            None => Ok(()),
        };
        detached.and(removed)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = self.take_away();
    }
}

/// The file, noted before it is made and removed on drop.
#[derive(Debug)]
struct NotedFile {
    path: PathBuf,
    file: File,
    item: Option<ItemId>,
    ledger: Ledger,
}

impl NotedFile {
    fn create(dir: &WorkDir, ledger: &Ledger) -> Result<NotedFile> {
        for number in 0..100 {
            let path = dir.path().join(format!("disk{number}{IMAGE_SUFFIX}"));
            if path.symlink_metadata().is_ok() {
                continue;
            }
            let item = ledger.note(Item::Image { path: path.clone() })?;
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            match file {
                Ok(file) => {
                    return Ok(NotedFile {
                        path,
                        file,
                        item: Some(item),
                        ledger: ledger.clone(),
                    });
                }
                Err(error) => {
                    ledger.done(item)?;
                    if error.kind() != ErrorKind::AlreadyExists {
                        return Err(error)
                            .with_context(|| format!("cannot create {}", path.display()));
                    }
                }
            }
        }
        bail!("{} holds too many images", dir.path().display())
    }

    fn remove(&mut self) -> Result<()> {
        let Some(item) = self.item.take() else {
            return Ok(());
        };
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(e).with_context(|| format!("cannot remove {}", self.path.display()))
            }
            _ => self.ledger.done(item),
        }
    }
}

impl Drop for NotedFile {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

fn fill(
    file: &File,
    path: &Path,
    size: Bytes,
    holder: &Mount,
    tick: &dyn Fn() -> Result<()>,
) -> Result<()> {
    if holder.fs_type == "btrfs" {
        // Else every write of a case is copied elsewhere and checksummed by the holder.
        // Only an empty file takes the flag.
        rustix::fs::ioctl_getflags(file)
            .and_then(|flags| rustix::fs::ioctl_setflags(file, flags | IFlags::NOCOW))
            .context("cannot switch off copy-on-write for it")?;
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.0) {
        Ok(()) => {}
        Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(size.0)?,
        Err(error) => return Err(error).context("cannot reserve its space"),
    }
    let direct = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(path);
    match direct {
        Ok(direct) if write_all(&direct, size, tick)? => {}
        _ => {
            write_all(file, size, tick)?;
        }
    }
    file.sync_all()?;
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}

/// Writes the whole length; `false` if the very first write shows that this file cannot
/// be written so (`EINVAL`: no direct I/O here).
fn write_all(file: &File, size: Bytes, tick: &dyn Fn() -> Result<()>) -> Result<bool> {
    let mut memory = vec![0u8; CHUNK + ALIGN];
    let shift = memory.as_ptr().align_offset(ALIGN);
    let chunk = &mut memory[shift..shift + CHUNK];
    scramble(chunk);
    let mut at = 0;
    while at < size.0 {
        tick()?;
        // Every block differs, for storage beneath that would share equal ones.
        for (number, block) in chunk.chunks_mut(ALIGN).enumerate() {
            let place = at + (number * ALIGN) as u64;
            block[..8].copy_from_slice(&place.to_le_bytes());
        }
        let length = (size.0 - at).min(CHUNK as u64) as usize;
        match file.write_all_at(&chunk[..length], at) {
            Ok(()) => at += length as u64,
            Err(e) if at == 0 && e.raw_os_error() == Some(libc::EINVAL) => return Ok(false),
            Err(e) => return Err(e).context("cannot write it"),
        }
    }
    Ok(true)
}

/// Fills with what neither compresses nor reads as zeros: storage beneath may leave
/// out zeros and allocate later, in the measured time (xorshift64).
fn scramble(chunk: &mut [u8]) {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for word in chunk.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
}

fn facts(path: PathBuf, size: Bytes, device: &LoopDevice, holder: Mount) -> Result<ImageFacts> {
    let device = Device::read(device.path())?;
    if device.loop_backing.as_deref() != Some(path.as_path()) {
        bail!(
            "{} sits on {:?} and not on {}",
            device.path.display(),
            device.loop_backing,
            path.display()
        );
    }
    let mut remarks = vec![LOOP_REMARK.to_string()];
    let direct_io = device.loop_direct_io == Some(true);
    if !direct_io {
        remarks.push(format!(
            "{} on {} refuses direct I/O: the image is cached twice, and reads may be served \
             from the memory of the host",
            holder.fs_type,
            holder.at.display()
        ));
    }
    let in_memory = holder.in_memory();
    if in_memory {
        remarks.push("the image lies in memory: counts are exact, times are not a disk's".into());
    }
    Ok(ImageFacts {
        path,
        size,
        device,
        direct_io,
        holder,
        in_memory,
        remarks,
    })
}
