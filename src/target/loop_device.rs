//! A loop device on one of our images. It is configured in one step with direct I/O
//! and autoclear, which `mount -o loop` cannot do; with autoclear the kernel detaches it
//! when the last user is gone, even after SIGKILL.

use std::fs::{File, OpenOptions};
use std::io::Error as IoError;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::device::Device;
use crate::error::{Context, Result, bail};

const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;
const NAME: usize = 64;

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; NAME],
    crypt_name: [u8; NAME],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` of linux/loop.h.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

const _: () = assert!(size_of::<LoopInfo>() == 232 && size_of::<LoopConfig>() == 304);

/// An attached loop device; detached on drop.
#[derive(Debug)]
pub(super) struct LoopDevice {
    path: PathBuf,
    file: Option<File>,
}

impl LoopDevice {
    /// Attaches a free loop device to `image`. `noted` is told the device before it is
    /// attached. Direct I/O may be refused by the file system that holds the image: look
    /// at [`Device::loop_direct_io`].
    pub fn attach(
        image: &File,
        image_path: &Path,
        noted: &mut dyn FnMut(&Path) -> Result<()>,
    ) -> Result<LoopDevice> {
        // Kernels that start with 512-byte blocks cannot do direct I/O where the disk
        // beneath has larger ones; they are asked again with 4096.
        for block_size in [0, 4096] {
            let device = Self::attach_with(image, image_path, block_size, noted)?;
            if Device::read(&device.path)?.loop_direct_io == Some(true) {
                return Ok(device);
            }
            device.detach()?;
        }
        Self::attach_with(image, image_path, 0, noted)
    }

    fn attach_with(
        image: &File,
        image_path: &Path,
        block_size: u32,
        noted: &mut dyn FnMut(&Path) -> Result<()>,
    ) -> Result<LoopDevice> {
        let control = open(Path::new("/dev/loop-control"))
            .context("no loop devices here; load the module loop or use --device")?;
        let config = configuration(image, image_path, block_size);
        // Between asking for a free device and taking it, another process may take it.
        for attempt in 0..200 {
            // SAFETY: LOOP_CTL_GET_FREE takes no argument; the descriptor is open.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
            if number < 0 {
                return Err(IoError::last_os_error()).context("no free loop device");
            }
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let Some(file) = open_node(&path)? else {
                continue;
            };
            noted(&path)?;
            // SAFETY: `config` is a complete loop_config that outlives the call.
            let done = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
            if done == 0 {
                return Ok(LoopDevice {
                    path,
                    file: Some(file),
                });
            }
            let error = IoError::last_os_error();
            if error.raw_os_error() != Some(libc::EBUSY) {
                return Err(error).with_context(|| {
                    format!(
                        "cannot attach {} to {}",
                        image_path.display(),
                        path.display()
                    )
                });
            }
            std::thread::sleep(Duration::from_millis(1 + attempt % 7));
        }
        bail!("others took every free loop device first; try again")
    }

    /// The device node.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Detaches now; an error if something still uses it.
    pub fn detach(mut self) -> Result<()> {
        self.clear()
    }

    fn clear(&mut self) -> Result<()> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let before = Device::read(&self.path)?.loop_backing;
        // SAFETY: LOOP_CLR_FD takes no argument; the descriptor is open.
        if unsafe { libc::ioctl(file.as_raw_fd(), LOOP_CLR_FD) } != 0 {
            let error = IoError::last_os_error();
            if error.raw_os_error() != Some(libc::ENXIO) {
                return Err(error)
                    .with_context(|| format!("cannot detach {}", self.path.display()));
            }
        }
        drop(file);
        // The ioctl says yes even when it only marked a busy device for later.
        for _ in 0..100 {
            let now = Device::read(&self.path)?.loop_backing;
            if now.is_none() || now != before {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!(
            "{} is still in use; it goes when its last user ends",
            self.path.display()
        )
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_CLOEXEC)
        .open(path)
}

/// Opens a device node that udev may only be about to make; `None` if it stays away.
fn open_node(path: &Path) -> Result<Option<File>> {
    for _ in 0..20 {
        match open(path) {
            Ok(file) => return Ok(Some(file)),
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ENXIO)) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(e) => {
                return Err(e).with_context(|| format!("cannot open {}", path.display()));
            }
        }
    }
    Ok(None)
}

fn configuration(image: &File, image_path: &Path, block_size: u32) -> LoopConfig {
    let mut file_name = [0; NAME];
    let shown = image_path.as_os_str().as_encoded_bytes();
    let length = shown.len().min(NAME - 1);
    file_name[..length].copy_from_slice(&shown[..length]);
    LoopConfig {
        fd: image.as_fd().as_raw_fd() as u32,
        block_size,
        info: LoopInfo {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset: 0,
            size_limit: 0,
            number: 0,
            encrypt_type: 0,
            encrypt_key_size: 0,
            flags: LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR,
            file_name,
            crypt_name: [0; NAME],
            encrypt_key: [0; 32],
            init: [0; 2],
        },
        reserved: [0; 8],
    }
}
