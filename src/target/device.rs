//! A block device seen from outside: its facts and its counters.

use std::fs::File;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::{Context, Result, bail, shown};
use crate::measure::DeviceCounters;
use crate::units::Bytes;

/// Sectors in `/sys/block/*/stat` have 512 bytes whatever the block size.
const SECTOR: u64 = 512;

/// What sysfs tells of a block device, partitions included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The device node, links resolved.
    pub path: PathBuf,
    /// Major and minor number.
    pub number: (u32, u32),
    /// Its size.
    pub size: Bytes,
    /// The smallest unit it reads or writes, bytes.
    pub logical_block_size: u32,
    /// `write back` (has a volatile cache: flushes matter) or `write through`.
    pub write_cache: String,
    /// Whether the kernel takes it for a rotating disk; virtual disks are often wrong.
    pub rotational: bool,
    /// The disk it is a partition of, or itself.
    pub disk: String,
    /// Whether it is a partition: its flushes are counted with those of its disk.
    pub is_partition: bool,
    /// Whether it cannot be written to.
    pub read_only: bool,
    /// Of a loop device: whether it bypasses the page cache of the backing file.
    pub loop_direct_io: Option<bool>,
    /// Of a loop device: its backing file.
    pub loop_backing: Option<PathBuf>,
}

impl Device {
    /// Reads the facts of a device node.
    pub fn read(path: &Path) -> Result<Device> {
        let path = path
            .canonicalize()
            .with_context(|| format!("cannot look at device {}", shown(path)))?;
        let number = number_of(&path)?;
        let own = sysfs(number)
            .canonicalize()
            .with_context(|| format!("sysfs does not know {}", path.display()))?;
        let disk = match own.parent() {
            Some(parent) if own.join("partition").exists() => parent.to_path_buf(),
            _ => own.clone(),
        };
        let is_partition = own.join("partition").exists();
        let of_disk = |name: &str| text(&disk.join(name)).unwrap_or_default();
        let sectors: u64 = text(&own.join("size"))
            .and_then(|t| t.parse().ok())
            .with_context(|| format!("sysfs gives no size for {}", path.display()))?;
        Ok(Device {
            number,
            size: Bytes(sectors * SECTOR),
            logical_block_size: of_disk("queue/logical_block_size").parse().unwrap_or(512),
            write_cache: of_disk("queue/write_cache"),
            rotational: of_disk("queue/rotational") == "1",
            disk: disk
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            is_partition,
            read_only: text(&own.join("ro")).as_deref() == Some("1"),
            loop_direct_io: text(&own.join("loop/dio")).map(|t| t == "1"),
            loop_backing: text(&own.join("loop/backing_file")).map(PathBuf::from),
            path,
        })
    }
}

fn text(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim_end().to_string())
}

/// Major and minor number of a device node.
pub(super) fn number_of(path: &Path) -> Result<(u32, u32)> {
    let meta = path
        .metadata()
        .with_context(|| format!("cannot look at device {}", shown(path)))?;
    if !meta.file_type().is_block_device() {
        bail!("{} is not a block device", shown(path));
    }
    let dev = meta.rdev();
    Ok((rustix::fs::major(dev), rustix::fs::minor(dev)))
}

/// The directory of a device in sysfs, partitions included.
pub(super) fn sysfs(number: (u32, u32)) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{}:{}", number.0, number.1))
}

/// The counters of a device node now. They are never reset, not even when a loop device
/// gets another image: use differences.
pub fn block_counters(device: &Path) -> Result<DeviceCounters> {
    BlockStat::open(device)?.read()
}

/// Reads the counters of one device again and again, for readings around a single
/// operation: the files stay open and nothing is allocated.
///
/// The kernel counts flushes for whole disks only: those of a partition are its disk's.
#[derive(Debug)]
pub struct BlockStat {
    file: File,
    /// Of the disk that a partition belongs to.
    disk: Option<File>,
}

impl BlockStat {
    /// Opens the counters of a device node, a partition included.
    pub fn open(device: &Path) -> Result<BlockStat> {
        let dir = sysfs(number_of(device)?);
        let open = |path: PathBuf| {
            File::open(&path).with_context(|| {
                format!(
                    "cannot read the counters of {} in {}",
                    device.display(),
                    path.display()
                )
            })
        };
        let disk = dir.join("partition").exists().then(|| dir.join("../stat"));
        Ok(BlockStat {
            file: open(dir.join("stat"))?,
            disk: disk.map(open).transpose()?,
        })
    }

    /// The counters now.
    pub fn read(&self) -> Result<DeviceCounters> {
        let mut counters = counters(&self.file)?;
        if let Some(disk) = &self.disk {
            counters.flushes = self::counters(disk)?.flushes;
        }
        Ok(counters)
    }
}

fn counters(stat: &File) -> Result<DeviceCounters> {
    let mut buffer = [0u8; 512];
    let length = stat
        .read_at(&mut buffer, 0)
        .context("cannot read the counters of the device")?;
    parse(&buffer[..length]).context("the counters of the device have an unknown form")
}

/// Fields from 1: 3 sectors read, 7 sectors written, 14 sectors discarded, 16 flushes.
/// Kernels before 4.18 and 5.5 lack the last ones.
fn parse(stat: &[u8]) -> Option<DeviceCounters> {
    let mut fields = [0u64; 17];
    let mut count = 0;
    for field in stat
        .split(u8::is_ascii_whitespace)
        .filter(|f| !f.is_empty())
        .take(fields.len())
    {
        fields[count] = std::str::from_utf8(field).ok()?.parse().ok()?;
        count += 1;
    }
    (count >= 11).then(|| DeviceCounters {
        read_bytes: fields[2] * SECTOR,
        written_bytes: fields[6] * SECTOR,
        discarded_bytes: fields[13] * SECTOR,
        flushes: fields[15],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_kernel_documentation() {
        let line = b"   1 2 16 4   5 6 32 8  9 10 11   12 13 64 15   16 17\n";
        let counters = parse(line).unwrap();
        assert_eq!(counters.read_bytes, 16 * 512);
        assert_eq!(counters.written_bytes, 32 * 512);
        assert_eq!(counters.discarded_bytes, 64 * 512);
        assert_eq!(counters.flushes, 16);
        assert_eq!(parse(b"1 2 3 4 5 6 7 8 9 10 11").unwrap().flushes, 0);
        assert!(parse(b"1 2 3").is_none());
        assert!(parse(b"a b c d e f g h i j k").is_none());
    }

    #[test]
    fn a_file_is_no_device() {
        let error = block_counters(Path::new("/proc/version")).unwrap_err();
        assert!(error.to_string().contains("not a block device"), "{error}");
    }
}
