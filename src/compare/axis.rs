//! The axes along which the cases of a run differ.

use std::collections::BTreeSet;
use std::fmt;

use crate::record::{KeyRecord, LoadKeyRecord};

/// One axis of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// Where the data live.
    Target,
    /// A setting of the engine, by name.
    Setting(String),
    /// The memory limit.
    Memory,
    /// CPU placement.
    Cpus,
    /// The engine build.
    Engine,
    /// Clients of a load.
    Clients,
    /// Databases of a load.
    Databases,
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Axis::Target => f.write_str("target"),
            Axis::Setting(name) => f.write_str(name),
            Axis::Memory => f.write_str("memory"),
            Axis::Cpus => f.write_str("cpus"),
            Axis::Engine => f.write_str("engine"),
            Axis::Clients => f.write_str("clients"),
            Axis::Databases => f.write_str("databases"),
        }
    }
}

impl Axis {
    /// The value of a key on this axis, as shown.
    pub fn value(&self, key: &KeyRecord) -> String {
        match self {
            Axis::Target => key.target.clone(),
            Axis::Setting(name) => key.settings.get(name).cloned().unwrap_or_default(),
            Axis::Memory => key.memory_bytes.map_or_else(
                || "unlimited".to_string(),
                |bytes| crate::units::Bytes(bytes).to_string(),
            ),
            Axis::Cpus => key.cpus.clone(),
            Axis::Engine => key.engine.clone(),
            Axis::Clients => of_load(key, |load| load.clients),
            Axis::Databases => of_load(key, |load| load.databases),
        }
    }

    /// A value as it is named beside those of other axes: `synchronous=full`, `xfs_defaults`.
    pub fn named(&self, value: &str) -> String {
        match self {
            Axis::Setting(name) => format!("{name}={value}"),
            Axis::Memory | Axis::Cpus | Axis::Clients | Axis::Databases => {
                format!("{self} {value}")
            }
            Axis::Target | Axis::Engine => value.to_string(),
        }
    }

    /// True when two keys differ on this axis and on no other.
    pub fn alone_differs(&self, a: &KeyRecord, b: &KeyRecord) -> bool {
        if self.value(a) == self.value(b) {
            return false;
        }
        let mut other = b.clone();
        match self {
            Axis::Target => other.target.clone_from(&a.target),
            Axis::Setting(name) => match a.settings.get(name) {
                Some(value) => drop(other.settings.insert(name.clone(), value.clone())),
                None => drop(other.settings.remove(name)),
            },
            Axis::Memory => other.memory_bytes = a.memory_bytes,
            Axis::Cpus => other.cpus.clone_from(&a.cpus),
            Axis::Clients => swap_in(a, &mut other, |load| &mut load.clients),
            Axis::Databases => swap_in(a, &mut other, |load| &mut load.databases),
            // Another engine has other settings by nature.
            Axis::Engine => {
                other.engine.clone_from(&a.engine);
                other.settings.clone_from(&a.settings);
            }
        }
        *a == other
    }

    /// The axes on which `keys` take more than one value, in the order of this enum.
    pub fn of(keys: &[&KeyRecord]) -> Vec<Axis> {
        let names: BTreeSet<&String> = keys.iter().flat_map(|k| k.settings.keys()).collect();
        let mut axes = vec![Axis::Target];
        axes.extend(names.into_iter().cloned().map(Axis::Setting));
        axes.extend([
            Axis::Memory,
            Axis::Cpus,
            Axis::Engine,
            Axis::Clients,
            Axis::Databases,
        ]);
        axes.retain(|axis| {
            keys.iter()
                .any(|a| keys.iter().any(|b| axis.alone_differs(a, b)))
        });
        axes
    }

    /// The values of `keys` on this axis, in order of appearance.
    pub fn values(&self, keys: &[&KeyRecord]) -> Vec<String> {
        let mut values = Vec::new();
        for key in keys {
            let value = self.value(key);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

fn of_load(key: &KeyRecord, pick: fn(&LoadKeyRecord) -> u32) -> String {
    key.load
        .as_ref()
        .map(pick)
        .map_or_else(String::new, |n| n.to_string())
}

/// Gives `other` the number that `a` has, where both are loads.
fn swap_in(a: &KeyRecord, other: &mut KeyRecord, pick: fn(&mut LoadKeyRecord) -> &mut u32) {
    if let (Some(mut a), Some(b)) = (a.load, &mut other.load) {
        *pick(b) = *pick(&mut a);
    }
}
