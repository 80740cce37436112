//! A case without a server: its workload does nothing but handle files.

use std::path::Path;

use super::lifecycle::Lifecycle;
use super::stage::Stage;
use super::worker::{Task, Work};
use crate::engine::Address;
use crate::error::{Context, Result};
use crate::record::EngineRecord;
use crate::target::Spec;
use crate::workload::{sync, tree};

impl Lifecycle<'_> {
    /// From mkfs to the end of the work. There is nothing to restore but room to look for,
    /// and a part of the work begins with a cold target, so that stages come again.
    pub(super) fn files(&mut self) -> Result<()> {
        let data = self.prepare()?;
        self.record.engine = Some(EngineRecord {
            kind: "files".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            ..EngineRecord::default()
        });
        self.enter(Stage::Restore)?;
        for work in self.parts(&data)? {
            if let Some(memory) = &mut self.memory {
                memory.let_go();
            }
            self.settle()?;
            self.enter(Stage::Work)?;
            self.part(work)?;
        }
        Ok(())
    }

    /// The parts of the workload in the directory `data`.
    fn parts(&self, data: &Path) -> Result<Vec<Work>> {
        let key = &self.case.key;
        if key.workload == sync::WORKLOAD {
            let options = sync::Options::from_settings(&key.settings)?;
            options.check_room(data)?;
            // A device that others use too has no flush of its own.
            let own = matches!(self.case.target, Spec::Made(_));
            let device = self.target.as_ref().and_then(|t| t.device.clone());
            return Ok(vec![Work::Sync(sync::Task {
                calls: options.calls,
                data: data.to_path_buf(),
                device: device.filter(|_| own),
            })]);
        }
        let archive = self.environment.archive(&key.workload, &key.settings)?;
        let copies = tree::copies(&key.workload);
        let block = rustix::fs::statvfs(data)?.f_frsize;
        archive.need(copies, block).check(data)?;
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
                    data: data.to_path_buf(),
                })
            })
            .collect())
    }

    fn part(&mut self, workload: Work) -> Result<()> {
        let target = self.target.as_ref().context("the target is gone")?;
        let task = Task {
            workload,
            address: Address::None,
            target: Some(target.root().to_path_buf()),
            device: target.device.clone(),
            server: None,
            duet: None,
        };
        let (group, cgroups) = self.of_worker()?;
        let (_, cpus) = self.case.key.cpus.place(&self.environment.cpus);
        let place = self.place(cpus, cgroups);
        let worked = self.run_worker((task, place));
        drop(group);
        worked
    }
}
