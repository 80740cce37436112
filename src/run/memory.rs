//! The memory limit of one case: its group, the limit on dirty data that belongs to it,
//! and what is seen of both.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::environment::{Environment, Lane};
use super::prepared::Prepared;
use crate::engine::Kind;
use crate::error::{Result, anyhow, ensure, one_line, usage};
use crate::host::{Controller, Ledger, MemoryCounts, MemoryGroup};
use crate::plan::{Case, Plan};
use crate::record::{EngineRecord, MemoryRecord};
use crate::target::{self, DirtyLimit};
use crate::units::Bytes;

/// The share of a limit that may be dirty: what the kernel lets a machine with so much
/// memory have (`vm.dirty_ratio`), as a divisor.
const DIRTY_SHARE: u64 = 5;

/// Time between two looks at what the group holds and how much data there are.
const INTERVAL: Duration = Duration::from_millis(250);

/// Where limits can be set, if `plan` has some.
///
/// # Errors
/// Why none can, with the way out: a case with a limit never runs without it.
pub(super) fn controller(plan: &Plan) -> Result<Option<Controller>> {
    if !plan.limits_memory() {
        return Ok(None);
    }
    Controller::prepare().map(Some).map_err(|error| {
        usage(format!(
            "--memory cannot be used here: {}",
            one_line(&error)
        ))
    })
}

/// A loop device without direct I/O keeps its image in the page cache of the machine,
/// beyond any limit.
///
/// # Errors
/// With the way out.
pub(super) fn must_bypass_cache(lane: &Lane) -> Result<()> {
    if let Some(image) = &lane.image {
        ensure!(
            image.facts().direct_io,
            usage(format!(
                "--memory cannot be used with an image in {}: its file system gives the loop \
                 device no direct I/O, and the machine would cache what the limit must not \
                 hold; name another --image-dir, or a --device",
                image.facts().holder.at.display()
            ))
        );
    }
    if let Some(claimed) = &lane.claimed {
        let device = claimed.facts();
        ensure!(
            device.loop_direct_io != Some(false),
            usage(format!(
                "--memory cannot be used with {}: it is a loop device without direct I/O, and \
                 the machine would cache what the limit must not hold; attach it with \
                 losetup --direct-io=on",
                device.path.display()
            ))
        );
    }
    Ok(())
}

/// The limit of a case.
pub(super) struct Memory<'a> {
    controller: &'a Controller,
    ledger: &'a Ledger,
    limit: Bytes,
    // Before the group: what is dirty is written while the limit is lifted.
    dirty: Option<DirtyLimit>,
    group: Option<MemoryGroup>,
    /// At the beginning of the work.
    before: MemoryCounts,
    /// Over all parts of the work.
    during: MemoryCounts,
    /// Over the life of all groups.
    oom_kills: u64,
    extent: Option<Extent>,
    next: Instant,
    kind: Option<Kind>,
    record: MemoryRecord,
}

impl<'a> Memory<'a> {
    /// That of `case`, if it has one; nothing is made yet.
    pub fn of(case: &Case, environment: &'a Environment) -> Option<Self> {
        let limit = case.key.memory?;
        let controller = environment.controller.as_ref()?;
        Some(Memory {
            controller,
            ledger: &environment.ledger,
            limit,
            dirty: None,
            group: None,
            before: MemoryCounts::default(),
            during: MemoryCounts::default(),
            oom_kills: 0,
            extent: None,
            next: Instant::now(),
            kind: case.engine.as_ref().map(|spec| spec.kind),
            record: MemoryRecord {
                limit_bytes: limit.0,
                method: controller.version().to_string(),
                settings: case.fitted().cloned().unwrap_or_default(),
                settings_for_bytes: case.fitted.as_ref().map(|fitted| fitted.to.0),
                ..MemoryRecord::default()
            },
        })
    }

    /// The target is made and empty.
    pub fn stands_on(&mut self, target: &Prepared) {
        self.extent = target.is_made().then(|| Extent::new(target, self.kind));
    }

    /// Makes the group of the server or worker `of` and limits the dirty data; what to join.
    ///
    /// # Errors
    /// When the limit cannot be set: the case does not run without it.
    pub fn open(&mut self, (name, of): (&str, &str), target: &Prepared) -> Result<Vec<PathBuf>> {
        let group = MemoryGroup::create(self.controller, name, self.limit, self.ledger)?;
        self.record.limit_bytes = group.limit().0;
        self.record.of = of.to_string();
        let procs = group.procs();
        self.group = Some(group);
        self.limit_dirty(target);
        Ok(procs)
    }

