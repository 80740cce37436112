//! What all cases of a run share: the work directory, the image, the engines and their
//! snapshots.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::engine::{self, Engine, Launch, Settings};
use crate::error::{Context, Result, chain, usage};
use crate::host::{self, Ledger, interrupt};
use crate::plan::Plan;
use crate::record::DeviceRecord;
use crate::target::{self, Image, Privilege, WorkDir};
use crate::units::Bytes;
use crate::workload::BOARD_BYTES;
use crate::workload::load::{self, Preload};

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
    /// Stop at this stage until a signal comes: lets a test look at each stage.
    pub hold_at: Option<super::Stage>,
}

/// Where one case at a time is measured.
pub(super) struct Lane {
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
    fn new(number: usize, image: Option<Bytes>, dir: &WorkDir, ledger: &Ledger) -> Result<Self> {
        let path = |name: &str| dir.path().join(format!("{name}{number}"));
        let lane = Lane {
            image: image
                .map(|size| Image::create(dir, size, ledger, &interrupt::check))
                .transpose()?,
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

    /// The image as recorded.
    pub fn image_record(&self) -> Option<DeviceRecord> {
        self.image.as_ref().map(image_record)
    }
}

/// What all cases share. Fields are dropped in this order: the image before the
/// directory it lies in.
pub(super) struct Environment {
    pub engines: BTreeMap<engine::Spec, Box<dyn Engine>>,
    /// Engines that were not found, with the causes.
    pub missing: BTreeMap<engine::Spec, Vec<String>>,
    /// One, or two where cases play duets.
    pub lanes: Vec<Lane>,
    pub cpus: Vec<usize>,
    pub privilege: Privilege,
    snapshots: RefCell<BTreeMap<(engine::Spec, Settings, Option<Preload>), PathBuf>>,
    workdir: WorkDir,
    pub ledger: Ledger,
}

impl Environment {
    /// Makes what the plan needs.
    ///
    /// # Errors
    /// No room for the image; a place that cannot be written; an interrupt.
    pub fn new(plan: &Plan, options: &Options, ledger: Ledger) -> Result<Self> {
        let mut engines: BTreeMap<_, Box<dyn Engine>> = BTreeMap::new();
        let mut missing = BTreeMap::new();
        for case in &plan.cases {
            if engines.contains_key(&case.engine) || missing.contains_key(&case.engine) {
                continue;
            }
            match engine::find(&case.engine) {
                Ok(found) => drop(engines.insert(case.engine.clone(), found)),
                Err(error) => drop(missing.insert(case.engine.clone(), chain(&error))),
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
        for number in 0..plan.lanes() {
            let size = with_image.then_some(plan.image_size);
            lanes.push(Lane::new(number, size, &workdir, &ledger)?);
        }
        Ok(Environment {
            engines,
            missing,
            lanes,
            cpus: host::allowed_cpus(),
            privilege: options.privilege.clone(),
            snapshots: RefCell::default(),
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
    let holder = &facts.holder;
    DeviceRecord {
        device: facts.device.path.display().to_string(),
        image: Some(facts.path.display().to_string()),
        size_bytes: facts.size.0,
        direct_io: facts.direct_io,
        logical_block_bytes: u64::from(facts.device.logical_block_size),
        write_cache: facts.device.write_cache.clone(),
        holder: Some(format!(
            "{} {} {}",
            holder.fs_type,
            Path::new(&holder.source).display(),
            holder.options().join(",")
        )),
        in_memory: facts.in_memory,
    }
}
