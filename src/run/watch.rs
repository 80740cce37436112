//! Looks for what others do on the machine while a case, or the two of a duet, are
//! measured: one reading before and one after, nothing in between.

use std::path::PathBuf;

use super::environment::Environment;
use super::prepared::Prepared;
use crate::compare::{Own, disturbances};
use crate::engine::{Server, ServerWatch};
use crate::host::Reading;
use crate::target::{self, Device};
use crate::units::{CpuTime, DeviceCounters};

/// The counters before the work.
pub(super) struct Watch {
    /// The disk that holds the images.
    disk: Option<(u32, u32)>,
    /// The images' own devices, whose I/O is the cases'.
    devices: Vec<PathBuf>,
    devices_before: DeviceCounters,
    servers: Vec<ServerWatch>,
    servers_before: CpuTime,
    one_process: bool,
    before: Reading,
}

impl Watch {
    /// Takes the first reading, for what stands on `sides`.
    pub fn start(environment: &Environment, sides: &[(&Prepared, Option<&dyn Server>)]) -> Self {
        let images = || environment.lanes.iter().filter_map(|l| l.image.as_ref());
        let is_image = |device: &PathBuf| images().any(|i| i.device() == device);
        let devices: Vec<PathBuf> = sides
            .iter()
            .filter_map(|(target, _)| target.device.clone())
            .filter(is_image)
            .collect();
        let holder = images().find_map(|i| i.facts().holder.device());
        let disk = holder
            .filter(|_| !devices.is_empty())
            .and_then(|path| Some(Device::read(&path).ok()?.number));
        let servers: Vec<ServerWatch> = sides
            .iter()
            .filter_map(|(_, server)| server.as_ref()?.watch())
            .collect();
        Watch {
            disk,
            devices_before: counters(&devices),
            devices,
            servers_before: cpu(&servers),
            one_process: servers.is_empty(),
            servers,
            before: Reading::take(disk),
        }
    }

    /// Takes the second one and says what disturbed the work.
    pub fn end(self) -> Vec<String> {
        let window = self.before.until(&Reading::take(self.disk));
        let own = Own {
            server: cpu(&self.servers).since(self.servers_before),
            device: (!self.devices.is_empty())
                .then(|| counters(&self.devices).since(self.devices_before)),
            one_process: self.one_process,
        };
        let found = disturbances(&window, &own);
        found.iter().map(ToString::to_string).collect()
    }
}

fn counters(devices: &[PathBuf]) -> DeviceCounters {
    let each = devices
        .iter()
        .filter_map(|d| target::block_counters(d).ok());
    each.fold(DeviceCounters::default(), |a, b| a + b)
}

fn cpu(servers: &[ServerWatch]) -> CpuTime {
    let each = servers.iter().filter_map(ServerWatch::cpu);
    each.fold(CpuTime::default(), |a, b| a + b)
}
