//! Which case of one side stands against which of the other.

use std::collections::{BTreeMap, BTreeSet};

use super::Aspect;
use crate::record::KeyRecord;

/// The cases of two sides, matched.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Matching {
    /// Key in the base, key on the new side.
    pub pairs: Vec<(KeyRecord, KeyRecord)>,
    /// Without a counterpart on the new side.
    pub only_base: Vec<KeyRecord>,
    /// Without a counterpart in the base.
    pub only_new: Vec<KeyRecord>,
}

/// Parts of the key whose difference is worth a word when nothing else differs: the two
/// are matched all the same, and then not comparable for that reason.
const TOLD: [Aspect; 4] = [
    Aspect::Engine,
    Aspect::Settings,
    Aspect::Memory,
    Aspect::Cpu,
];

/// Matches equal keys; then keys that are equal but for `axes`, where there is one such
/// key on each side, as two could be paired in more than one way.
pub(super) fn matching(
    base: Vec<&KeyRecord>,
    new: Vec<&KeyRecord>,
    axes: &BTreeSet<Aspect>,
) -> Matching {
    let mut left = Left { base, new };
    let mut pairs = left.take(&BTreeSet::new());
    pairs.extend(left.take(axes));
    for told in TOLD {
        let mut axes = axes.clone();
        if axes.insert(told) {
            pairs.extend(left.take(&axes));
        }
    }
    let order = |k: &KeyRecord| (k.engine.clone(), k.workload.clone(), k.clone());
    pairs.sort_by_key(|(base, _)| order(base));
    Matching {
        pairs,
        only_base: left.base.into_iter().cloned().collect(),
        only_new: left.new.into_iter().cloned().collect(),
    }
}

/// The keys that are not matched yet.
struct Left<'k> {
    base: Vec<&'k KeyRecord>,
    new: Vec<&'k KeyRecord>,
}

impl Left<'_> {
    fn take(&mut self, axes: &BTreeSet<Aspect>) -> Vec<(KeyRecord, KeyRecord)> {
        let mut groups: BTreeMap<KeyRecord, (Vec<&KeyRecord>, Vec<&KeyRecord>)> = BTreeMap::new();
        for key in &self.base {
            groups
                .entry(Aspect::rest(axes, key))
                .or_default()
                .0
                .push(key);
        }
        for key in &self.new {
            groups
                .entry(Aspect::rest(axes, key))
                .or_default()
                .1
                .push(key);
        }
        let found: Vec<(KeyRecord, KeyRecord)> = groups
            .into_values()
            .filter_map(|group| match group {
                (base, new) if base.len() == 1 && new.len() == 1 => {
                    Some((base[0].clone(), new[0].clone()))
                }
                _ => None,
            })
            .collect();
        self.base
            .retain(|k| found.iter().all(|(base, _)| *k != base));
        self.new.retain(|k| found.iter().all(|(_, new)| *k != new));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(target: &str, engine: &str) -> KeyRecord {
        KeyRecord {
            target: target.into(),
            engine: engine.into(),
            settings: Default::default(),
            memory_bytes: None,
            cpus: "same".into(),
            workload: "create".into(),
            load: None,
            replicate: 0,
        }
    }

    fn matched(base: &[KeyRecord], new: &[KeyRecord], axes: &[Aspect]) -> (usize, usize, usize) {
        let axes = axes.iter().copied().collect();
        let found = matching(base.iter().collect(), new.iter().collect(), &axes);
        (
            found.pairs.len(),
            found.only_base.len(),
            found.only_new.len(),
        )
    }

    #[test]
    fn equal_keys_come_first_and_an_axis_matches_what_is_left() {
        let base = [key("ext2", "sqlite 1"), key("ext4", "sqlite 1")];
        let new = [key("ext2", "sqlite 1"), key("xfs", "sqlite 1")];
        assert_eq!(matched(&base, &new, &[]), (1, 1, 1));
        assert_eq!(matched(&base, &new, &[Aspect::Target]), (2, 0, 0));
        assert_eq!(matched(&base, &base, &[Aspect::Target]), (2, 0, 0));
    }

    #[test]
    fn what_could_be_paired_in_two_ways_is_not_paired() {
        let base = [key("ext2", "sqlite 1"), key("ext4", "sqlite 1")];
        let new = [key("xfs", "sqlite 1")];
        assert_eq!(matched(&base, &new, &[Aspect::Target]), (0, 2, 1));
    }

    #[test]
    fn another_build_is_matched_to_say_why_it_is_not_compared() {
        let base = [key("ext2", "sqlite 1")];
        assert_eq!(matched(&base, &[key("ext2", "sqlite 2")], &[]), (1, 0, 0));
        assert_eq!(matched(&base, &[key("ext2", "null 2")], &[]), (0, 1, 1));
    }
}
