use super::*;
use crate::record::{EndRecord, EndsRecord, PhaseRecord};

fn key(target: &str, engine: &str, memory: Option<u64>) -> KeyRecord {
    KeyRecord {
        target: target.to_string(),
        engine: engine.to_string(),
        settings: Default::default(),
        memory_bytes: memory,
        cpus: "same".to_string(),
        workload: "insert".to_string(),
        load: None,
        replicate: 0,
    }
}

fn case(key: KeyRecord, round: u32, seconds: f64) -> CaseRecord {
    let phase = PhaseRecord {
        duet: None,
        machine: None,
        sampled: None,
        name: "insert".to_string(),
        completeness: Completeness::Complete,
        ends: Some(EndsRecord {
            returned: EndRecord {
                wall_ns: (seconds * 1e9) as u64,
                device: None,
            },
            flushed: None,
            settled: None,
            dirty_bytes: None,
        }),
        client: None,
        server: None,
        server_memory_bytes: None,
        operations: Vec::new(),
    };
    CaseRecord {
        format: crate::record::FORMAT,
        case: key,
        round,
        started: String::new(),
        outcome: Outcome::Measured,
        target: None,
        engine: None,
        stages: Vec::new(),
        phases: vec![phase],
        load: None,
        durability: None,
        memory: None,
        disturbed: Vec::new(),
        remarks: Vec::new(),
        duet: None,
    }
}

fn results(cases: Vec<CaseRecord>, published: Option<PublishedRecord>) -> Results {
    let mut keys: Vec<KeyRecord> = Vec::new();
    for case in &cases {
        if !keys.contains(&case.case) {
            keys.push(case.case.clone());
        }
    }
    let text = include_str!("../../../bench-results/example/run.json");
    let mut run: crate::record::RunRecord = serde_json::from_str(text).unwrap();
    run.plan.cases = keys;
    run.plan.baseline = None;
    run.published = published;
    Results {
        run,
        cases,
        damage: Vec::new(),
    }
}

const SMALL: Option<u64> = Some(64 << 20);
const LARGE: Option<u64> = Some(2 << 30);

fn study() -> Results {
    let published = PublishedRecord {
        study: "a study".to_string(),
        today: [("xfs_crc=0".to_string(), "xfs_defaults".to_string())].into(),
        ..PublishedRecord::default()
    };
    let cells = [
        ("ext2_defaults", LARGE, 100.0),
        ("ext2_defaults", SMALL, 300.0),
        ("xfs_defaults", LARGE, 150.0),
        ("xfs_defaults", SMALL, 150.0),
        ("jfs_defaults", LARGE, 90.0),
    ];
    let case =
        |(target, memory, s): (&str, _, f64)| case(key(target, "mysql (published)", memory), 0, s);
    results(cells.map(case).to_vec(), Some(published))
}

fn run(rounds: u32) -> Results {
    let cells = [
        ("ext2_defaults", LARGE, 1.0),
        ("ext2_defaults", SMALL, 4.0),
        ("xfs_crc=0", LARGE, 1.4),
        ("xfs_crc=0", SMALL, 2.0),
        ("btrfs_defaults", LARGE, 3.0),
    ];
    let mut cases = Vec::new();
    for round in 0..rounds {
        // What all share of a round falls out of the ratios.
        let slow = 1.0 + 0.1 * f64::from(round % 3);
        for (target, memory, s) in cells {
            cases.push(case(key(target, "mariadb 10.11", memory), round, s * slow));
        }
    }
    results(cases, None)
}

fn ratios(table: &Table) -> Vec<(&str, Option<f64>, Option<f64>, Direction)> {
    let rounded = |r: Option<f64>| r.map(|r| (r * 1000.0).round() / 1000.0);
    let rows = table.rows.iter();
    rows.map(|r| {
        (
            r.target.as_str(),
            rounded(r.ratio),
            rounded(r.ratio_then),
            r.direction,
        )
    })
    .collect()
}

#[test]
fn ratios_stand_beside_those_of_the_same_cells() {
    let beside = beside(&run(5), &study(), None, &Rule::default());
    let shapes: Vec<_> = beside
        .tables
        .iter()
        .map(|t| {
            (
                t.axis.clone(),
                t.context.as_str(),
                t.baseline.as_str(),
                t.value.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        shapes,
        [
            (Axis::Target, "memory 2G", "ext2_defaults", None),
            (Axis::Target, "memory 64M", "ext2_defaults", None),
            (Axis::Memory, "", "2G", Some("64M")),
        ]
    );
    assert_eq!(
        ratios(&beside.tables[0]),
        [
            ("ext2_defaults", None, None, Direction::None),
            ("xfs_crc=0", Some(1.4), Some(1.5), Direction::Same),
        ]
    );
    assert_eq!(
        ratios(&beside.tables[1])[1],
        ("xfs_crc=0", Some(0.5), Some(0.5), Direction::Same)
    );
    assert_eq!(
        ratios(&beside.tables[2]),
        [
            ("ext2_defaults", Some(4.0), Some(3.0), Direction::Same),
            ("xfs_crc=0", Some(1.429), Some(1.0), Direction::OnlyToday),
        ]
    );
    assert_eq!(beside.tables[0].rows[1].target_then, "xfs_defaults");
    assert_eq!(beside.only_then, ["jfs_defaults"]);
    assert_eq!(beside.only_today, ["btrfs_defaults"]);
}

#[test]
fn one_round_has_ratios_and_no_direction() {
    let beside = beside(&run(1), &study(), None, &Rule::default());
    let row = &beside.tables[0].rows[1];
    assert_eq!((row.interval, row.direction), (None, Direction::Open));
    assert!(row.ratio.is_some() && row.then == Some(150.0));
}

#[test]
fn the_baseline_is_one_that_both_have() {
    let beside = beside(&run(3), &study(), Some("btrfs_defaults"), &Rule::default());
    assert_eq!(beside.tables[0].baseline, "ext2_defaults");
    let other = super::beside(&run(3), &study(), Some("xfs_crc=0"), &Rule::default());
    assert_eq!(other.tables[0].baseline, "xfs_crc=0");
    assert_eq!(ratios(&other.tables[0])[1].2, Some(0.667));
}
