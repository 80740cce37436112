//! One case in one round, from mkfs to umount.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::crew::{self, Place, Seen, WorkerFailed};
use super::environment::{Environment, Lane, Options};
use super::event::{Event, Tell};
use super::memory::Memory;
use super::prepared::Prepared;
use super::sampler::Sampler;
use super::stage::Stage;
use super::watch::Watch;
use super::worker::{Task, Work};
use super::{ceiling, keep, worth};
use crate::engine::{self, Launch, Server};
use crate::error::{Context, Error, Result, chain};
use crate::host::interrupt::{self, Interrupted};
use crate::host::{Cgroup, keep_away, now_utc};
use crate::plan::{Case, CaseKey, Plan};
use crate::record::{
    CaseRecord, Completeness, DuetRecord, EngineRecord, FORMAT, KeyRecord, Outcome, PhaseRecord,
    StageRecord,
};
use crate::target::{self, Privilege, Spec};
use crate::workload::{self, Duet};

/// Measures `case` in `round`; a fault becomes part of the record.
pub(super) fn measure(
    (plan, options): (&Plan, &Options),
    environment: &Environment,
    case: &Case,
    round: u32,
    watcher: &dyn Tell,
) -> CaseRecord {
    let mut life = Lifecycle::new((plan, options), environment, (case, 0, 0), round, watcher);
    if !life.is_impossible() {
        let result = match &case.engine {
            Some(_) => life.up().and_then(|()| life.work()),
            None => life.files(),
        }
        .and_then(|()| life.down());
        life.close(result.err());
    }
    life.record
}

/// Measures the two `cases` of a duet in `round`, the baseline first. A fault of one is
/// the fault of the pair.
pub(super) fn measure_duet(
    (plan, options): (&Plan, &Options),
    environment: &Environment,
    cases: [&Case; 2],
    (round, first): (u32, usize),
    watcher: &dyn Tell,
) -> [CaseRecord; 2] {
    let [a, b] = cases;
    let mut pair = [(a, 0), (b, 1)]
        .map(|(case, side)| (case, side, lane_of(side, round)))
        .map(|place| Lifecycle::new((plan, options), environment, place, round, watcher));
    for (side, partner) in [b, a].into_iter().enumerate() {
        pair[side].record.duet = Some(DuetRecord {
            partner: KeyRecord::from(&partner.key),
            side,
            first,
            slice_ns: plan.slice.unwrap_or_default().as_nanos() as u64,
        });
    }
    if let Some(at) = pair.iter_mut().position(Lifecycle::is_impossible) {
        let outcome = pair[at].record.outcome.clone();
        pair[1 - at].record.outcome = outcome;
    } else if let Err((at, error)) = play(&mut pair, environment, first) {
        let because = Error::msg(format!(
            "its partner in the duet failed: {}",
            pair[at].case.key
        ));
        let other = match error.is::<Interrupted>() {
            true => interrupt::check().err().unwrap_or(because),
            false => because,
        };
        pair[at].close(Some(error));
        pair[1 - at].stage = pair[at].stage;
        pair[1 - at].close(Some(other));
    }
    pair.map(|life| life.record)
}

/// Where a side of a duet is measured: the two change places from round to round, as images
/// or devices may not be alike.
pub(super) fn lane_of(side: usize, round: u32) -> usize {
    (side + round as usize) % 2
}

