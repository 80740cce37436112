//! Looks for what others do on the machine while a case, or the two of a duet, are
//! measured: one reading before and one after, nothing in between.

use std::path::Path;

use crate::compare::{Own, disturbances};
use crate::engine::Server;
use crate::host::Reading;
use crate::target::{self, Device, Image};
use crate::units::{CpuTime, DeviceCounters};

/// What one of them works on.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    /// The device whose counters are its own.
    pub device: Option<&'a Path>,
    /// The image of its lane.
    pub image: Option<&'a Image>,
    /// Its server; an engine without one has no CPU of its own here.
    pub server: Option<&'a dyn Server>,
}

impl Site<'_> {
    /// The disk below the image, if it works on that.
    fn disk(&self) -> Option<(u32, u32)> {
        let image = self.image.filter(|i| self.device == Some(i.device()))?;
        let holder = image.facts().holder.device()?;
        Some(Device::read(&holder).ok()?.number)
    }

    fn counters(&self) -> Option<DeviceCounters> {
        target::block_counters(self.device?).ok()
    }

    fn server_cpu(&self) -> Option<CpuTime> {
        self.server?.cpu()
    }
}

/// The counters before the work, those of each site in the same order.
pub(super) struct Watch<const N: usize> {
    disk: Option<(u32, u32)>,
    devices: [Option<DeviceCounters>; N],
    servers: [Option<CpuTime>; N],
    machine: Reading,
}

impl<const N: usize> Watch<N> {
    /// Takes the first reading.
    pub fn start(sites: [Site<'_>; N]) -> Self {
        // Images of one run lie on one disk.
        let disk = sites.first().and_then(Site::disk);
        Watch {
            disk: disk.filter(|_| sites.iter().all(|site| site.disk() == disk)),
            devices: sites.map(|site| site.counters()),
            servers: sites.map(|site| site.server_cpu()),
            machine: Reading::take(disk),
        }
    }

    /// Takes the second one and says what disturbed them.
    pub fn end(self, sites: [Site<'_>; N]) -> Vec<String> {
        let window = self.machine.until(&Reading::take(self.disk));
        let mut own = Own {
            device: self.disk.map(|_| DeviceCounters::default()),
            one_process: N == 1 && self.servers.iter().all(Option::is_none),
            ..Own::default()
        };
        for (number, site) in sites.iter().enumerate() {
            let device = self.devices[number].zip(site.counters());
            own.device = own
                .device
                .zip(device)
                .map(|(sum, (before, after))| sum + after.since(before));
            if let Some((before, after)) = self.servers[number].zip(site.server_cpu()) {
                own.server = own.server + after.since(before);
            }
        }
        let found = disturbances(&window, &own);
        found.iter().map(ToString::to_string).collect()
    }
}
