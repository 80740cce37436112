//! What a commit is worth, judged from facts alone: the way a write takes down to the
//! device, the settings in effect, and the flushes that were counted.
//!
//! The rule is strict on one side only: what is called durable here could not be seen to
//! be otherwise, down to the last device that can be seen. What that device does with a
//! flush nobody can see.

use std::fmt;

use crate::engine::{Kind, Settings};
use crate::target::Layer;

mod settings;

/// What is known of a case.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The way from the data's file system down.
    pub chain: &'a [Layer],
    /// The engine and its settings in effect; `None` for a workload without one.
    pub engine: Option<(Kind, &'a Settings)>,
    /// Transactions that were certainly committed, and the flushes that the device
    /// counted meanwhile; `None` where either is not known.
    pub counted: Option<Counted>,
}

/// What was counted from outside while a case ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Commits, at least.
    pub commits: u64,
    /// Flushes of the device that holds the data.
    pub flushes: u64,
}

/// What a commit that was acknowledged is worth when the power fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Flushes are sent, and reach this device.
    HonouredTo(String),
    /// It can be lost, and why.
    NotDurable(String),
    /// It cannot be told, and why.
    Unknown(String),
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Durability::HonouredTo(device) => write!(f, "flushes reach {device}"),
            Durability::NotDurable(reason) => write!(f, "not durable: {reason}"),
            Durability::Unknown(reason) => write!(f, "durability unknown: {reason}"),
        }
    }
}

/// A finding against durability.
enum Against {
    Lost(String),
    Unseen(String),
}

/// The judgement. What is surely lost outweighs what cannot be seen.
pub fn durability(facts: &Facts<'_>) -> Durability {
    let mut found = of_chain(facts.chain);
    if let Some((kind, settings)) = facts.engine {
        found.extend(settings::of_engine(kind, settings));
    }
    found.extend(of_counts(facts));
    let mut unseen = None;
    for finding in found {
        match finding {
            Against::Lost(reason) => return Durability::NotDurable(reason),
            Against::Unseen(what) => unseen = unseen.or(Some(what)),
        }
    }
    if let Some(what) = unseen {
        return Durability::Unknown(what);
    }
    Durability::HonouredTo(devices(facts.chain))
}

/// The last devices, as people name them.
fn devices(chain: &[Layer]) -> String {
    let named = chain.iter().filter_map(|layer| match layer {
        Layer::Disk { name, .. } => Some(format!("/dev/{name}")),
        _ => None,
    });
    named.collect::<Vec<_>>().join(", ")
}

fn of_chain(chain: &[Layer]) -> Vec<Against> {
    if chain.is_empty() {
        return vec![Against::Unseen("no device can be seen".to_string())];
    }
    let below = |n: usize| &chain[n + 1..];
    let each = chain.iter().enumerate().flat_map(|(n, layer)| match layer {
        Layer::FileSystem {
            fs_type, options, ..
        } => of_filesystem(n, fs_type, options, below(n)),
        Layer::Loop {
            name,
            write_back: false,
        } => vec![Against::Lost(format!(
            "{name} hides that its image has a cache: flushes end there"
        ))],
        Layer::Memory { name } => vec![Against::Lost(format!("{name} is memory"))],
        Layer::Unseen(what) => vec![Against::Unseen(format!("{what} cannot be seen"))],
        Layer::Loop { .. } | Layer::Stacked { .. } | Layer::Disk { .. } => Vec::new(),
    });
    each.collect()
}

/// Which kinds never send a flush, whatever they are asked.
const NEVER_FLUSH: [&str; 1] = ["jfs"];

fn of_filesystem(depth: usize, fs_type: &str, options: &[String], below: &[Layer]) -> Vec<Against> {
    // The outermost is the case's own, the others hold an image.
    let whose = match depth {
        0 => String::new(),
        _ => " (it holds the image)".to_string(),
    };
    let has = |option: &str| options.iter().any(|o| o == option);
    let mut found = Vec::new();
    if ["tmpfs", "ramfs", "devtmpfs"].contains(&fs_type) {
        return vec![Against::Lost(format!("{fs_type} is memory{whose}"))];
    }
    if fs_type == "overlay" && (has("volatile") || has("fsync=volatile")) {
        found.push(Against::Lost(format!("overlay with volatile{whose}")));
    }
    // Without a volatile cache below, there is nothing to flush.
    if cached(below) {
        if NEVER_FLUSH.contains(&fs_type) {
            found.push(Against::Lost(format!("{fs_type} never flushes{whose}")));
        }
        let without = ["nobarrier", "barrier=0", "barrier=none"];
        if let Some(option) = without.into_iter().find(|o| has(o)) {
            found.push(Against::Lost(format!("{fs_type} with {option}{whose}")));
        }
    }
    found
}

/// Whether the device right below, or any of those it hands to, has a volatile cache.
fn cached(below: &[Layer]) -> bool {
    below
        .iter()
        .take_while(|layer| !matches!(layer, Layer::FileSystem { .. }))
        .any(|layer| match layer {
            Layer::Loop { write_back, .. } | Layer::Disk { write_back, .. } => *write_back,
            _ => true,
        })
}

/// Commits without a single flush, on a device that has a cache to flush.
fn of_counts(facts: &Facts<'_>) -> Option<Against> {
    let counted = facts.counted?;
    let below = facts.chain.get(1..)?;
    (counted.commits > 0 && counted.flushes == 0 && !below.is_empty() && cached(below)).then(|| {
        Against::Lost(format!(
            "{} commits and not one flush of the device",
            counted.commits
        ))
    })
}

#[cfg(test)]
mod tests;