/// Both up, at work side by side, and down; the side at fault.
fn play(
    pair: &mut [Lifecycle<'_>; 2],
    environment: &Environment,
    first: usize,
) -> Result<(), (usize, Error)> {
    each(pair, Lifecycle::up)?;
    each(pair, |life| life.enter(Stage::Work))?;
    let board = environment.board().map_err(|e| (0, e))?;
    let groups = [0, 1].map(|side| pair[side].group("worker"));
    let procs = |side: usize| groups[side].iter().map(Cgroup::procs).collect();
    let tasks = [0, 1].map(|side| pair[side].task(procs(side), Some((&board, first))));
    let [Some(a), Some(b)] = tasks else {
        return Err((0, Error::msg("a duet needs two servers")));
    };
    // What disturbs one side of a duet disturbs both: one watch over both will do.
    let sides = [pair[0].standing(), pair[1].standing()].concat();
    let watch = Watch::start(environment, &sides);
    let away = keep_away(&a.1.cpus);
    let worked = crew::run(&[a, b], &mut |seen| {
        if let Seen::Event(side, event) = seen {
            pair[side].hear(event);
        }
        let [a, b] = &mut *pair;
        a.sampler.tick().min(b.sampler.tick())
    });
    drop(away);
    let disturbed = watch.end();
    for life in pair.iter_mut() {
        life.record.disturbed.clone_from(&disturbed);
    }
    worked.map_err(|(side, error)| (side, pair[side].blame(error)))?;
    each(pair, |life| {
        life.down()?;
        life.close(None);
        Ok(())
    })
}

/// Takes one step with each side in turn; the side at fault.
fn each<'a>(
    pair: &mut [Lifecycle<'a>; 2],
    mut step: impl FnMut(&mut Lifecycle<'a>) -> Result<()>,
) -> Result<(), (usize, Error)> {
    for (side, life) in pair.iter_mut().enumerate() {
        step(life).map_err(|error| (side, error))?;
    }
    Ok(())
}

fn blank(case: &Case, round: u32) -> CaseRecord {
    CaseRecord {
        format: FORMAT,
        case: KeyRecord::from(&case.key),
        round,
        started: now_utc(),
        outcome: Outcome::Measured,
        target: None,
        engine: None,
        stages: Vec::new(),
        phases: Vec::new(),
        load: None,
        durability: None,
        memory: None,
        disturbed: Vec::new(),
        remarks: Vec::new(),
        duet: None,
    }
}

/// Why the case cannot be measured on this machine, if it cannot.
fn impossible(case: &Case, environment: &Environment) -> Option<Outcome> {
    let engine = case.engine.as_ref();
    if let Some(causes) = engine.and_then(|spec| environment.missing.get(spec)) {
        return Some(Outcome::Failed {
            stage: "find".to_string(),
            causes: causes.clone(),
            log: Vec::new(),
        });
    }
    let Spec::Made(made) = &case.target else {
        return None;
    };
    if let Privilege::DirectoriesOnly { reason } = &environment.privilege {
        return Some(Outcome::Skipped {
            reason: format!("file systems cannot be made here: {reason}"),
            remedy: "run as root, or name a directory on a mounted file system".to_string(),
        });
    }
    if let (Some(reason), true) = (&environment.held, made.fs.needs_device()) {
        return Some(Outcome::Skipped {
            reason: reason.clone(),
            remedy: "look at it, then measure the rest without --keep-on-failure".to_string(),
        });
    }
    let missing = target::probe(made.fs).err()?;
    Some(Outcome::Skipped {
        reason: missing.reason,
        remedy: missing.remedy,
    })
}

pub(super) struct Lifecycle<'a> {
    plan: &'a Plan,
    options: &'a Options,
    pub(super) environment: &'a Environment,
    pub(super) case: &'a Case,
    /// Of a duet; else 0.
    side: usize,
    lane: usize,
    watcher: &'a dyn Tell,
    stage: Stage,
    /// When the present stage began; `None` between two.
    since: Option<Instant>,
    /// The last lines of the log that tells about a fault.
    log: Vec<String>,
    pub(super) record: CaseRecord,
    sampler: Sampler,
    // Dropped in this order: the server before its group and what it stands on.
    server: Option<Box<dyn Server>>,
    server_group: Option<Cgroup>,
    pub(super) memory: Option<Memory<'a>>,
    pub(super) target: Option<Prepared>,
}

impl<'a> Lifecycle<'a> {
    fn new(
        (plan, options): (&'a Plan, &'a Options),
        environment: &'a Environment,
        (case, side, lane): (&'a Case, usize, usize),
        round: u32,
        watcher: &'a dyn Tell,
    ) -> Self {
        Lifecycle {
            plan,
            options,
            environment,
            case,
            side,
            lane,
            watcher,
            stage: Stage::Prepare,
            since: None,
            log: Vec::new(),
            record: blank(case, round),
            sampler: Sampler::new(None),
            server: None,
            server_group: None,
            memory: Memory::of(case, environment),
            target: None,
        }
    }

    /// Whether the case cannot be measured here at all, which then is its outcome.
    fn is_impossible(&mut self) -> bool {
        let found = impossible(self.case, self.environment);
        let is = found.is_some();
        if let Some(outcome) = found {
            self.record.outcome = outcome;
        }
        is
    }

    fn lane(&self) -> &'a Lane {
        &self.environment.lanes[self.lane]
    }

    /// mkfs and mount, or the directory; where the data go.
    pub(super) fn prepare(&mut self) -> Result<PathBuf> {
        self.enter(Stage::Prepare)?;
        let (spec, run_id) = (&self.case.target, &self.options.run_id);
        let target = Prepared::new(spec, self.environment, self.lane(), run_id)?;
        self.note_target(&target);
        if let Some(memory) = &mut self.memory {
            memory.stands_on(&target);
        }
        Ok(self.target.insert(target).data())
    }

    fn engine(&self) -> Result<&'a engine::Spec> {
        let spec = self.case.engine.as_ref();
        spec.context("a workload on files alone has no server")
    }

    /// From mkfs to a server that answers.
    fn up(&mut self) -> Result<()> {
        let data = self.prepare()?;
        self.enter(Stage::Restore)?;
        let (spec, settings) = (self.engine()?, &self.case.key.settings);
        let load = self.plan.load.as_ref().zip(self.case.key.load);
        let preload = load.map(|(options, cell)| options.preload(cell));
        if let Some(archive) =
            self.environment
                .snapshot(spec, settings, (preload, &self.lane().run_dir))?
        {
            target::snapshot::restore(&archive, &data)?;
        }
        self.settle()?;
        self.enter(Stage::Launch)?;
        self.launch(data)?;
        self.close_stage();
        Ok(())
    }

    /// Flushed, and mounted afresh where it can be.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.enter(Stage::Settle)?;
        if let Some(mut target) = self.target.take() {
            let settled = target.settle();
            self.note_target(&target);
            self.target = Some(target);
            settled?;
        }
        Ok(())
    }

    fn launch(&mut self, data: PathBuf) -> Result<()> {
        let engine = &self.environment.engines[self.engine()?];
        let build = engine.build();
        self.record.engine = Some(EngineRecord {
            kind: build.kind.to_string(),
            version: build.version.clone(),
            binary: build.binary.as_ref().map(|b| b.display().to_string()),
            has_server: engine.has_server(),
            settings: Default::default(),
        });
        let mut settings = self.case.key.settings.clone();
        settings.extend(self.case.fitted().cloned().unwrap_or_default());
        let cgroups = match engine.has_server() {
            true => self.join("server")?,
            false => Vec::new(),
        };
        let (server_cpus, _) = self.case.key.cpus.place(&self.environment.cpus);
        self.server = Some(engine.launch(&Launch {
            data,
            run_dir: self.lane().run_dir.clone(),
            settings,
            cpus: server_cpus,
            cgroups,
        })?);
        self.sampler = Sampler::new(self.server.as_ref().and_then(|s| s.watch()));
        Ok(())
    }

    /// Its target and server, while they are up.
    fn standing(&self) -> Vec<(&Prepared, Option<&dyn Server>)> {
        let target = self.target.as_ref().into_iter();
        target.map(|t| (t, self.server.as_deref())).collect()
    }

    /// Runs the worker and gathers what it tells.
    fn work(&mut self) -> Result<()> {
        self.enter(Stage::Work)?;
        let (group, cgroups) = self.of_worker()?;
        let Some(task) = self.task(cgroups, None) else {
            return Ok(());
        };
        let worked = self.run_worker(task);
        drop(group);
        worked
    }

    /// Runs its worker, watches the machine meanwhile and gathers what it tells.
    pub(super) fn run_worker(&mut self, task: (Task, Place)) -> Result<()> {
        let watch = Watch::start(self.environment, self.standing().as_slice());
        if let Some(memory) = &mut self.memory {
            memory.begin();
        }
        let away = keep_away(&task.1.cpus);
        let worked = crew::run(&[task], &mut |seen| {
            if let Seen::Event(_, event) = seen {
                self.hear(event);
            }
            let memory = self.memory.as_mut().map(Memory::tick);
            self.sampler.tick().min(memory.unwrap_or(crew::WAIT))
        });
        drop(away);
        if let Some(memory) = &mut self.memory {
            memory.end();
        }
        for disturbance in watch.end() {
            if !self.record.disturbed.contains(&disturbance) {
                self.record.disturbed.push(disturbance);
            }
        }
        worked.map_err(|(_, error)| self.blame(error))
    }

    /// What its worker is to do; `None` before the server is up.
    fn task(
        &self,
        cgroups: Vec<PathBuf>,
        duet: Option<(&PathBuf, usize)>,
    ) -> Option<(Task, Place)> {
        let (target, server) = (self.target.as_ref()?, self.server.as_ref()?);
        let (_, cpus) = self.case.key.cpus.place(&self.environment.cpus);
        let task = Task {
            workload: match self.plan.load.as_ref().zip(self.case.key.load) {
                Some((options, cell)) => Work::Load {
                    options: options.clone(),
                    cell,
                },
                None => Work::Phase {
                    name: self.case.key.workload.clone(),
                    options: self.plan.sqlbench.clone(),
                },
            },
            address: server.address(),
            target: Some(target.root().to_path_buf()),
            device: target.device.clone(),
            server: server.watch(),
            duet: duet.map(|(board, first)| Duet {
                board: board.clone(),
                side: self.side,
                first,
                slice_ns: self.plan.slice.unwrap_or_default().as_nanos() as u64,
            }),
        };
        Some((task, self.place(cpus, cgroups)))
    }

    /// Where its worker runs.
    pub(super) fn place(&self, cpus: Vec<usize>, cgroups: Vec<PathBuf>) -> Place {
        Place {
            cpus,
            cgroups,
            log: self.lane().worker_log.clone(),
        }
    }

    /// Puts what the worker tells into the record and passes it on.
    fn hear(&mut self, event: &workload::Event) {
        gather(&mut self.record, event);
        let phase = self.record.phases.last_mut();
        if let (Some(seen), Some(phase)) = (self.sampler.hear(event), phase) {
            phase.sampled = Some(seen);
        }
        let name = self.record.duet.as_ref().map(|_| {
            let own = |key: &CaseKey| *key == self.case.key;
            self.plan.name_of(own)
        });
        let side = name.as_deref();
        self.watcher.tell(&Event::Workload { event, side });
    }

    /// Stops the server and takes the target down.
    fn down(&mut self) -> Result<()> {
        if let Some(ceiling) = &self.environment.ceiling {
            let remarks = ceiling::remarks(&self.record, ceiling);
            self.record.remarks.extend(remarks);
        }
        if let Some(target) = &self.target {
            self.record.durability = Some(worth::judge(&self.record, &target.chain));
        }
        self.enter(Stage::Stop)?;
        if let Some(server) = self.server.take() {
            server.stop()?;
        }
        self.server_group = None;
        if let Some(memory) = &mut self.memory {
            self.record.memory = Some(memory.close(self.record.engine.as_ref()));
            memory.must_have_sufficed()?;
        }
        self.enter(Stage::Cleanup)?;
        self.target.take().map_or(Ok(()), Prepared::take_down)
    }

    /// Ends the case, with its fault if it had one.
    fn close(&mut self, fault: Option<Error>) {
        self.close_stage();
        if let Some(mut error) = fault {
            if let Some(memory) = &mut self.memory {
                self.record.memory = Some(memory.close(self.record.engine.as_ref()));
                if let Err(shortage) = memory.must_have_sufficed()
                    && error.to_string() != shortage.to_string()
                {
                    error = error.context(shortage);
                }
            }
            self.record.outcome = self.fault(&error);
        }
    }

    /// A cgroup of this case; where there are none, process groups have to do.
    pub(super) fn group(&self, of: &str) -> Option<Cgroup> {
        let name = format!("{}-{of}{}", self.options.run_id, self.lane);
        Cgroup::create(&name, &self.environment.ledger).ok()
    }

    /// What the server or worker `of` joins: its group with the memory limit, where it is
    /// the one that is limited, else one that counts.
    fn join(&mut self, of: &str) -> Result<Vec<PathBuf>> {
        let name = format!("{}-{of}{}", self.options.run_id, self.lane);
        if let (Some(memory), Some(target)) = (&mut self.memory, &self.target) {
            return memory.open((&name, of), target);
        }
        self.server_group = self.group(of);
        Ok(self.server_group.iter().map(Cgroup::procs).collect())
    }

    /// The group of the worker, and what it joins. With a server of its own it has the
    /// memory of the machine.
    pub(super) fn of_worker(&mut self) -> Result<(Option<Cgroup>, Vec<PathBuf>)> {
        let has_server = self.server.as_ref().is_some_and(|s| s.watch().is_some());
        if self.memory.is_some() && !has_server {
            return Ok((None, self.join("worker")?));
        }
        let group = self.group("worker");
        let procs = group.iter().map(Cgroup::procs).collect();
        Ok((group, procs))
    }

    /// Adds to a worker's fault what the server has to say about it.
    fn blame(&mut self, error: Error) -> Error {
        if error.is::<Interrupted>() {
            return error;
        }
        let (died, mut log) = match &mut self.server {
            Some(server) => (fate(server.as_mut()), server.log_tail()),
            None => (None, Vec::new()),
        };
        if let Some(failed) = error.downcast_ref::<WorkerFailed>() {
            log.extend(failed.log.iter().cloned());
        }
        self.log = log;
        let error = match died {
            Some(how) => error.context(format!("the server died: {how}")),
            None => error,
        };
        match self.target.as_ref().and_then(Prepared::complaint) {
            Some(complaint) => error.context(complaint),
            None => error,
        }
    }

    fn note_target(&mut self, target: &Prepared) {
        self.record.target = Some(target.record.clone());
        self.record.remarks = target.remarks.clone();
    }

    /// Ends the stage before and begins `stage`.
    pub(super) fn enter(&mut self, stage: Stage) -> Result<()> {
        self.close_stage();
        self.stage = stage;
        self.watcher.tell(&Event::Entered(stage));
        if self.options.hold_at == Some(stage) {
            self.watcher
                .tell(&Event::Note(format!("holding at {stage}")));
        }
        while self.options.hold_at == Some(stage) {
            interrupt::check()?;
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        interrupt::check()?;
        self.since = Some(Instant::now());
        Ok(())
    }

    fn close_stage(&mut self) {
        if let Some(since) = self.since.take() {
            self.record.stages.push(StageRecord {
                stage: self.stage.name().to_string(),
                wall_ns: since.elapsed().as_nanos() as u64,
            });
        }
    }

    fn fault(&mut self, error: &Error) -> Outcome {
        let stage = self.stage.name().to_string();
        if error.is::<Interrupted>() {
            return Outcome::Interrupted { stage };
        }
        // What a fault leaves up goes now, before the next case begins.
        self.server = None;
        self.server_group = None;
        if let Some(target) = self.target.take().filter(|_| self.options.keep_on_failure) {
            self.record.remarks.extend(target.keep().map(keep::words));
        }
        let mut causes = chain(error);
        if let Some(failed) = error.downcast_ref::<WorkerFailed>() {
            // The innermost level stands for the worker's own chain.
            causes.pop();
            causes.extend_from_slice(failed.causes());
        }
        Outcome::Failed {
            stage,
            causes,
            log: std::mem::take(&mut self.log),
        }
    }
}

