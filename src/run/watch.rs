//! Looks for what others do on the machine while a case is measured: one reading before
//! and one after, nothing in between.

use std::path::PathBuf;

use super::environment::Environment;
use super::prepared::Prepared;
use crate::compare::{Own, disturbances};
use crate::engine::Server;
use crate::host::Reading;
use crate::target::{self, Device};
use crate::units::{CpuTime, DeviceCounters};

/// The counters before the work.
pub(super) struct Watch {
    disk: Option<(u32, u32)>,
    /// The image's own device, whose I/O is the case's.
    device: Option<PathBuf>,
    device_before: Option<DeviceCounters>,
    server_before: Option<CpuTime>,
    before: Reading,
}

impl Watch {
    /// Takes the first reading.
    pub fn start(environment: &Environment, target: &Prepared, server: &dyn Server) -> Self {
        let image = environment.image.as_ref();
        let device = target
            .device
            .clone()
            .filter(|d| image.is_some_and(|i| i.device() == d));
        let holder = image.and_then(|i| i.facts().holder.device());
        let disk = holder.and_then(|path| Some(Device::read(&path).ok()?.number));
        let disk = disk.filter(|_| device.is_some());
        Watch {
            disk,
            device_before: counters(device.as_ref()),
            device,
            server_before: server.cpu(),
            before: Reading::take(disk),
        }
    }

    /// Takes the second one and says what disturbed the case.
    pub fn end(self, server: &dyn Server) -> Vec<String> {
        let window = self.before.until(&Reading::take(self.disk));
        let device = self.device_before.zip(counters(self.device.as_ref()));
        let cpu = self.server_before.zip(server.cpu());
        let own = Own {
            server: cpu.map_or_else(CpuTime::default, |(a, b)| b.since(a)),
            device: device.map(|(a, b)| b.since(a)),
            one_process: self.server_before.is_none(),
        };
        let found = disturbances(&window, &own);
        found.iter().map(ToString::to_string).collect()
    }
}

fn counters(device: Option<&PathBuf>) -> Option<DeviceCounters> {
    target::block_counters(device?).ok()
}
