//! A case without a server: its workload does nothing but handle files.

use super::lifecycle::Lifecycle;
use super::prepared::Prepared;
use super::stage::Stage;
use super::worker::{Task, Work, WorkerFailed};
use crate::engine::Address;
use crate::error::{Error, Result};
use crate::host::interrupt::Interrupted;
use crate::record::EngineRecord;
use crate::target::Spec;
use crate::workload::{sync, tree};

impl Lifecycle<'_> {
    /// Everything between the making of the target and its taking down. There is nothing
    /// to restore but room to look for, and the stages of a server are passed over.
    pub(super) fn files_on_target(&mut self, mut target: Prepared) -> Result<Prepared> {
        self.note_target(&target);
        self.record.engine = Some(EngineRecord {
            kind: "files".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            ..EngineRecord::default()
        });
        self.enter(Stage::Restore)?;
        for work in self.parts(&target)? {
            self.enter(Stage::Settle)?;
            target.settle()?;
            self.note_target(&target);
            self.enter(Stage::Work)?;
            self.part(&target, work).map_err(|e| self.with_log(e))?;
        }
        Ok(target)
    }

    /// The parts of the workload: before each the target is made cold.
    fn parts(&self, target: &Prepared) -> Result<Vec<Work>> {
        let key = &self.case.key;
        if key.workload == sync::WORKLOAD {
            let options = sync::Options::from_settings(&key.settings)?;
            options.check_room(&target.data())?;
            // A device that others use too has no flush of its own.
            let own = matches!(self.case.target, Spec::Made(_));
            return Ok(vec![Work::Sync(sync::Task {
                calls: options.calls,
                data: target.data(),
                device: target.device.clone().filter(|_| own),
            })]);
        }
        let archive = self.environment.archive(&key.workload, &key.settings)?;
        let copies = tree::copies(&key.workload);
        let block = rustix::fs::statvfs(target.data())?.f_frsize;
        archive.need(copies, block).check(&target.data())?;
        let jobs = tree::Options::from_settings(&key.settings)?.jobs;
        let parts = tree::parts(&key.workload).into_iter();
        Ok(parts
            .map(|steps| {
                Work::Tree(tree::Task {
                    steps,
                    copies,
                    archive: archive.path(),
                    contents: archive.contents.clone(),
                    jobs,
                    data: target.data(),
                })
            })
            .collect())
    }

    fn part(&mut self, target: &Prepared, workload: Work) -> Result<()> {
        let (_, cpus) = self.case.key.cpus.place(&self.environment.cpus);
        let task = Task {
            workload,
            address: Address::None,
            target: Some(target.root().to_path_buf()),
            device: target.device.clone(),
            server: None,
        };
        self.run_worker(&task, &cpus)
    }

    fn with_log(&mut self, error: Error) -> Error {
        if let (false, Some(failed)) = (error.is::<Interrupted>(), error.downcast_ref()) {
            let WorkerFailed { log, .. } = failed;
            self.log.clone_from(log);
        }
        error
    }
}
