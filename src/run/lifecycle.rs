//! One case in one round, from mkfs to umount.

use std::time::{Duration, Instant};

use super::environment::{Environment, Options};
use super::event::{Event, Observer};
use super::prepared::Prepared;
use super::stage::Stage;
use super::worker::{self, Place, Task, Work, WorkerFailed};
use crate::engine::{self, Launch, Server};
use crate::error::{Error, Result, chain};
use crate::host::interrupt::{self, Interrupted};
use crate::host::{Cgroup, now_utc};
use crate::plan::{Case, Plan};
use crate::record::{
    CaseRecord, Completeness, EngineRecord, FORMAT, KeyRecord, Outcome, PhaseRecord, StageRecord,
};
use crate::target::{self, Privilege, Spec};
use crate::workload;

/// Measures `case` in `round`; a fault becomes part of the record.
pub(super) fn measure(
    (plan, options): (&Plan, &Options),
    environment: &Environment,
    case: &Case,
    round: u32,
    observer: &mut dyn Observer,
) -> CaseRecord {
    let mut lifecycle = Lifecycle {
        plan,
        options,
        environment,
        case,
        observer,
        stage: Stage::Prepare,
        since: None,
        log: Vec::new(),
        record: blank(case, round),
    };
    if let Some(outcome) = impossible(case, environment) {
        lifecycle.record.outcome = outcome;
        return lifecycle.record;
    }
    let result = lifecycle.run();
    lifecycle.close_stage();
    if let Err(error) = result {
        lifecycle.record.outcome = lifecycle.fault(&error);
    }
    lifecycle.record
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
        durability: None,
        disturbed: Vec::new(),
        remarks: Vec::new(),
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
    let missing = target::probe(made.fs).err()?;
    Some(Outcome::Skipped {
        reason: missing.reason,
        remedy: missing.remedy,
    })
}

pub(super) struct Lifecycle<'a> {
    pub(super) plan: &'a Plan,
    options: &'a Options,
    pub(super) environment: &'a Environment,
    pub(super) case: &'a Case,
    observer: &'a mut dyn Observer,
    stage: Stage,
    /// When the present stage began; `None` between two.
    since: Option<Instant>,
    /// The last lines of the log that tells about a fault.
    pub(super) log: Vec<String>,
    pub(super) record: CaseRecord,
}

impl Lifecycle<'_> {
    fn run(&mut self) -> Result<()> {
        self.enter(Stage::Prepare)?;
        let target = Prepared::new(&self.case.target, self.environment, &self.options.run_id)?;
        let target = match &self.case.engine {
            Some(spec) => self.on_target(spec, target),
            None => self.files_on_target(target),
        }?;
        self.enter(Stage::Cleanup)?;
        target.take_down()
    }

    /// Everything between the making of the target and its taking down.
    fn on_target(&mut self, spec: &engine::Spec, mut target: Prepared) -> Result<Prepared> {
        self.note_target(&target);
        self.enter(Stage::Restore)?;
        let settings = &self.case.key.settings;
        if let Some(archive) = self.environment.snapshot(spec, settings)? {
            target::snapshot::restore(&archive, &target.data())?;
        }
        self.enter(Stage::Settle)?;
        target.settle()?;
        self.note_target(&target);
        self.enter(Stage::Launch)?;
        let engine = &self.environment.engines[spec];
        self.record.engine = Some(EngineRecord {
            kind: engine.build().kind.to_string(),
            version: engine.build().version.clone(),
            binary: engine
                .build()
                .binary
                .as_ref()
                .map(|b| b.display().to_string()),
            has_server: engine.has_server(),
            settings: Default::default(),
        });
        let group = engine.has_server().then(|| self.group("server")).flatten();
        let (server_cpus, worker_cpus) = self.case.key.cpus.place(&self.environment.cpus);
        let mut server = engine.launch(&Launch {
            data: target.data(),
            run_dir: self.environment.run_dir(),
            settings: settings.clone(),
            cpus: server_cpus,
            cgroups: group.iter().map(Cgroup::procs).collect(),
        })?;
        self.enter(Stage::Work)?;
        if let Err(error) = self.work(&target, server.as_mut(), &worker_cpus) {
            return Err(self.blame(error, server.as_mut()));
        }
        self.enter(Stage::Stop)?;
        server.stop()?;
        Ok(target)
    }

    /// A cgroup of this case; where there are none, process groups have to do.
    fn group(&self, of: &str) -> Option<Cgroup> {
        let name = format!("{}-{of}", self.options.run_id);
        Cgroup::create(&name, &self.environment.ledger).ok()
    }

    /// Runs the worker with its server.
    fn work(&mut self, target: &Prepared, server: &mut dyn Server, cpus: &[usize]) -> Result<()> {
        let task = Task {
            workload: Work::Phase {
                name: self.case.key.workload.clone(),
                options: self.plan.sqlbench.clone(),
            },
            address: server.address(),
            target: Some(target.root().to_path_buf()),
            device: target.device.clone(),
            server: server.watch(),
        };
        self.run_worker(&task, cpus)
    }

    /// Runs a worker of this case and gathers what it tells.
    pub(super) fn run_worker(&mut self, task: &Task, cpus: &[usize]) -> Result<()> {
        let cgroup = self.group("worker");
        let log = self.environment.worker_log();
        let place = Place {
            cpus,
            cgroup: cgroup.as_ref().map(Cgroup::procs),
            log: &log,
        };
        let (record, observer) = (&mut self.record, &mut *self.observer);
        worker::run(task, &place, &mut |event| {
            gather(record, event);
            observer.tell(&Event::Workload(event));
        })
    }

    /// Adds to a worker's fault what the server has to say about it.
    fn blame(&mut self, error: Error, server: &mut dyn Server) -> Error {
        if error.is::<Interrupted>() {
            return error;
        }
        // A server that is killed loses its connections shortly before its end can be seen.
        let end = Instant::now() + Duration::from_millis(300);
        let mut died = server.died();
        while died.is_none() && server.watch().is_some() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
            died = server.died();
        }
        let mut log = server.log_tail();
        if let Some(failed) = error.downcast_ref::<WorkerFailed>() {
            log.extend(failed.log.iter().cloned());
        }
        self.log = log;
        match died {
            Some(how) => error.context(format!("the server died: {how}")),
            None => error,
        }
    }

    pub(super) fn note_target(&mut self, target: &Prepared) {
        self.record.target = Some(target.record.clone());
        self.record.remarks = target.remarks.clone();
    }

    /// Ends the stage before and begins `stage`.
    pub(super) fn enter(&mut self, stage: Stage) -> Result<()> {
        self.close_stage();
        self.stage = stage;
        self.observer.tell(&Event::Entered(stage));
        if self.options.hold_at == Some(stage) {
            self.observer
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

/// Puts what the worker tells into the record.
fn gather(record: &mut CaseRecord, event: &workload::Event) {
    match event {
        workload::Event::PhaseStarted { phase } => record.phases.push(PhaseRecord {
            name: phase.clone(),
            completeness: Completeness::Interrupted,
            ends: None,
            client: None,
            server: None,
            machine: None,
            server_memory_bytes: None,
            operations: Vec::new(),
        }),
        workload::Event::OperationStarted { .. } => {}
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
                phase.machine = result.machine.map(Into::into);
                phase.server_memory_bytes = result.server_memory_bytes;
            }
        }
    }
}
