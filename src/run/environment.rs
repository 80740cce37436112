//! What all cases of a run share: the work directory, the image, the engines and their
//! snapshots.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::engine::{self, Engine, Launch, Settings};
use crate::error::{Context, Result, chain, usage};
use crate::host::{self, Controller, Ledger, interrupt};
use crate::plan::Plan;
use crate::record::{Ceiling, DeviceRecord};
use crate::target::mountinfo::{self, Mount};
use crate::target::{self, Claimed, Device, Image, Privilege, WorkDir};
use crate::units::Bytes;
use crate::workload::BOARD_BYTES;
use crate::workload::load::{self, Preload};
use crate::workload::tree::{self, Archive};

/// How a run is carried out, beside what it measures.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the run.
    pub run_id: String,
    /// Where results are stored.
    pub results: PathBuf,
    /// The command line, for the record.
    pub arguments: Vec<String>,
    /// What may be done with file systems here.
    pub privilege: Privilege,
    /// Devices whose present content may go.
    pub destroy: Vec<PathBuf>,
    /// Keep what the first case that fails leaves.
    pub keep_on_failure: bool,
    /// The directory of a run that this one goes on with.
    pub resume: Option<PathBuf>,
    /// Stop at this stage until a signal comes: lets a test look at each stage.
    pub hold_at: Option<super::Stage>,
}

/// Where one case at a time is measured.
pub(super) struct Lane {
    /// The user's device, which its made targets use instead of an image.
    pub claimed: Option<Claimed>,
    /// The image of its made targets.
    pub image: Option<Image>,
    /// Where made file systems are mounted.
    pub mount_point: PathBuf,
    /// A directory outside every target, for sockets and logs of servers.
    pub run_dir: PathBuf,
    /// What its workers write to standard error.
    pub worker_log: PathBuf,
}

impl Lane {
    fn new(
        number: usize,
        (claimed, image): (Option<Claimed>, Option<Bytes>),
        dir: &WorkDir,
        ledger: &Ledger,
    ) -> Result<Self> {
        let path = |name: &str| dir.path().join(format!("{name}{number}"));
        let lane = Lane {
            image: image
                .filter(|_| claimed.is_none())
                .map(|size| Image::create(dir, size, ledger, &interrupt::check))
                .transpose()?,
            claimed,
            mount_point: path("mnt"),
            run_dir: path("run"),
            worker_log: path("worker.log"),
        };
        for (dir, mode) in [(&lane.mount_point, 0o711), (&lane.run_dir, 0o700)] {
            DirBuilder::new()
                .mode(mode)
                .create(dir)
                .with_context(|| format!("cannot make {}", dir.display()))?;
        }
        Ok(lane)
    }

    /// The device that made targets live on: the user's, or that of the image.
    pub fn device(&self) -> Option<&Device> {
        match &self.claimed {
            Some(claimed) => Some(claimed.facts()),
            None => self.image.as_ref().map(|image| &image.facts().device),
        }
    }

    /// It as recorded.
    pub fn device_record(&self) -> Option<DeviceRecord> {
        match &self.claimed {
            Some(claimed) => Some(device_record(claimed.facts())),
            None => self.image_record(),
        }
    }

    /// What a reader must know of it.
    pub fn device_remarks(&self) -> Vec<String> {
        let Some(claimed) = &self.claimed else {
            let image = self.image.as_ref();
            return image.map_or_else(Vec::new, |image| image.facts().remarks.clone());
        };
        let mut remarks = Vec::new();
        if claimed.facts().loop_backing.is_some() {
            remarks.push(target::LOOP_REMARK.to_string());
        }
        if claimed.facts().is_partition {
            remarks.push("flushes are those of the whole disk that the partition is on".into());
        }
        remarks
    }

    /// The image as recorded.
    pub fn image_record(&self) -> Option<DeviceRecord> {
        self.image.as_ref().map(image_record)
    }
}

/// What decides what a snapshot holds.
type SnapshotKey = (engine::Spec, Settings, Option<Preload>);

