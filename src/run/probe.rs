//! Watches from within the worker: read around operations, outside every window.

use std::fs::File;
use std::path::PathBuf;

use super::worker::Task;
use crate::engine::ServerWatch;
use crate::error::{Context, Result};
use crate::host::Reading;
use crate::measure::{CpuTime, DeviceCounters};
use crate::target;
use crate::workload::Probe;

/// Counters of the target, the server and the machine.
pub(super) struct TargetProbe {
    target: Option<(PathBuf, File, target::DirtyGauge)>,
    device: Option<target::BlockStat>,
    server: Option<ServerWatch>,
}

impl TargetProbe {
    /// Of the target and server of `task`.
    ///
    /// # Errors
    /// When the target or its device cannot be opened.
    pub fn open(task: &Task) -> Result<Self> {
        let target = match &task.target {
            None => None,
            Some(dir) => {
                let opened =
                    File::open(dir).with_context(|| format!("cannot open {}", dir.display()))?;
                Some((dir.clone(), opened, target::DirtyGauge::open(dir)))
            }
        };
        let device = match &task.device {
            None => None,
            Some(device) => Some(target::BlockStat::open(device)?),
        };
        Ok(TargetProbe {
            target,
            device,
            server: task.server.clone(),
        })
    }
}

impl Probe for TargetProbe {
    fn device(&mut self) -> Option<DeviceCounters> {
        self.device.as_mut()?.read().ok()
    }

    fn server_cpu(&mut self) -> Option<CpuTime> {
        self.server.as_ref()?.cpu()
    }

    fn server_memory(&mut self) -> Option<u64> {
        self.server.as_ref()?.memory()
    }

    fn machine(&mut self) -> Option<Reading> {
        Some(Reading::take(None))
    }

    fn dirty_bytes(&mut self) -> Option<u64> {
        self.target.as_ref()?.2.read()
    }

    fn sync(&mut self) -> Result<()> {
        match &self.target {
            Some((dir, file, _)) => rustix::fs::syncfs(file)
                .with_context(|| format!("syncfs of {} failed", dir.display())),
            None => Ok(()),
        }
    }
}
