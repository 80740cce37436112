//! Outer joins, IN lists against a join, and INSERT … SELECT.

use super::{Insert, bench1, expect_values};
use crate::error::Result;
use crate::sql::{Arg, Table};
use crate::workload::Rows;

impl Insert<'_, '_> {
    pub(super) fn join(&mut self) -> Result<()> {
        self.client.unlock()?;
        self.client.lock("bench1 a READ, bench1 b READ")?;
        self.outer_joins()?;
        self.client.unlock()?;
        self.lists()?;
        self.insert_select()
    }

    /// The four outer joins of the table with itself.
    fn outer_joins(&mut self) -> Result<()> {
        let rows = self.counts.rows() as f64;
        let all = 2.0 * rows - self.distinct_key3() as f64;
        let not_found = all - rows;
        self.outer_join("outer_join_on_key", &[all])?;
        self.outer_join("outer_join", &[all, rows])?;
        self.outer_join("outer_join_found", &[rows, rows])?;
        self.outer_join("outer_join_not_found", &[not_found, 0.0])
    }

    /// One outer join: inside the window, each time, the query, its one row and the
    /// comparison with the values known. Only `outer_join_not_found` obeys the time limit.
    fn outer_join(&mut self, name: &str, values: &[f64]) -> Result<()> {
        let sql = self.client.texts.text(name).to_string();
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        let mut op = self.bench.start(name, self.counts.small)?;
        op.print_rows(self.counts.small);
        for i in 1..=self.counts.small {
            expect_values(&mut op, &mut self.client, &sql, &values)?;
            if name == "outer_join_not_found" && op.over_limit(i) {
                op.print_rows(i);
                break;
            }
        }
        op.finish()
    }

    /// How many values `id3` has after the updates; each row meets one row of the table,
    /// and each row that is met by none stands alone in the join.
    fn distinct_key3(&self) -> usize {
        let loops = self.counts.loops;
        let mut values: Vec<u64> = (0..2 * loops).map(|v| v / 20).collect();
        let (updated, rest) = self.keys[..loops as usize].split_at(loops as usize / 2);
        values.extend(updated.iter().map(|key| (loops + key) / 20));
        values.extend(rest.iter().map(|key| loops + key));
        values.sort_unstable();
        values.dedup();
        values.len()
    }

    /// `select_in` and `select_join_in` with 10, 100 and 1000 values.
    fn lists(&mut self) -> Result<()> {
        let values = Table::new(&["id int NOT NULL"], &["primary key (id)"]);
        self.client.create("bench2", &values)?;
        let insert = self.client.texts.template("insert_list");
        let longest = ((self.limits().query_size - 50) / 6).min(self.counts.loops);
        let mut sql = String::new();
        for (from, to) in [(1, 10), (11, longest.min(100)), (101, longest.min(1000))] {
            if from >= to {
                continue;
            }
            for id in from..=to {
                insert.fill(&mut sql, &[id.into()]);
                self.client.untimed(&sql)?;
            }
            self.client.vacuum(self.bench, &["bench1"])?;
            self.select_in(to)?;
        }
        self.client.drop("bench2")
    }

    /// `select_in`, `select_join_in`: inside each window query and fetch of the same
    /// rows, by a list in the text and by a join with the list as a table.
    fn select_in(&mut self, values: u64) -> Result<()> {
        let list: Vec<String> = (1..=values).map(|v| v.to_string()).collect();
        let list = list.join(",");
        let mut within = String::new();
        let template = self.client.texts.template("select_in");
        template.fill(&mut within, &[Arg::Text(&list)]);
        let join = self.client.texts.text("select_join_in").to_string();
        for (name, sql) in [("select_in", within), ("select_join_in", join)] {
            let mut op = self.bench.start(name, self.counts.ranges)?;
            op.print_rows_received();
            for i in 1..=self.counts.ranges {
                op.fetch(self.client.session(), &sql, Rows::Exactly(values))?;
                if op.over_limit(i) {
                    break;
                }
            }
            op.finish()?;
        }
        Ok(())
    }

    /// `insert_select_1_key`, `insert_select_2_keys`, `drop table`: inside each window
    /// its statements.
    fn insert_select(&mut self) -> Result<()> {
        let two_keys = bench1("index_id3");
        let one_key = Table {
            indexes: two_keys.indexes[..1].to_vec(),
            ..two_keys.clone()
        };
        self.client.create("bench2", &one_key)?;
        self.client.create("bench3", &two_keys)?;
        for name in ["insert_select_1_key", "insert_select_2_keys"] {
            let sql = self.client.texts.text(name).to_string();
            let mut op = self.bench.start(name, 1)?;
            op.execute(self.client.session(), &sql)?;
            op.finish()?;
        }
        let mut op = self.bench.start("drop table", 2)?;
        op.print_count(2);
        for table in ["bench2", "bench3"] {
            op.execute(self.client.session(), &format!("DROP TABLE {table}"))?;
        }
        op.finish()?;
        self.client.vacuum(self.bench, &[])
    }
}
