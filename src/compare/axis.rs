//! The axes along which the cases of a run differ.

use std::collections::{BTreeSet, HashMap, HashSet};
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
        axes.retain(|axis| axis.varies_alone(keys));
        axes
    }

    /// True when two of `keys` differ on this axis and on no other.
    fn varies_alone(&self, keys: &[&KeyRecord]) -> bool {
        let mut values: HashMap<KeyRecord, String> = HashMap::new();
        keys.iter().any(|key| {
            let value = self.value(key);
            let first = values
                .entry(self.rest(key))
                .or_insert_with(|| value.clone());
            *first != value
        })
    }

    /// True when two keys differ on this axis and on no other.
    pub(super) fn alone_differs(&self, a: &KeyRecord, b: &KeyRecord) -> bool {
        self.value(a) != self.value(b) && self.rest(a) == self.rest(b)
    }

    /// A key without its place on this axis: equal for two that differ on no other.
    pub(super) fn rest(&self, key: &KeyRecord) -> KeyRecord {
        let mut rest = key.clone();
        match self {
            Axis::Target => rest.target.clear(),
            Axis::Setting(name) => drop(rest.settings.remove(name)),
            Axis::Memory => rest.memory_bytes = None,
            Axis::Cpus => rest.cpus.clear(),
            Axis::Clients => rest.load.iter_mut().for_each(|load| load.clients = 0),
            Axis::Databases => rest.load.iter_mut().for_each(|load| load.databases = 0),
            // Another engine has other settings by nature.
            Axis::Engine => {
                rest.engine.clear();
                rest.settings.clear();
            }
        }
        rest
    }

    /// The values of `keys` on this axis, in order of appearance.
    pub fn values(&self, keys: &[&KeyRecord]) -> Vec<String> {
        let mut seen = HashSet::new();
        let values = keys.iter().map(|key| self.value(key));
        values.filter(|value| seen.insert(value.clone())).collect()
    }
}

fn of_load(key: &KeyRecord, pick: fn(&LoadKeyRecord) -> u32) -> String {
    key.load
        .as_ref()
        .map(pick)
        .map_or_else(String::new, |n| n.to_string())
}
