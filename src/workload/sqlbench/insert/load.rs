//! Loading the table, and inserting what is there already.

use super::{Insert, bench1};
use crate::engine::Meaning;
use crate::error::Result;
use crate::sql::{Arg, Template};

/// The text of the rows that go in ascending, descending and random order.
const TEXTS: [&str; 3] = ["ABCDEFGHIJ", "BCDEFGHIJK", "CDEFGHIJKL"];

impl Insert<'_, '_> {
    pub(super) fn load(&mut self) -> Result<()> {
        self.client
            .drop_leftovers(&["bench1", "bench2", "bench3"])?;
        self.client.create("bench1", &bench1("ix_id3"))?;
        self.client.lock("bench1 WRITE")?;
        if self.batches() {
            self.insert_batched()?;
        } else {
            self.insert_single()?;
        }
        self.vacuum_bench1()?;
        self.insert_duplicates()
    }

    /// Optimizes or vacuums `bench1` between two locks.
    pub(super) fn vacuum_bench1(&mut self) -> Result<()> {
        self.client.unlock()?;
        self.client.vacuum(self.bench, &["bench1"])?;
        self.client.lock("bench1 WRITE")
    }

    /// `insert`: inside the window the INSERT of every row, a statement a row, and with
    /// `--fast` their transaction.
    fn insert_single(&mut self) -> Result<()> {
        let name = if self.client.fast {
            "insert_fast"
        } else {
            "insert"
        };
        let insert = self.client.texts.template(name);
        let mut sql = String::new();
        let mut op = self.bench.start("insert", self.counts.rows())?;
        self.client.begin(&mut op)?;
        for (k, text) in rows(self.counts.loops, &self.keys) {
            insert.fill(&mut sql, &[k.into(), text.into()]);
            op.execute(self.client.session(), &sql)?;
        }
        self.client.commit(&mut op)?;
        op.finish()
    }

    /// `insert` with `--fast` where an INSERT takes many rows: inside the window as few
    /// statements as the longest one allows, and their transaction.
    fn insert_batched(&mut self) -> Result<()> {
        let row = self.client.texts.template("row");
        let mut batch = Batch::new(
            self.client.texts.text("insert_rows"),
            self.client.limits.query_size,
        );
        let mut op = self.bench.start("insert", self.counts.rows())?;
        op.print_count(self.counts.rows());
        self.client.begin(&mut op)?;
        for (k, text) in rows(self.counts.loops, &self.keys) {
            if let Some(full) = batch.add(&row, &[k.into(), text.into()]) {
                op.execute(self.client.session(), full)?;
            }
        }
        if let Some(rest) = batch.rest() {
            op.execute(self.client.session(), rest)?;
        }
        self.client.commit(&mut op)?;
        op.finish()
    }

    /// `insert_duplicates`: inside the window INSERTs that all fail on the primary key,
    /// and with `--fast` their transaction, except where a failure would abort it.
    fn insert_duplicates(&mut self) -> Result<()> {
        let rows = self.counts.rows();
        let insert = self.client.texts.template("insert_duplicate");
        let transaction = !self.client.limits.aborts_transaction_on_error;
        let mut sql = String::new();
        let mut op = self.bench.start("insert_duplicates", self.counts.loops)?;
        if transaction {
            self.client.begin(&mut op)?;
        }
        for i in 0..self.counts.loops {
            let k = self.sequence.step(i, self.counts.loops) % rows;
            insert.fill(&mut sql, &[k.into()]);
            op.must_fail(self.client.session(), &sql, Meaning::Duplicate)?;
        }
        if transaction {
            self.client.commit(&mut op)?;
        }
        op.finish()
    }
}

/// A third of the rows ascending from 0, a third descending from the last, and those
/// between at random.
fn rows(loops: u64, keys: &[u64]) -> impl Iterator<Item = (u64, &'static str)> {
    let ascending = (0..loops).map(|k| (k, TEXTS[0]));
    let descending = (2 * loops..3 * loops).rev().map(|k| (k, TEXTS[1]));
    let random = keys[..loops as usize].iter().map(|k| (*k, TEXTS[2]));
    ascending.chain(descending).chain(random)
}

/// Collects rows into statements that stay shorter than the longest one the server takes.
pub(super) struct Batch {
    head: String,
    longest: usize,
    sql: String,
    row: String,
    /// A full statement while the next one is collected.
    full: String,
}

impl Batch {
    pub fn new(head: &str, query_size: u64) -> Self {
        let longest = query_size as usize;
        Batch {
            head: format!("{head} "),
            longest,
            sql: String::with_capacity(longest.min(1 << 20)),
            row: String::new(),
            full: String::with_capacity(longest.min(1 << 20)),
        }
    }

    /// Adds a row; gives back the statement that had no room for it.
    pub fn add(&mut self, row: &Template, args: &[Arg<'_>]) -> Option<&str> {
        row.fill(&mut self.row, args);
        let full = !self.sql.is_empty() && self.sql.len() + 1 + self.row.len() >= self.longest;
        if full {
            std::mem::swap(&mut self.sql, &mut self.full);
            self.sql.clear();
        }
        if self.sql.is_empty() {
            self.sql.push_str(&self.head);
        } else {
            self.sql.push(',');
        }
        self.sql.push_str(&self.row);
        full.then_some(&self.full)
    }

    /// What has not been sent.
    pub fn rest(&self) -> Option<&str> {
        (!self.sql.is_empty()).then_some(&self.sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_there_once_in_three_orders() {
        let (keys, _) = super::super::random::keys(100);
        let all: Vec<(u64, &str)> = rows(100, &keys).collect();
        assert_eq!(all[0], (0, "ABCDEFGHIJ"));
        assert_eq!(all[100], (299, "BCDEFGHIJK"));
        assert_eq!(all[200], (193, "CDEFGHIJKL"));
        let mut sorted: Vec<u64> = all.iter().map(|(k, _)| *k).collect();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..300));
    }

    #[test]
    fn a_batch_stays_below_the_longest_statement() {
        let row = Template::new("({k})");
        let mut batch = Batch::new("VALUES", 20);
        let mut sent = Vec::new();
        for k in 0..9_u64 {
            sent.extend(batch.add(&row, &[k.into()]).map(str::to_string));
        }
        sent.extend(batch.rest().map(str::to_string));
        assert_eq!(
            sent,
            [
                "VALUES (0),(1),(2)",
                "VALUES (3),(4),(5)",
                "VALUES (6),(7),(8)"
            ]
        );
    }
}
