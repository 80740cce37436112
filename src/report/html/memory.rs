//! What less memory costs: the figure at the smallest size by that at the largest.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};

use super::bars::{Bar, Bars, table};
use super::run::{Member, Run, groups};
use crate::compare::{Better, Marks};
use crate::record::KeyRecord;
use crate::units::{Bytes, seconds};

/// A case in all its sizes of memory; without a limit is the largest.
struct Sizes<'r> {
    first: &'r Member<'r>,
    values: BTreeMap<u64, Option<f64>>,
    marks: String,
}

pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let groups = groups(run, |_| true);
    // By workload; in each by everything but the memory.
    let mut order: Vec<(String, Vec<Sizes<'_>>)> = Vec::new();
    let mut known: HashMap<KeyRecord, (usize, usize)> = HashMap::new();
    let members = groups.iter().flat_map(|group| &group.members);
    for member in members {
        let figure = run.choice.figure.for_key(member.key);
        let value = member.median(|case| figure.of(case));
        let bytes = member.key.memory_bytes.unwrap_or(u64::MAX);
        let mut rest = member.key.clone();
        rest.memory_bytes = None;
        let (group, at) = *known.entry(rest).or_insert_with(|| {
            let title = title(member.key, &figure.metric().better);
            let group = order
                .iter()
                .position(|(t, _)| *t == title)
                .unwrap_or_else(|| {
                    order.push((title, Vec::new()));
                    order.len() - 1
                });
            order[group].1.push(Sizes {
                first: member,
                values: BTreeMap::new(),
                marks: String::new(),
            });
            (group, order[group].1.len() - 1)
        });
        let sizes = &mut order[group].1[at];
        sizes.values.insert(bytes, value);
        sizes.marks = Marks::to_string(&member.marks);
    }
    let bars: Vec<Bars> = order
        .iter()
        .map(|(title, all)| Bars {
            title: title.clone(),
            bars: all.iter().filter(|s| s.values.len() > 1).map(bar).collect(),
        })
        .filter(|bars| !bars.bars.is_empty())
        .collect();
    (!bars.is_empty()).then(|| {
        html! {
            p { "The figure with the least memory by that with the most: 1 means that memory makes no difference. Of seconds more than 1 is slower with less memory; of transactions/s less than 1 is." }
            (table("least memory / most memory", &["ratio", "by size of memory"], &bars, run.budget))
        }
    })
}

fn title(key: &KeyRecord, better: &Better) -> String {
    let unit = match better {
        Better::Less => "s",
        Better::More => "transactions/s",
    };
    format!("{}, {}, {unit}", key.workload, key.engine)
}

fn bar(sizes: &Sizes<'_>) -> Bar {
    let of = |entry: Option<(&u64, &Option<f64>)>| entry.and_then(|(_, value)| *value);
    let least = of(sizes.values.first_key_value());
    let most = of(sizes.values.last_key_value());
    let ratio = least.zip(most).map(|(least, most)| least / most);
    let by_size = sizes.values.iter().map(|(bytes, value)| {
        let size = match *bytes {
            u64::MAX => "no limit".to_string(),
            bytes => Bytes(bytes).to_string(),
        };
        format!("{size}: {}", value.map_or("–".to_string(), seconds))
    });
    Bar {
        name: format!("{}{}", sizes.first.name, sizes.marks),
        color: sizes.first.color,
        value: ratio,
        cells: vec![
            ratio.map_or("–".to_string(), |r| format!("{r:.2}")),
            by_size.collect::<Vec<_>>().join(", "),
        ],
        ..Bar::default()
    }
}
