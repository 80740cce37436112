//! What all cases of a run share: the work directory, the image, the engines and their
//! snapshots.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::engine::{self, Engine, Settings};
use crate::error::{Context, Result, chain, usage};
use crate::host::{self, Ledger, interrupt};
use crate::plan::Plan;
use crate::record::DeviceRecord;
use crate::target::{self, Image, Privilege, WorkDir};
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
    /// Stop at this stage until a signal comes: lets a test look at each stage.
    pub hold_at: Option<super::Stage>,
}

/// What all cases share. Fields are dropped in this order: the image before the
/// directory it lies in.
pub(super) struct Environment {
    pub engines: BTreeMap<engine::Spec, Box<dyn Engine>>,
    /// Engines that were not found, with the causes.
    pub missing: BTreeMap<engine::Spec, Vec<String>>,
    pub image: Option<Image>,
    pub cpus: Vec<usize>,
    pub privilege: Privilege,
    snapshots: RefCell<BTreeMap<(engine::Spec, Settings), PathBuf>>,
    /// Archives of trees, by workload and settings.
    archives: RefCell<BTreeMap<(String, Settings), Rc<Archive>>>,
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
        for (dir, mode) in [("mnt", 0o711), ("run", 0o700)] {
            DirBuilder::new()
                .mode(mode)
                .create(workdir.path().join(dir))
                .with_context(|| format!("cannot make {dir} in {}", workdir.path().display()))?;
        }
        let image = match plan.needs_image() && options.privilege == Privilege::Full {
            true => Some(Image::create(
                &workdir,
                plan.image_size,
                &ledger,
                &interrupt::check,
            )?),
            false => None,
        };
        Ok(Environment {
            engines,
            missing,
            image,
            cpus: host::allowed_cpus(),
            privilege: options.privilege.clone(),
            snapshots: RefCell::default(),
            archives: RefCell::default(),
            workdir,
            ledger,
        })
    }

    /// Where made file systems are mounted.
    pub fn mount_point(&self) -> PathBuf {
        self.workdir.path().join("mnt")
    }

    /// A directory outside every target, for sockets and logs.
    pub fn run_dir(&self) -> PathBuf {
        self.workdir.path().join("run")
    }

    /// What the workers write to standard error.
    pub fn worker_log(&self) -> PathBuf {
        self.workdir.path().join("worker.log")
    }

    /// The snapshot of `engine` with `settings`: made on first use, outside every target;
    /// `None` for an engine that needs none.
    ///
    /// # Errors
    /// When the engine cannot initialise a data directory.
    pub fn snapshot(&self, spec: &engine::Spec, settings: &Settings) -> Result<Option<PathBuf>> {
        let engine = &self.engines[spec];
        if !engine.has_server() {
            // Nothing to restore, but what initialising would refuse is refused here too.
            engine.initialise(self.workdir.path(), settings)?;
            return Ok(None);
        }
        let mut snapshots = self.snapshots.borrow_mut();
        let key = (spec.clone(), settings.clone());
        if let Some(archive) = snapshots.get(&key) {
            return Ok(Some(archive.clone()));
        }
        let name = format!("snapshot-{}", snapshots.len());
        let archive = self.initialise(engine.as_ref(), settings, &name)?;
        snapshots.insert(key, archive.clone());
        Ok(Some(archive))
    }

    fn initialise(&self, engine: &dyn Engine, settings: &Settings, name: &str) -> Result<PathBuf> {
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

    /// The image as recorded.
    pub fn image_record(&self) -> Option<DeviceRecord> {
        self.image.as_ref().map(image_record)
    }

    /// Takes everything down and says what went wrong, which a drop could not.
    ///
    /// # Errors
    /// What could not be removed; `mountmark clean` finds it.
    pub fn close(self) -> Result<()> {
        if let Some(image) = self.image {
            image.remove()?;
        }
        self.workdir.remove()
    }
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