/// What all cases share. Fields are dropped in this order: the image before the
/// directory it lies in.
pub(super) struct Environment {
    pub engines: BTreeMap<engine::Spec, Box<dyn Engine>>,
    /// Engines that were not found, with the causes.
    pub missing: BTreeMap<engine::Spec, Vec<String>>,
    /// One, or two where cases play duets.
    pub lanes: Vec<Lane>,
    /// Why no more targets can be made, if so: the device holds evidence.
    pub held: Option<String>,
    pub cpus: Vec<usize>,
    pub privilege: Privilege,
    /// Where memory limits are set, if the plan has some.
    pub controller: Option<Controller>,
    /// What the harness itself can do, once that is known.
    pub ceiling: Option<Ceiling>,
    snapshots: RefCell<BTreeMap<SnapshotKey, PathBuf>>,
    /// Archives of trees, by workload and settings.
    archives: RefCell<BTreeMap<(String, Settings), Rc<Archive>>>,
    pub(super) workdir: WorkDir,
    pub ledger: Ledger,
}

impl Environment {
    /// Makes what the plan needs.
    ///
    /// # Errors
    /// No room for the image; a place that cannot be written; an interrupt.
    pub fn new(plan: &Plan, options: &Options, ledger: Ledger) -> Result<Self> {
        // First of all: a device that must not be used ends the run before anything is made.
        let devices = claimed(plan, options)?;
        let controller = super::memory::controller(plan)?;
        let mut engines: BTreeMap<_, Box<dyn Engine>> = BTreeMap::new();
        let mut missing = BTreeMap::new();
        for case in &plan.cases {
            let Some(spec) = &case.engine else {
                continue;
            };
            if engines.contains_key(spec) || missing.contains_key(spec) {
                continue;
            }
            match engine::find(spec) {
                Ok(found) => drop(engines.insert(spec.clone(), found)),
                Err(error) => drop(missing.insert(spec.clone(), chain(&error))),
            }
        }
        let workdir = WorkDir::create(&plan.image_dir, &options.run_id, &ledger).map_err(|e| {
            usage(format!(
                "{}; name another place with --image-dir",
                crate::error::one_line(&e)
            ))
        })?;
        if engines.values().any(|e| e.has_server()) {
            workdir.let_pass()?;
        }
        let with_image = plan.needs_image() && options.privilege == Privilege::Full;
        let mut lanes = Vec::new();
        let mut devices = devices.into_iter();
        for number in 0..plan.lanes() {
            let size = with_image.then_some(plan.image_size);
            lanes.push(Lane::new(
                number,
                (devices.next(), size),
                &workdir,
                &ledger,
            )?);
        }
        if controller.is_some() {
            lanes
                .iter()
                .try_for_each(super::memory::must_bypass_cache)?;
        }
        Ok(Environment {
            engines,
            controller,
            missing,
            lanes,
            held: None,
            cpus: host::allowed_cpus(),
            privilege: options.privilege.clone(),
            ceiling: None,
            snapshots: RefCell::default(),
            archives: RefCell::default(),
            workdir,
            ledger,
        })
    }

    /// The file that the two workers of a duet share; zeroed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn board(&self) -> Result<PathBuf> {
        let path = self.workdir.path().join("board");
        std::fs::write(&path, vec![0; BOARD_BYTES as usize])
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// The snapshot of `engine` with `settings` and what is preloaded: made on first use,
    /// outside every target; `None` for an engine that needs none. What fills it has its
    /// socket in `run_dir`.
    ///
    /// # Errors
    /// When the engine cannot initialise a data directory or fill it.
    pub fn snapshot(
        &self,
        spec: &engine::Spec,
        settings: &Settings,
        (preload, run_dir): (Option<Preload>, &Path),
    ) -> Result<Option<PathBuf>> {
        let engine = &self.engines[spec];
        let keeps_data = engine.build().kind != engine::Kind::Null;
        if !engine.has_server() && (preload.is_none() || !keeps_data) {
            // Nothing to restore, but what initialising would refuse is refused here too.
            engine.initialise(self.workdir.path(), settings)?;
            return Ok(None);
        }
        let mut snapshots = self.snapshots.borrow_mut();
        // How the log is flushed leaves no trace in a data directory: the cells of that
        // axis share one.
        let mut settings = settings.clone();
        if let Some((name, _)) = spec.kind.wal_sync() {
            settings.remove(name);
        }
        let key = (spec.clone(), settings, preload);
        if let Some(archive) = snapshots.get(&key) {
            return Ok(Some(archive.clone()));
        }
        let name = format!("snapshot-{}", snapshots.len());
        let archive = self.initialise(engine.as_ref(), &key.1, (key.2.as_ref(), run_dir), &name)?;
        snapshots.insert(key, archive.clone());
        Ok(Some(archive))
    }

