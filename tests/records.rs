//! The stored form: what is written is read back, damage is told, old formats load.

use std::fs;
use std::path::Path;

use mountmark::record::*;
use proptest::prelude::*;

fn example() -> Results {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    load(&dir).expect("the example run can be read")
}

#[test]
fn the_example_of_format_1_loads() {
    let results = example();
    assert_eq!(results.damage, Vec::<String>::new());
    assert_eq!(results.run.format, 1);
    assert_eq!(
        results.cases.len(),
        results.run.plan.cases.len() * results.run.plan.rounds as usize
    );
    assert!(results.cases.iter().all(|c| c.outcome == Outcome::Measured));
}

#[test]
fn the_example_names_no_place_of_its_machine() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-results/example");
    for name in ["run.json", "cases.jsonl"] {
        let text = fs::read_to_string(dir.join(name)).expect("a file");
        for place in ["/home", "/root", "/work", "/var/tmp"] {
            assert!(!text.contains(place), "{name} names {place}");
        }
    }
}

#[test]
fn stored_cases_are_read_back_in_order() {
    let example = example();
    let results = tempfile::tempdir().expect("a directory");
    let mut store = Store::create(results.path(), example.run.clone()).expect("a store");
    for case in &example.cases {
        store.append(case).expect("it is saved");
    }
    store
        .update(|run| run.label = Some("again".into()))
        .expect("it is saved");
    let back = load(store.dir()).expect("it is read");
    assert_eq!(back.cases, example.cases);
    assert_eq!(back.run.label.as_deref(), Some("again"));
    assert_eq!(newest(results.path()).expect("a run"), store.dir());
    let again = Store::create(results.path(), example.run).map(drop);
    assert!(again.is_err(), "a stored run is never written over");
}

#[test]
fn a_line_cut_off_by_a_crash_costs_only_itself() {
    let example = example();
    let results = tempfile::tempdir().expect("a directory");
    let mut store = Store::create(results.path(), example.run).expect("a store");
    store.append(&example.cases[0]).expect("it is saved");
    let path = store.dir().join("cases.jsonl");
    let whole = fs::read_to_string(&path).expect("a file");
    fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).expect("written");
    let back = load(store.dir()).expect("it is read");
    assert_eq!(back.cases.len(), 1);
    assert_eq!(back.damage.len(), 1);
    assert!(
        back.damage[0].contains("cases.jsonl:2"),
        "{:?}",
        back.damage
    );
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let mut run = example().run;
    run.format = FORMAT + 1;
    let results = tempfile::tempdir().expect("a directory");
    let store = Store::create(results.path(), run).expect("a store");
    let error = load(store.dir()).expect_err("too new");
    assert!(format!("{error:#}").contains("newer"), "{error:#}");
}

fn key() -> impl Strategy<Value = KeyRecord> {
    (
        "[a-z0-9_=,]{1,20}",
        "[a-z]{3,8} [0-9.]{1,6}",
        proptest::collection::btree_map("[a-z_]{1,12}", "[^\\p{C}]{0,12}", 0..4),
        proptest::option::of(any::<u64>()),
        "[a-z-]{1,12}",
        0u8..2,
    )
        .prop_map(
            |(target, engine, settings, memory_bytes, workload, replicate)| KeyRecord {
                load: None,
                target,
                engine,
                settings,
                memory_bytes,
                cpus: "same".into(),
                workload,
                replicate,
            },
        )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let text = || any::<String>();
    prop_oneof![
        Just(Outcome::Measured),
        (
            text(),
            prop::collection::vec(text(), 0..3),
            prop::collection::vec(text(), 0..3)
        )
            .prop_map(|(stage, causes, log)| Outcome::Failed { stage, causes, log }),
        (text(), text()).prop_map(|(reason, remedy)| Outcome::Skipped { reason, remedy }),
        text().prop_map(|stage| Outcome::Interrupted { stage }),
    ]
}

proptest! {
    #[test]
    fn a_case_survives_its_stored_form(key in key(), outcome in outcome(), round: u32, ns: u64) {
        let mut case = example().cases[0].clone();
        case.case = key;
        case.outcome = outcome;
        case.round = round;
        case.phases[0].operations[0].wall_ns = ns;
        case.durability = Some(DurabilityRecord::NotDurable("nobarrier".into()));
        let line = serde_json::to_string(&case).expect("json");
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<CaseRecord>(&line).expect("json"), case);
    }
}
