//! What two runs may differ in, and which part of a case's key that is.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, unknown};
use crate::record::KeyRecord;

/// One aspect of the circumstances of a run. Two runs are compared in the aspects that
/// are named, and must be alike in all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// Kernel release and build.
    Kernel,
    /// Distribution.
    System,
    /// CPUs: model, number, governor, placement of client and server.
    Cpu,
    /// Memory and its limit, swap.
    Memory,
    /// What the data lie on.
    Device,
    /// The build of the engine.
    Engine,
    /// Settings of the engine.
    Settings,
    /// mkfs and mount options.
    Options,
    /// The target; its options with it.
    Target,
    /// How much is run: profile, loops, time limit.
    Profile,
    /// The version of mountmark.
    Mountmark,
}

impl Aspect {
    /// Every aspect with its name.
    pub const NAMES: [(&'static str, Aspect); 11] = [
        ("kernel", Aspect::Kernel),
        ("system", Aspect::System),
        ("cpu", Aspect::Cpu),
        ("memory", Aspect::Memory),
        ("device", Aspect::Device),
        ("engine", Aspect::Engine),
        ("settings", Aspect::Settings),
        ("options", Aspect::Options),
        ("target", Aspect::Target),
        ("profile", Aspect::Profile),
        ("mountmark", Aspect::Mountmark),
    ];

    /// Takes this aspect out of a key.
    fn strip(self, key: &mut KeyRecord) {
        match self {
            // A build is "kind version": another kind is not another build.
            Aspect::Engine => {
                let kind = key.engine.split(' ').next().unwrap_or_default();
                key.engine = kind.to_string();
            }
            Aspect::Settings => key.settings.clear(),
            Aspect::Memory => key.memory_bytes = None,
            Aspect::Cpu => key.cpus.clear(),
            Aspect::Target => key.target.clear(),
            // A made target's label is "type_options"; a directory has no such part.
            Aspect::Options => {
                if let (false, Some((fs, _))) =
                    (key.target.starts_with('/'), key.target.split_once('_'))
                {
                    key.target = fs.to_string();
                }
            }
            Aspect::Kernel
            | Aspect::System
            | Aspect::Device
            | Aspect::Profile
            | Aspect::Mountmark => {}
        }
    }

    /// What of a key must be equal when all `axes` may differ.
    pub(super) fn rest(axes: &BTreeSet<Aspect>, key: &KeyRecord) -> KeyRecord {
        let mut rest = key.clone();
        axes.iter().for_each(|axis| axis.strip(&mut rest));
        rest
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Aspect::NAMES.iter().find(|(_, a)| a == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Aspect {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Aspect::NAMES.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, aspect)| *aspect)
            .ok_or_else(|| unknown("axis", text, &Aspect::NAMES.map(|(name, _)| name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(target: &str) -> KeyRecord {
        KeyRecord {
            target: target.into(),
            engine: "sqlite 3.50.2".into(),
            settings: [("synchronous".to_string(), "full".to_string())].into(),
            memory_bytes: Some(1 << 30),
            cpus: "same".into(),
            workload: "create".into(),
            load: None,
            replicate: 0,
        }
    }

    #[test]
    fn names_are_read_back_and_unknown_ones_list_the_others() {
        for (name, aspect) in Aspect::NAMES {
            assert_eq!(name.parse::<Aspect>().unwrap(), aspect);
            assert_eq!(aspect.to_string(), name);
        }
        let message = "moon".parse::<Aspect>().unwrap_err().to_string();
        assert!(message.contains("one of: kernel, system"), "{message}");
    }

    #[test]
    fn an_axis_takes_its_part_out_of_the_key() {
        let rest = |aspect, target| Aspect::rest(&[aspect].into(), &key(target));
        assert_eq!(rest(Aspect::Engine, "xfs_defaults").engine, "sqlite");
        assert_eq!(rest(Aspect::Options, "ext4_data=journal").target, "ext4");
        assert_eq!(rest(Aspect::Options, "/mnt/a_b").target, "/mnt/a_b");
        assert_eq!(rest(Aspect::Target, "/mnt/a_b").target, "");
        assert!(rest(Aspect::Settings, "xfs_defaults").settings.is_empty());
        assert_eq!(rest(Aspect::Kernel, "xfs_defaults"), key("xfs_defaults"));
    }
}
