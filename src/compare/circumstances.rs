//! The circumstances of a measurement as plain facts, and in which of them two sides
//! differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Aspect;
use crate::record::{CaseRecord, DurabilityRecord, RunRecord, TargetRecord};
use crate::units::Bytes;
use crate::workload::load::script::Keys;

/// The name of a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// The aspect it belongs to.
    pub aspect: Aspect,
    /// What it is: `kernel`, `setting synchronous`.
    pub name: String,
}

/// What is said of a fact that a side does not have.
const ABSENT: &str = "absent";

/// Whether files were in the cache at the start: nothing allows this to differ.
const START: &str = "start";

/// A fact in which two sides differ, or in which the runs of one side do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Which.
    pub fact: Fact,
    /// Its values in the base; more than one where its runs are not alike.
    pub base: BTreeSet<String>,
    /// Its values in the new side.
    pub new: BTreeSet<String>,
    /// The difference is what is being compared.
    pub compared: bool,
}

impl Difference {
    /// The values of a side in words.
    pub fn words(values: &BTreeSet<String>) -> String {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        values.join(" and ")
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.fact.name;
        let (base, new) = (Self::words(&self.base), Self::words(&self.new));
        match (self.base.len() > 1, self.new.len() > 1) {
            (true, _) => write!(f, "{name}: the base's own runs differ, {base}"),
            (_, true) => write!(f, "{name}: the new side's own runs differ, {new}"),
            _ => write!(f, "{name}: {base} against {new}"),
        }
    }
}

/// The facts of one side: each with all its values.
#[derive(Clone, Debug, Default)]
pub(super) struct Circumstances(BTreeMap<Fact, BTreeSet<String>>);

impl Circumstances {
    /// Adds those of a measured case.
    pub fn add(&mut self, run: &RunRecord, case: &CaseRecord) {
        let mut facts = Facts(Vec::new());
        facts.of_host(run);
        facts.of_plan(run);
        facts.of_case(case);
        facts.of_load(run, case);
        for (aspect, name, value) in facts.0 {
            self.0
                .entry(Fact { aspect, name })
                .or_default()
                .insert(value);
        }
    }

    /// Where `self` and `new` are not alike; `axes` may differ.
    pub fn differences(&self, new: &Circumstances, axes: &BTreeSet<Aspect>) -> Vec<Difference> {
        let facts: BTreeSet<&Fact> = self.0.keys().chain(new.0.keys()).collect();
        let absent = BTreeSet::from([ABSENT.to_string()]);
        let of = |side: &Circumstances, fact| side.0.get(fact).unwrap_or(&absent).clone();
        facts
            .into_iter()
            .map(|fact| (fact, of(self, fact), of(new, fact)))
            .filter(|(_, base, new)| base != new || base.len() > 1)
            .map(|(fact, base, new)| Difference {
                compared: base.len() == 1
                    && new.len() == 1
                    && may_differ(fact, base == absent || new == absent, axes),
                fact: fact.clone(),
                base,
                new,
            })
            .collect()
    }
}

/// Whether what is compared explains a difference in `fact`.
fn may_differ(fact: &Fact, absent: bool, axes: &BTreeSet<Aspect>) -> bool {
    let has = |aspect| axes.contains(&aspect);
    match fact.aspect {
        _ if fact.name == START => false,
        // Another file system has other options by nature.
        Aspect::Options => has(Aspect::Options) || has(Aspect::Target),
        // Another build may know a setting that this one does not.
        Aspect::Settings => has(Aspect::Settings) || (absent && has(Aspect::Engine)),
        // The label of a target names its options.
        Aspect::Target => has(Aspect::Target) || (has(Aspect::Options) && fact.name == "target"),
        other => has(other),
    }
}

/// Aspect, name and value.
struct Facts(Vec<(Aspect, String, String)>);

impl Facts {
    fn add(&mut self, aspect: Aspect, name: &str, value: impl ToString) {
        self.0.push((aspect, name.to_string(), value.to_string()));
    }

    fn of_host(&mut self, run: &RunRecord) {
        let host = &run.host;
        self.add(Aspect::Kernel, "kernel", &host.kernel);
        self.add(Aspect::Kernel, "kernel build", &host.kernel_build);
        self.add(Aspect::Kernel, "clock source", &host.clocksource);
        self.add(Aspect::System, "system", &host.system);
        self.add(Aspect::Cpu, "cpu", &host.cpu);
        self.add(Aspect::Cpu, "architecture", &host.architecture);
        self.add(Aspect::Cpu, "cpus", host.cpus);
        self.add(Aspect::Cpu, "virtual machine", host.virtual_machine);
        if let Some(governor) = &host.governor {
            self.add(Aspect::Cpu, "governor", governor);
        }
        // A kernel keeps a little more or less of it at each boot.
        let memory = Bytes(host.memory_bytes).human();
        self.add(Aspect::Memory, "memory", memory);
        self.add(Aspect::Memory, "swap", Bytes(host.swap_bytes).human());
        self.add(Aspect::Mountmark, "mountmark", &run.mountmark);
    }