    fn limit_dirty(&mut self, target: &Prepared) {
        let (fs, options) = (&target.record.filesystem, &target.record.options_effective);
        let by_group =
            self.controller.throttles_by_group() && target::writeback_by_group(fs, options);
        self.record.writeback_by_group = by_group;
        if by_group {
            self.record.dirty = "throttled by the memory of the group".to_string();
            return;
        }
        let share = Bytes(self.limit.0 / DIRTY_SHARE);
        self.record.dirty = match DirtyLimit::set(target.root(), share, self.ledger) {
            Ok(limit) => {
                self.record.dirty_limit_bytes = Some(limit.in_force().0);
                self.dirty = Some(limit);
                format!("the device limited to {} %", 100 / DIRTY_SHARE)
            }
            Err(error) => {
                // The outermost level names the place, which is another in each run.
                let why = error.chain().nth(1).map(ToString::to_string);
                format!(
                    "throttled by the memory of the machine, not of the group ({})",
                    why.unwrap_or_else(|| error.to_string())
                )
            }
        };
    }

    /// The work begins.
    pub fn begin(&mut self) {
        self.before = self.counts();
        self.look();
    }

    /// Looks if it is time to; says how long it is until the next look.
    pub fn tick(&mut self) -> Duration {
        let now = Instant::now();
        if now < self.next {
            return self.next - now;
        }
        self.look();
        self.next = now + INTERVAL;
        INTERVAL
    }

    fn look(&mut self) {
        if let Some(extent) = &mut self.extent {
            extent.look();
        }
        if let Some(group) = &self.group {
            let used = group.usage();
            self.record.own_bytes = self.record.own_bytes.max(used.own);
            self.record.file_bytes = self.record.file_bytes.max(used.files);
        }
    }

    /// The work, or a part of it, has ended.
    pub fn end(&mut self) {
        self.look();
        if self.group.is_some() {
            self.during = self.during + self.counts().since(self.before);
        }
    }

    fn counts(&self) -> MemoryCounts {
        let group = self.group.as_ref();
        group.map_or_else(MemoryCounts::default, MemoryGroup::counts)
    }

    /// Takes the group away and lifts the limit on dirty data; the processes have ended.
    pub fn let_go(&mut self) {
        self.dirty = None;
        if let Some(group) = self.group.take() {
            self.oom_kills += group.counts().oom_kills;
            let peak = group.usage().peak;
            self.record.peak_bytes = self.record.peak_bytes.max((peak > 0).then_some(peak));
        }
    }

    /// Ends it; what is to be stored.
    pub fn close(&mut self, engine: Option<&EngineRecord>) -> MemoryRecord {
        self.let_go();
        let page = rustix::param::page_size() as u64;
        let settings = engine.map(|engine| &engine.settings);
        self.record.reached = self.during.reached;
        self.record.refault_bytes = self.during.refaults.map(|pages| pages * page);
        self.record.stalled_ns = self.during.stalled_ns;
        self.record.oom_kills = self.oom_kills;
        self.record.data_bytes = self.extent.as_ref().map(|extent| extent.most);
        self.record.cache_bytes = self
            .kind
            .zip(settings)
            .and_then(|(kind, settings)| kind.cache(settings))
            .map(|bytes| bytes.0);
        self.record.clone()
    }

    /// Fails when the kernel killed for want of memory, also where the work seems to have
    /// come to its end: PostgreSQL goes on without a session that was killed.
    ///
    /// # Errors
    /// With the way out.
    pub fn must_have_sufficed(&self) -> Result<()> {
        let of = &self.record.of;
        let less = match self.kind {
            Some(Kind::Postgres) => " (--set shared_buffers=…, work_mem=…)",
            Some(Kind::Mariadb | Kind::Mysql) => " (--set innodb_buffer_pool_size=…)",
            Some(Kind::Sqlite) => " (--set cache_size=…)",
            Some(Kind::Null) | None => "",
        };
        match self.oom_kills {
            0 => Ok(()),
            n => Err(anyhow!(
                "{} of memory are too little: the kernel killed {n} process{} of the {of}; give \
                 it more with --memory, or let it use less{less}",
                self.limit,
                if n == 1 { "" } else { "es" },
            )),
        }
    }
}

/// How much data there are on a file system of our own.
struct Extent {
    root: PathBuf,
    data: PathBuf,
    kind: Option<Kind>,
    /// Used when it was made: its own tables and log.
    empty: u64,
    most: u64,
}

impl Extent {
    fn new(target: &Prepared, kind: Option<Kind>) -> Self {
        let root = target.root().to_path_buf();
        Extent {
            empty: used(&root),
            root,
            data: target.data(),
            kind,
            most: 0,
        }
    }

    fn look(&mut self) {
        let logs = self.kind.map_or(0, |kind| kind.logs(&self.data));
        let data = used(&self.root).saturating_sub(self.empty + logs);
        self.most = self.most.max(data);
    }
}

fn used(root: &std::path::Path) -> u64 {
    rustix::fs::statvfs(root).map_or(0, |s| (s.f_blocks - s.f_bfree) * s.f_frsize)
}