/// Why a server has ended, if it has: one that is killed loses its connections shortly
/// before its end can be seen.
fn fate(server: &mut dyn Server) -> Option<String> {
    let end = Instant::now() + Duration::from_millis(300);
    let mut died = server.died();
    while died.is_none() && server.watch().is_some() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
        died = server.died();
    }
    died
}

/// Puts what the worker tells into the record.
fn gather(record: &mut CaseRecord, event: &workload::Event) {
    match event {
        workload::Event::PhaseStarted { phase } => record.phases.push(PhaseRecord {
            name: phase.clone(),
            completeness: Completeness::Interrupted,
            ends: None,
            client: None,
            server: None,
            server_memory_bytes: None,
            duet: None,
            machine: None,
            sampled: None,
            operations: Vec::new(),
        }),
        workload::Event::OperationStarted { .. } | workload::Event::LoadProgress(_) => {}
        workload::Event::LoadFinished(result) => {
            record.remarks.extend(result.remarks.iter().cloned());
            record.load = Some((**result).clone().into());
        }
        workload::Event::LoadChecked(checked) => {
            if let Some(load) = &mut record.load {
                load.invariants.clone_from(&checked.invariants);
                load.activity.extend(checked.activity.clone());
            }
        }
        workload::Event::OperationFinished(operation) => {
            if let Some(phase) = record.phases.last_mut() {
                phase.operations.push((**operation).clone().into());
            }
        }
        workload::Event::PhaseFinished(result) => {
            if let Some(engine) = &mut record.engine {
                engine.settings = result.settings.clone();
            }
            if let Some(phase) = record.phases.last_mut() {
                let limited = |o: &crate::record::OperationRecord| {
                    o.completeness == Completeness::TimeLimited
                };
                phase.completeness = match phase.operations.iter().any(limited) {
                    true => Completeness::TimeLimited,
                    false => Completeness::Complete,
                };
                phase.ends = Some(result.ends.into());
                phase.client = Some(result.client.into());
                phase.server = result.server.map(Into::into);
                phase.server_memory_bytes = result.server_memory_bytes;
                phase.duet = result.duet.map(Into::into);
                phase.machine = result.machine.map(Into::into);
            }
        }
    }
}
