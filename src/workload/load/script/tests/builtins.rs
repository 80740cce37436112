//! The scripts that need no file.

use std::sync::Arc;

use super::super::{BUILTINS, Builtin, Keys, Machine, Mix, ParamStyle, Schema, Values};
use super::{setup, transaction};
use crate::sql::Dialect;

fn machine(builtin: &Builtin, values: Values, tables: u32) -> Machine {
    let mix = Mix::of(builtin.program(values, tables, &Keys::default()).unwrap()).unwrap();
    let mut setup = setup(&[]);
    setup.defines = builtin
        .defaults()
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    setup.defines[..]
        .iter_mut()
        .filter(|(name, _)| name == "tables")
        .for_each(|(_, value)| *value = tables.to_string());
    mix.check(values, &setup.defines)
        .unwrap_or_else(|error| panic!("{error}"));
    Machine::new(&setup, Arc::new(mix))
}

#[test]
fn all_run_in_both_ways() {
    for builtin in BUILTINS {
        for (values, tables) in [
            (Values::InText, 1),
            (Values::InText, 3),
            (Values::AsParams, 1),
            (Values::AsParams, 3),
        ] {
            let mut machine = machine(builtin, values, tables);
            let sent = transaction(&mut machine).unwrap();
            let left = sent.iter().find(|text| text.contains(':'));
            assert_eq!(left, None, "{}", builtin.name);
        }
    }
}

/// One statement text for each table, and the same amount of statements whatever the
/// number of tables.
#[test]
fn tables_are_spread_over() {
    for values in [Values::InText, Values::AsParams] {
        let builtin = Builtin::named("oltp_read_write").unwrap();
        let mut machine = machine(builtin, values, 4);
        let mut seen = [0; 5];
        for _ in 0..200 {
            let sent = transaction(&mut machine).unwrap();
            assert_eq!(sent.len(), 20);
            for text in sent {
                if let Some(at) = text.find("sbtest") {
                    seen[text[at + 6..at + 7].parse::<usize>().unwrap()] += 1;
                }
            }
        }
        assert!(seen[1..].iter().all(|n| *n > 700), "{seen:?}");
    }
}

#[test]
fn sysbench_texts_are_prepared_as_sysbench_does() {
    let builtin = Builtin::named("oltp_write_only").unwrap();
    let program = builtin
        .program(Values::AsParams, 1, &Keys::default())
        .unwrap();
    let texts: Vec<String> = program
        .statements()
        .iter()
        .map(|s| s.prepared_text(ParamStyle::Question))
        .collect();
    assert_eq!(
        texts,
        [
            "BEGIN;",
            "UPDATE sbtest1 SET k=k+1 WHERE id=?;",
            "UPDATE sbtest1 SET c=? WHERE id=?;",
            "DELETE FROM sbtest1 WHERE id=?;",
            "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?);",
            "COMMIT;"
        ]
    );
}

#[test]
fn names_can_be_shortened() {
    assert_eq!(Builtin::named("tpcb").unwrap().name, "tpcb-like");
    assert_eq!(Builtin::named("se").unwrap().name, "select-only");
    assert_eq!(
        Builtin::named("s").unwrap_err().to_string(),
        "s: more than one script begins so: simple-update, select-only"
    );
    assert!(Builtin::named("").is_err());
    assert!(Builtin::named("tpcc").is_err());
}

#[test]
fn schemas_have_their_tables() {
    let texts = Schema::Sysbench.statements(Dialect::Postgres, 2);
    assert_eq!(texts.len(), 4);
    assert!(texts[1].starts_with("CREATE TABLE sbtest2 (id SERIAL NOT NULL"));
    assert_eq!(texts[3], "CREATE INDEX k_2 ON sbtest2 (k)");
    assert_eq!(Schema::Pgbench.statements(Dialect::Sqlite, 1).len(), 4);
    assert_eq!(Schema::Tuples.statements(Dialect::Mysql, 1).len(), 1);
}
