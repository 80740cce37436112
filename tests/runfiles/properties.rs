//! What is written as RUN files and outputs of phases is read back.

use std::fs;
use std::path::Path;

use mountmark::import::{Options, import};
use mountmark::record::*;
use mountmark::report::sqlbench::run_files;
use proptest::prelude::*;

fn example() -> Results {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    load(&dir).expect("the example run can be read")
}

fn operation() -> impl Strategy<Value = OperationRecord> {
    (
        "[a-z][a-z_+A-Z0-9]{0,30}",
        0u64..1_000_000,
        proptest::option::of(0u64..10_000_000),
        0u64..10_000_000_000,
        0u64..100_000,
        0u64..100_000,
    )
        .prop_map(
            |(name, count, rows, wall_us, user, system)| OperationRecord {
                bytes: None,
                refused: None,
                slices: Vec::new(),
                name,
                completeness: Completeness::Complete,
                count,
                planned: count,
                rows,
                statements: None,
                rows_received: None,
                flags: String::new(),
                wall_ns: wall_us * 1_000,
                client: CpuRecord {
                    user_ns: user * 10_000_000,
                    system_ns: system * 10_000_000,
                },
                server: None,
                device: None,
                latency: None,
            },
        )
}

/// A measured run of two phases on a target of that name.
fn run_of(target: &str, operations: [Vec<OperationRecord>; 2]) -> Results {
    let mut results = example();
    let case = results.cases[0].clone();
    results.cases = ["connect", "select"]
        .into_iter()
        .zip(operations)
        .map(|(name, operations)| {
            let mut case = case.clone();
            case.case.target = target.to_string();
            case.case.workload = name.to_string();
            let phase = &mut case.phases[0];
            phase.name = name.to_string();
            phase.operations = operations;
            case
        })
        .collect();
    results.run.plan.cases = results.cases.iter().map(|c| c.case.clone()).collect();
    results
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        first in prop::collection::vec(operation(), 0..6),
        second in prop::collection::vec(operation(), 0..6),
        target in "/?[a-z0-9][a-z0-9_=,./^]{0,20}",
        compat: bool,
    ) {
        let results = run_of(&target, [first, second]);
        let dir = tempfile::tempdir().expect("a directory");
        let files = run_files(&results, compat);
        prop_assert_eq!(files.len(), 1);
        let mut paths = Vec::new();
        let mut write = |kind: &str, text: Vec<u8>| {
            let path = dir.path().join(format!("{kind}-{}", files[0].tag));
            fs::write(&path, text).expect("written");
            paths.push(path);
        };
        let mut text = Vec::new();
        files[0].write(&mut text).expect("memory");
        write("RUN", text);
        for phase in files[0].phases() {
            let mut text = Vec::new();
            files[0].write_phase(&mut text, phase).expect("memory");
            write(phase, text);
        }
        let imported = import(&paths, &Options::default()).expect("readable");
        prop_assert_eq!(imported.faults, []);
        prop_assert_eq!(imported.cases.len(), 2);
        for (found, case) in imported.cases.iter().zip(&results.cases) {
            prop_assert_eq!(&found.case.target, &target);
            prop_assert_eq!(&found.phases[0].operations, &case.phases[0].operations);
        }
        // The summary alone: the same sums.
        let alone = import(&paths[..1], &Options::default()).expect("readable");
        prop_assert_eq!(alone.faults, []);
        let count = |cases: &[CaseRecord]| -> u64 {
            let phases = cases.iter().flat_map(|c| &c.phases);
            phases.flat_map(|p| &p.operations).map(|o| o.count).sum()
        };
        prop_assert_eq!(count(&alone.cases), count(&results.cases));
    }
}
