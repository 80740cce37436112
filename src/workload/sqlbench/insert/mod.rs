//! Phase `insert`: loading one table, then selects, updates, joins and deletes on it, and
//! a second table with many keys.
//!
//! The phase's total starts after the keys have been generated, before the connection is
//! made, and ends after it is closed. The suite builds the text of every statement inside
//! the window, and so does this; where the text is fixed it is built once.

mod counts;
mod delete;
mod group;
mod join;
mod load;
mod lookup;
mod many_keys;
mod select;
mod update;

use counts::Counts;

use super::client::Client;
use super::{Options, random, random::Sequence};
use crate::error::{Result, bail};
use crate::sql::{Limits, Table};
use crate::workload::{Bench, Op};

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let counts = Counts::new(options);
    let (keys, sequence) = random::keys(counts.loops);
    bench.phase_begins();
    let client = Client::connect(bench, "insert", options)?;
    let mut phase = Insert {
        bench,
        client,
        counts,
        keys,
        sequence,
    };
    phase.run()
}

/// What the operations share.
struct Insert<'p, 'a> {
    bench: &'p mut Bench<'a>,
    client: Client,
    counts: Counts,
    /// A permutation of `loops..2 * loops`, and a 0 behind it.
    keys: Vec<u64>,
    /// Goes on through the phase.
    sequence: Sequence,
}

impl Insert<'_, '_> {
    fn run(&mut self) -> Result<()> {
        self.load()?;
        self.select()?;
        self.lookup()?;
        self.group()?;
        self.update()?;
        self.join()?;
        self.delete()?;
        self.many_keys()?;
        self.multiple_values()
    }

    fn limits(&self) -> Limits {
        self.client.limits
    }

    /// True where one INSERT carries as many rows as a statement can.
    fn batches(&self) -> bool {
        self.client.fast && self.limits().insert_multi_value
    }
}

/// `bench1` of the first part.
fn bench1(index: &str) -> Table {
    Table::new(
        &[
            "id int NOT NULL",
            "id2 int NOT NULL",
            "id3 int NOT NULL",
            "dummy1 char(30)",
        ],
        &["primary key (id,id2)", &format!("index {index} (id3)")],
    )
}

/// A number out of the answer to a query, for the checks the suite makes on values.
fn number(rows: &[Vec<Option<String>>], column: usize) -> Option<f64> {
    rows.first()?.get(column)?.as_ref()?.parse().ok()
}

/// Runs a query of one row inside the window and compares its first columns. Not from an
/// engine that pretends.
fn expect_values(
    op: &mut Op<'_, '_>,
    client: &mut Client,
    sql: &str,
    expected: &[Option<f64>],
) -> Result<()> {
    let rows = op.values(client.session(), sql)?;
    if !client.session().answers() {
        return Ok(());
    }
    if rows.len() != 1 {
        bail!("{} rows, expected one, from: {sql}", rows.len());
    }
    for (column, expected) in expected.iter().enumerate() {
        let Some(expected) = *expected else { continue };
        let found = number(&rows, column);
        // Averages come rounded to four decimals; everything else is a whole number.
        if found.is_none_or(|found| (found - expected).abs() > 0.001) {
            bail!(
                "column {} of the answer is {:?}, expected {expected}: {sql}",
                column + 1,
                rows[0].get(column)
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Profile;
    use super::super::tests::{Blind, Liar, lines, on_sqlite, profile, sqlite, table};
    use super::*;
    use crate::engine::connect;

    /// The suite's `--small-test` on a server with multi-row INSERT.
    const SMALL_TEST: &str = "
        insert (3000)
        insert_duplicates (1000)
        prepared_select (1000)
        once_prepared_select (1000)
        select_big (10:30000)
        order_by_big_key (10:30000)
        order_by_big_key_desc (10:30000)
        order_by_big_key_prefix (10:30000)
        order_by_big_key2 (10:30000)
        order_by_big_key_diff (10:30000)
        order_by_big (10:30000)
        order_by_range (10:65)
        order_by_key_prefix (10:65)
        order_by_key2_diff (10:110)
        select_diff_key (10:20)
        select_range_prefix (105:865)
        select_range_key2 (105:864)
        select_key_prefix (20)
        select_key (20)
        select_key_return_key (20)
        select_key2 (20)
        select_key2_return_key (20)
        select_key2_return_prim (20)
        select_range_prefix (400:870)
        select_range_key2 (400:870)
        select_group (111)
        min_max_on_key (300)
        min_max (60)
        count_on_key (100)
        count (100)
        count_distinct_big (20)
        update_of_key (500)
        update_of_key_big (13)
        update_with_key (3000)
        update_with_key_prefix (1000)
        update_big (10)
        outer_join_on_key (10:10)
        outer_join (10:10)
        outer_join_found (10:10)
        outer_join_not_found (10:10)
        select_in (10:100)
        select_join_in (10:100)
        select_in (10:1000)
        select_join_in (10:1000)
        select_in (10:10000)
        select_join_in (10:10000)
        insert_select_1_key (1)
        insert_select_2_keys (1)
        drop table (2)
        delete_key (100)
        delete_range (12)
        insert_key (100)
        update_of_primary_key_many_keys (256)
        delete_big_many_keys (128)
        delete_all_many_keys (1)
        multiple_value_insert (1000)
        drop table (1)
    ";

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("insert", &profile(Profile::SmallTest));
        assert_eq!(lines(&found), table(SMALL_TEST));
        assert_eq!(found.len(), 57);
    }

    #[test]
    fn any_factor_keeps_the_values_right() {
        for loops in [0.001, 0.3, 0.77] {
            on_sqlite(
                "insert",
                &Options {
                    loops,
                    read_key_loops: Some(5),
                    ..profile(Profile::SmallTest)
                },
            );
        }
    }

    /// Runs the phase in a session that tells a wrong answer once.
    fn with_a_lie(at: u64) -> Option<String> {
        let options = Options {
            loops: 0.1,
            ..profile(Profile::SmallTest)
        };
        let dir = tempfile::tempdir().unwrap();
        let address = sqlite(dir.path(), "wal");
        let (mut probe, mut observer) = (Blind, |_| Ok(()));
        let mut bench = Bench::new(&address, &mut probe, &mut observer, options.time_limit());
        let session = Box::new(Liar::new(connect(&address).unwrap(), at));
        let counts = Counts::new(&options);
        let (keys, sequence) = random::keys(counts.loops);
        let mut phase = Insert {
            bench: &mut bench,
            client: Client::new(session, "insert", &options),
            counts,
            keys,
            sequence,
        };
        let error = phase.run().err()?;
        Some(crate::error::one_line(&error))
    }

    #[test]
    fn a_wrong_answer_to_any_query_fails_the_phase() {
        let mut at = 1;
        while let Some(error) = with_a_lie(at) {
            assert!(error.contains("expected"), "{at}: {error}");
            at += 29;
        }
        assert!(at > 1800, "only {at} answers were checked");
    }
}