    fn initialise(
        &self,
        engine: &dyn Engine,
        settings: &Settings,
        (preload, run_dir): (Option<&Preload>, &Path),
        name: &str,
    ) -> Result<PathBuf> {
        let dir = self.workdir.path().join(name);
        let archive = dir.with_extension("tar");
        // What a failed attempt left is in the way of the next.
        if dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        DirBuilder::new().mode(0o700).create(&dir)?;
        let made = engine
            .initialise(&dir, settings)
            .with_context(|| format!("cannot initialise {}", engine.build().label()))
            .and_then(|()| match preload {
                Some(preload) => fill(engine, (&dir, run_dir), settings, preload),
                None => Ok(()),
            })
            .and_then(|()| target::snapshot::pack(&dir, &archive));
        std::fs::remove_dir_all(&dir)?;
        made.map(|()| archive)
    }

    /// The archive of a tree: made on first use, outside every target.
    ///
    /// # Errors
    /// A user's archive that cannot be used; no room; an interrupt.
    pub fn archive(&self, workload: &str, settings: &Settings) -> Result<Rc<Archive>> {
        let mut archives = self.archives.borrow_mut();
        let key = (workload.to_string(), settings.clone());
        if let Some(archive) = archives.get(&key) {
            return Ok(archive.clone());
        }
        let options = tree::Options::from_settings(settings)?;
        let archive = Rc::new(Archive::make(workload, &options, self.workdir.path())?);
        archives.insert(key, archive.clone());
        Ok(archive)
    }

    /// Takes everything down and says what went wrong, which a drop could not.
    ///
    /// # Errors
    /// What could not be removed; `mountmark clean` finds it.
    pub fn close(self) -> Result<()> {
        for image in self.lanes.into_iter().filter_map(|lane| lane.image) {
            image.remove()?;
        }
        self.workdir.remove()
    }
}

/// The user's devices, each fit to be overwritten.
fn claimed(plan: &Plan, options: &Options) -> Result<Vec<Claimed>> {
    if let (Privilege::DirectoriesOnly { reason }, false) =
        (&options.privilege, plan.devices.is_empty())
    {
        return Err(usage(format!(
            "--device cannot be used: {reason}; run as root"
        )));
    }
    let devices = plan.devices.iter();
    devices
        .map(|device| Claimed::take(device, &options.destroy))
        .collect()
}

/// A device of the user's as recorded; what it stands on is looked at once it is mounted.
pub(super) fn device_record(device: &Device) -> DeviceRecord {
    let image = device.loop_backing.as_deref();
    let holder = image.and_then(|path| mountinfo::holder_of(path).ok());
    DeviceRecord {
        device: device.path.display().to_string(),
        image: image.map(|path| path.display().to_string()),
        size_bytes: device.size.0,
        direct_io: device.loop_direct_io.unwrap_or(true),
        logical_block_bytes: u64::from(device.logical_block_size),
        write_cache: device.write_cache.clone(),
        holder: holder.as_ref().map(holder_words),
        in_memory: false,
    }
}

fn holder_words(holder: &Mount) -> String {
    format!(
        "{} {} {}",
        holder.fs_type,
        Path::new(&holder.source).display(),
        holder.options().join(",")
    )
}

/// Runs a server of its own, quick rather than durable, to fill `dir`.
fn fill(
    engine: &dyn Engine,
    (dir, run_dir): (&Path, &Path),
    settings: &Settings,
    preload: &Preload,
) -> Result<()> {
    let mut settings = settings.clone();
    settings.extend(load::fast(engine.dialect()));
    let server = engine.launch(&Launch {
        data: dir.to_path_buf(),
        run_dir: run_dir.to_path_buf(),
        settings,
        cpus: Vec::new(),
        cgroups: Vec::new(),
    })?;
    preload
        .fill(&server.address())
        .with_context(|| format!("cannot fill {}", engine.build().label()))?;
    server.stop()
}

fn image_record(image: &Image) -> DeviceRecord {
    let facts = image.facts();
    DeviceRecord {
        device: facts.device.path.display().to_string(),
        image: Some(facts.path.display().to_string()),
        size_bytes: facts.size.0,
        direct_io: facts.direct_io,
        logical_block_bytes: u64::from(facts.device.logical_block_size),
        write_cache: facts.device.write_cache.clone(),
        holder: Some(holder_words(&facts.holder)),
        in_memory: facts.in_memory,
    }
}
