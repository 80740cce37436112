//! A target made ready for one case; taken down on drop.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::{Environment, Lane, device_record};
use super::worth::in_memory;
use crate::error::{Context, Result};
use crate::record::TargetRecord;
use crate::target::{self, Device, FsType, Layer, Made, MountGuard, Spec, WorkDir, mountinfo};
use crate::units::Bytes;

/// A directory on the target, ready for data.
pub(super) struct Prepared {
    kind: Kind,
    /// The device whose counters count.
    pub device: Option<PathBuf>,
    /// As recorded; filled up when the file system has been mounted afresh.
    pub record: TargetRecord,
    /// What a reader must know.
    pub remarks: Vec<String>,
    /// What its writes pass on their way down.
    pub chain: Vec<Layer>,
}

/// How long to wait for the file system to have nothing dirty after it was mounted afresh.
const CLEAN_LIMIT: Duration = Duration::from_secs(10);

enum Kind {
    Made(Box<MountGuard>),
    Directory(WorkDir),
}

impl Prepared {
    /// mkfs and mount, or a marked directory of ours.
    ///
    /// # Errors
    /// mkfs's or the kernel's words; a directory that cannot be written.
    pub fn new(spec: &Spec, environment: &Environment, lane: &Lane, run_id: &str) -> Result<Self> {
        let mut prepared = match spec {
            Spec::Made(made) => Self::make(made, lane),
            Spec::Directory(path) => Self::take(path, environment, run_id),
        }?;
        let data = prepared.data();
        DirBuilder::new()
            .mode(0o700)
            .create(&data)
            .with_context(|| format!("cannot make {}", data.display()))?;
        prepared.look()?;
        Ok(prepared)
    }

    fn make(made: &Made, lane: &Lane) -> Result<Self> {
        let device = match made.fs {
            FsType::Tmpfs => None,
            _ => Some(lane.device().context("there is no image")?),
        };
        let device = device.map(|device| device.path.clone());
        let on_device = device.is_some();
        let mkfs = match &device {
            Some(device) => Some(made.format(device)?.command),
            None => None,
        };
        let mount = made.mount(device.as_deref(), &lane.mount_point)?;
        Ok(Prepared {
            record: TargetRecord {
                mkfs,
                options_asked: [made.mount_options().as_slice(), mount.added_options()].concat(),
                device: lane.device_record().filter(|_| on_device),
                ..TargetRecord::default()
            },
            remarks: [lane.device_remarks().as_slice(), mount.remarks()].concat(),
            chain: Vec::new(),
            kind: Kind::Made(Box::new(mount)),
            device,
        })
    }

    fn take(path: &Path, environment: &Environment, run_id: &str) -> Result<Self> {
        let workdir = WorkDir::create(path, run_id, &environment.ledger)?;
        if environment.engines.values().any(|e| e.has_server()) {
            workdir.let_pass()?;
        }
        let device = mountinfo::holder_of(workdir.path())?.device();
        let facts = device.as_deref().map(Device::read).transpose()?;
        let mut remarks = vec![
            "the directory could not be made cold: its files were dropped from the cache by advice"
                .to_string(),
        ];
        if facts.is_some() {
            remarks.push(
                "device counters include whatever else used the device meanwhile".to_string(),
            );
        }
        Ok(Prepared {
            kind: Kind::Directory(workdir),
            record: TargetRecord {
                device: facts.as_ref().map(device_record),
                ..TargetRecord::default()
            },
            device,
            remarks,
            chain: Vec::new(),
        })
    }

    /// The directory for the data: below the mount, as a server refuses a mount's root.
    pub fn data(&self) -> PathBuf {
        self.root().join("data")
    }

    /// Whether the file system was made for the case.
    pub fn is_made(&self) -> bool {
        matches!(self.kind, Kind::Made(_))
    }

    /// The mount point, or our directory.
    pub fn root(&self) -> &Path {
        match &self.kind {
            Kind::Made(mount) => mount.path(),
            Kind::Directory(dir) => dir.path(),
        }
    }

    /// Writes out what restoring left dirty and empties the cache: a made file system is
    /// mounted afresh, a directory's files are dropped by advice.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn settle(&mut self) -> Result<()> {
        target::syncfs(&self.data())?;
        match &mut self.kind {
            // What has no device keeps its data only while it is mounted.
            Kind::Made(_) if self.device.is_none() => {}
            Kind::Made(mount) => {
                mount.remount()?;
                target::wait_clean(mount.path(), CLEAN_LIMIT);
                self.record.cold = true;
            }
            Kind::Directory(dir) => target::snapshot::drop_cached(dir.path())?,
        }
        self.look()
    }

    /// What mountinfo and the kernel say of it now.
    fn look(&mut self) -> Result<()> {
        let data = self.data();
        let mount = mountinfo::holder_of(&data)?;
        self.record.filesystem = mount.fs_type.clone();
        self.record.source = Path::new(&mount.source).display().to_string();
        self.record.options_effective = match &self.kind {
            Kind::Made(guard) => guard.effective_options()?,
            Kind::Directory(_) => mount.options(),
        };
        self.chain = target::chain(&data);
        if let Some(device) = &mut self.record.device {
            device.in_memory |= in_memory(&self.chain);
        }
        Ok(())
    }

    /// What is wrong with it now, if a workload failed because of it.
    pub fn complaint(&self) -> Option<String> {
        let mount = mountinfo::holder_of(self.root()).ok()?;
        if mount
            .options()
            .iter()
            .any(|o| o == "ro" || o == "emergency_ro")
        {
            return Some(
                "the file system has become read-only; see the kernel log for the reason".into(),
            );
        }
        let space = rustix::fs::statvfs(self.root()).ok()?;
        let free = space.f_bavail * space.f_frsize;
        // Something may have been freed when the workload gave up.
        (free < space.f_blocks * space.f_frsize / 50).then(|| {
            format!(
                "the file system is full: {} of {} are free; give it more with --image-size",
                Bytes(free).human(),
                Bytes(space.f_blocks * space.f_frsize).human()
            )
        })
    }

    /// Leaves the data of a failed case where they are; says where if they outlive this.
    pub fn keep(self) -> Option<PathBuf> {
        match self.kind {
            // Those of a device or image are still there when it is unmounted.
            Kind::Made(_) => None,
            Kind::Directory(dir) => Some(dir.keep()),
        }
    }

    /// Takes it down and tells what goes wrong.
    ///
    /// # Errors
    /// A mount that stays busy; a directory that cannot be removed.
    pub fn take_down(self) -> Result<()> {
        match self.kind {
            Kind::Made(mount) => mount.unmount(),
            Kind::Directory(dir) => dir.remove(),
        }
    }
}
