//! The archive that a tree is unpacked from. It is made once a run, kept outside the
//! target and uncompressed: what a user's compressed archive costs to decompress is
//! outside every window, the same on every file system, and would only dilute the
//! difference between two.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::generate;
use super::options::{Options, Order};
use super::random::Random;
use super::scan::{Contents, Kind, Place, scan};
use super::store::Store;
use crate::error::{Context, Result, bail, unknown};
use crate::host::interrupt;
use crate::units::Bytes;

/// The workloads there are.
pub const WORKLOADS: &[&str] = &["small-files", "source-tree"];

/// An archive that is ready to be unpacked; it goes when this is dropped.
#[derive(Debug)]
pub struct Archive {
    file: File,
    /// What it holds.
    pub contents: Contents,
}

/// What a tree takes of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Bytes, with what the file system needs to keep its books.
    pub bytes: u64,
    /// Files, directories and links.
    pub inodes: u64,
}

impl Archive {
    /// Makes the archive of `workload`, or takes in the user's. It is kept in memory, or
    /// in the directory `spill` where that is too small.
    ///
    /// # Errors
    /// A user's archive that cannot be read, or that holds what may not be unpacked; no
    /// room; an interrupt.
    pub fn make(workload: &str, options: &Options, spill: &Path) -> Result<Self> {
        let mut store = BufWriter::with_capacity(1 << 20, Store::new(spill)?);
        match (&options.archive, workload) {
            (Some(path), _) => take_in(path, &mut store)
                .with_context(|| format!("cannot read the archive {}", path.display()))?,
            (None, "small-files") => generate::small_files(&mut store, options.scale)?,
            (None, "source-tree") => generate::source_tree(&mut store, options.scale)?,
            _ => return Err(unknown("tree", workload, WORKLOADS)),
        }
        let mut file = finish(store)?;
        let mut places = Vec::new();
        let named = || match &options.archive {
            Some(path) => format!("cannot use the archive {}", path.display()),
            None => format!("the generated archive of {workload} is wrong"),
        };
        let mut contents = scan(&file, &mut |place| places.push(place)).with_context(named)?;
        if contents.names() == 0 {
            bail!("{}: it holds no files", named());
        }
        if options.order == Order::Shuffled {
            file = shuffled(&file, &places, spill)?;
            contents = scan(&file, &mut |_| {})?;
        }
        Ok(Archive { file, contents })
    }

    /// A name under which another process of this user can open it while this one lives.
    pub fn path(&self) -> PathBuf {
        let (pid, fd) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{pid}/fd/{fd}"))
    }

    /// What `copies` of the tree take on a file system with blocks of `block` bytes.
    pub fn need(&self, copies: u64, block: u64) -> Need {
        const INODE: u64 = 512;
        let contents = &self.contents;
        let files = match block {
            0..=1024 => contents.bytes_by_1k,
            _ => contents.bytes_by_4k,
        };
        let inodes = contents.files + contents.symlinks + contents.dirs;
        let bytes = files + contents.dirs * block + inodes * INODE;
        Need {
            bytes: bytes * copies,
            inodes: inodes * copies,
        }
    }
}

impl Need {
    /// Fails unless the file system that holds `dir` has that much room.
    ///
    /// # Errors
    /// What is needed and what there is.
    pub fn check(self, dir: &Path) -> Result<()> {
        let stat = rustix::fs::statvfs(dir)
            .with_context(|| format!("cannot look at the free space of {}", dir.display()))?;
        let free = stat.f_bavail * stat.f_frsize;
        let way_out = "choose a smaller --tree-scale, or a larger --image-size";
        if self.bytes > free {
            bail!(
                "the target has no room for the tree: about {} are needed and {} are free; {way_out}",
                Bytes(self.bytes).human(),
                Bytes(free).human()
            );
        }
        // Where inodes are made as needed, the total is zero or follows the free space.
        if stat.f_files > 0 && self.inodes > stat.f_favail {
            bail!(
                "the target has no room for the tree: {} inodes are needed and {} are free; {way_out}",
                self.inodes,
                stat.f_favail
            );
        }
        Ok(())
    }
}

fn finish(store: BufWriter<Store>) -> Result<File> {
    let store = store
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .context("cannot keep the archive")?;
    Ok(store.into_file())
}

/// Copies the user's archive, decompressed.
fn take_in(path: &Path, into: &mut impl Write) -> Result<()> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let start = file.fill_buf()?;
    let mut reader: Box<dyn Read> = match start {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        [b'B', b'Z', b'h', ..] => Box::new(bzip2::bufread::MultiBzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(
            ruzstd::decoding::StreamingDecoder::new(file).context("its zstd frame is damaged")?,
        ),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            bail!("it is compressed with xz; unpack it with 'xz -dk' and name the .tar")
        }
        _ => Box::new(file),
    };
    let mut buffer = vec![0; 1 << 20];
    loop {
        interrupt::check()?;
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            n => into.write_all(&buffer[..n])?,
        }
    }
}

/// The same entries in another order: directories as they were, then files and symbolic
/// links mixed, then hard links, which must come after what they link to.
fn shuffled(file: &File, places: &[Place], spill: &Path) -> Result<File> {
    const SEED: u64 = 0x5368_7566_666c_6564;
    let of = |kinds: &[Kind]| -> Vec<&Place> {
        places.iter().filter(|p| kinds.contains(&p.kind)).collect()
    };
    let mut mixed = of(&[Kind::File, Kind::Symlink]);
    Random::new(SEED).shuffle(&mut mixed);
    let mut store = BufWriter::with_capacity(1 << 20, Store::new(spill)?);
    let mut buffer = Vec::new();
    for (number, place) in of(&[Kind::Dir])
        .into_iter()
        .chain(mixed)
        .chain(of(&[Kind::HardLink]))
        .enumerate()
    {
        if number % 1024 == 0 {
            interrupt::check()?;
        }
        buffer.resize((place.end - place.at) as usize, 0);
        file.read_exact_at(&mut buffer, place.at)
            .context("the archive is cut short")?;
        store.write_all(&buffer)?;
    }
    store.write_all(&[0; 1024])?;
    finish(store)
}
