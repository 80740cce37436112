//! What the commits of a measured case are worth, from its record and the way its writes
//! take.

use crate::engine::Kind;
use crate::plan::{Counted, Durability, DurabilityFacts, durability};
use crate::record::{CaseRecord, DurabilityRecord};
use crate::target::Layer;

/// Judges `case`, whose data live at the top of `chain`.
pub(super) fn judge(case: &CaseRecord, chain: &[Layer]) -> DurabilityRecord {
    let engine = case.engine.as_ref();
    let kind = engine.and_then(|e| e.kind.parse::<Kind>().ok());
    let judged = durability(&DurabilityFacts {
        chain,
        engine: kind.zip(engine.map(|e| &e.settings)),
        counted: counted(case),
    });
    match judged {
        Durability::HonouredTo(device) => DurabilityRecord::HonouredTo(device),
        Durability::NotDurable(reason) => DurabilityRecord::NotDurable(reason),
        Durability::Unknown(reason) => DurabilityRecord::Unknown(reason),
    }
}

/// Operations that commit at least once each, by how the suite names them.
const COMMITTING: [&str; 6] = [
    "insert",
    "update",
    "delete",
    "create",
    "drop",
    "multi_value",
];

/// Built-in scripts of loads that write in every transaction.
const WRITING: [&str; 9] = [
    "tpcb-like",
    "simple-update",
    "insert",
    "oltp_delete",
    "oltp_insert",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
];

/// Commits at least, and flushes meanwhile.
fn counted(case: &CaseRecord) -> Option<Counted> {
    let mut found = Counted {
        commits: 0,
        flushes: 0,
    };
    for phase in &case.phases {
        found.flushes += phase.ends?.returned.device?.flushes;
        let commits = |name: &str| COMMITTING.iter().any(|verb| name.starts_with(verb));
        let operations = phase.operations.iter();
        found.commits += operations.filter(|o| commits(&o.name)).count() as u64;
    }
    let scripts = case.load.iter().flat_map(|load| &load.by_script);
    let writing = scripts.filter(|(name, _)| WRITING.contains(&name.as_str()));
    found.commits += writing.map(|(_, committed)| committed).sum::<u64>();
    Some(found)
}

/// Whether the case's data end in memory: times are not a disk's.
pub(super) fn in_memory(chain: &[Layer]) -> bool {
    // The case's own file system is no image.
    chain.iter().skip(1).any(|layer| match layer {
        Layer::Memory { .. } => true,
        Layer::FileSystem { fs_type, .. } => {
            ["tmpfs", "ramfs", "devtmpfs"].contains(&fs_type.as_str())
        }
        _ => false,
    })
}