    fn of_plan(&mut self, run: &RunRecord) {
        let plan = &run.plan;
        let count = |n: Option<u64>| n.map_or("the profile's".to_string(), |n| n.to_string());
        self.add(Aspect::Profile, "profile", &plan.profile);
        self.add(Aspect::Profile, "loops", plan.loops);
        self.add(Aspect::Profile, "fast", plan.fast);
        self.add(Aspect::Profile, "time limit, s", plan.time_limit_s);
        let atis = plan.atis_data.as_ref().map_or("generated", |_| "original");
        self.add(Aspect::Profile, "tables of ATIS", atis);
        let loops = [
            ("read key loops", plan.read_key_loops),
            ("many keys loops", plan.many_keys_loops),
        ];
        for (name, value) in loops {
            self.add(Aspect::Profile, name, count(value));
        }
    }

    /// What a load was to be; two that were not the same are no comparison.
    fn of_load(&mut self, run: &RunRecord, case: &CaseRecord) {
        let (Some(load), Some(_)) = (&run.plan.load, case.case.load) else {
            return;
        };
        let scripts: Vec<String> = load
            .scripts
            .iter()
            .map(|(name, weight)| format!("{name}@{weight}"))
            .collect();
        let amount = |what: &str, n: Option<String>| n.map(|n| format!("{n} {what}"));
        let amounts = [
            amount("a client", load.transactions.map(|n| n.to_string())),
            amount("in all", load.tuples.map(|n| n.to_string())),
            amount("s", load.seconds.map(|n| n.to_string())),
        ];
        let amounts: Vec<String> = amounts.into_iter().flatten().collect();
        let or_none = |value: Option<f64>| value.map_or("none".to_string(), |v| v.to_string());
        for (name, value) in [
            ("scripts", scripts.join(" ")),
            ("protocol", load.mode.clone()),
            ("rows preloaded", load.preload.to_string()),
            ("scale", load.scale.to_string()),
            ("amount", amounts.join(", ")),
            ("warm-up, s", load.warmup_s.to_string()),
            ("rate", or_none(load.rate)),
            ("latency limit, ms", or_none(load.limit_ms)),
            ("connection a transaction", load.reconnect.to_string()),
            ("threads", load.threads.to_string()),
            ("keys", load.keys.unwrap_or(Keys::Uniform).to_string()),
        ] {
            self.add(Aspect::Profile, name, value);
        }
    }

    fn of_case(&mut self, case: &CaseRecord) {
        let key = &case.case;
        self.add(Aspect::Target, "target", &key.target);
        let way = case.duet.as_ref().map_or("alone".to_string(), |duet| {
            format!("in duets of {} ms", duet.slice_ns as f64 / 1e6)
        });
        self.add(Aspect::Profile, "measured", way);
        self.add(Aspect::Engine, "engine", &key.engine);
        self.add(Aspect::Cpu, "cpu placement", &key.cpus);
        let limit = key
            .memory_bytes
            .map_or("none".to_string(), |b| Bytes(b).to_string());
        self.add(Aspect::Memory, "memory limit", limit);
        if let Some(memory) = &case.memory {
            // The two versions of control groups do not limit alike.
            self.add(Aspect::Memory, "memory limited by", &memory.method);
            self.add(Aspect::Memory, "dirty data", &memory.dirty);
        }
        let mut settings = key.settings.clone();
        if let Some(engine) = &case.engine {
            // What the engine says of itself stands above what was asked for.
            settings.extend(engine.settings.clone());
        }
        for (name, value) in settings {
            self.add(Aspect::Settings, &format!("setting {name}"), value);
        }
        if let Some(durability) = &case.durability {
            self.add(
                Aspect::Settings,
                "durability",
                match durability {
                    DurabilityRecord::HonouredTo(_) => "honoured",
                    DurabilityRecord::NotDurable(_) => "not durable",
                    DurabilityRecord::Unknown(_) => "unknown",
                },
            );
        }
        if let Some(target) = &case.target {
            self.of_target(target);
        }
    }

    fn of_target(&mut self, target: &TargetRecord) {
        self.add(Aspect::Target, "file system", &target.filesystem);
        let start = if target.cold { "cold" } else { "warm" };
        self.add(Aspect::Target, START, start);
        for option in &target.options_effective {
            let (name, value) = option.split_once('=').unwrap_or((option, "on"));
            self.add(Aspect::Options, &format!("mount option {name}"), value);
        }
        if let Some(mkfs) = &target.mkfs {
            // The device's own name is not a choice.
            let words: Vec<&str> = mkfs
                .split(' ')
                .filter(|w| !w.starts_with("/dev/"))
                .collect();
            self.add(Aspect::Options, "mkfs", words.join(" "));
        }
        let Some(device) = &target.device else {
            return self.add(Aspect::Device, "device", "none");
        };
        let kind = match (&device.image, device.in_memory) {
            (Some(_), true) => "image in memory",
            (Some(_), false) => "image on a disk",
            (None, _) => "a device of its own",
        };
        self.add(Aspect::Device, "device", kind);
        self.add(Aspect::Device, "device size", Bytes(device.size_bytes));
        self.add(Aspect::Device, "direct I/O", device.direct_io);
        self.add(Aspect::Device, "block size", device.logical_block_bytes);
        self.add(Aspect::Device, "write cache", &device.write_cache);
        if let Some(holder) = &device.holder {
            let kind = holder.split(' ').next().unwrap_or_default();
            self.add(Aspect::Device, "image held by", kind);
        }
    }
}
