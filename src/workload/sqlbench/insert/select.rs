//! Selects of the whole table, of ranges, and prepared ones.

use super::Insert;
use crate::engine::Param;
use crate::error::Result;
use crate::workload::Rows;

/// Operations on the whole table; each is called as its text.
const WHOLE: [&str; 7] = [
    "select_big",
    "order_by_big_key",
    "order_by_big_key_desc",
    "order_by_big_key_prefix",
    "order_by_big_key2",
    "order_by_big_key_diff",
    "order_by_big",
];

impl Insert<'_, '_> {
    pub(super) fn select(&mut self) -> Result<()> {
        self.prepared_select()?;
        self.once_prepared_select()?;
        WHOLE.iter().try_for_each(|name| self.whole_table(name))?;
        self.range("order_by_range", true)?;
        self.range("order_by_key_prefix", true)?;
        self.range("order_by_key2_diff", false)?;
        self.select_diff_key()
    }

    /// `prepared_select`: inside the window, for each key, prepare with the key in the
    /// text, execute, fetch and finish, as one statement.
    fn prepared_select(&mut self) -> Result<()> {
        let select = self.client.texts.template("prepared_select");
        let mut sql = String::new();
        let mut op = self.bench.start("prepared_select", self.counts.loops)?;
        for key in &self.keys[1..] {
            select.fill(&mut sql, &[(*key).into()]);
            op.prepare_and_fetch(self.client.session(), &sql, Rows::Exactly(1))?;
        }
        op.finish()
    }

    /// `once_prepared_select`: inside the window one prepare, and execute and fetch for
    /// each key bound.
    fn once_prepared_select(&mut self) -> Result<()> {
        let sql = self.client.texts.text("once_prepared_select").to_string();
        let mut op = self
            .bench
            .start("once_prepared_select", self.counts.loops)?;
        let statement = op.uncounted(&sql, || self.client.session().prepare(&sql))?;
        for key in &self.keys[1..] {
            let key = [Param::Int(*key as i64)];
            let of = (statement, sql.as_str());
            op.fetch_prepared(self.client.session(), of, &key, Rows::Exactly(1))?;
        }
        op.uncounted(&sql, || self.client.session().finish(statement))?;
        op.finish()
    }

    /// `select_big` and the `order_by_big` ones: inside the window, each time, the query
    /// and the fetch of all rows. All but `select_big` obey the time limit.
    fn whole_table(&mut self, name: &str) -> Result<()> {
        let sql = self.client.texts.text(name).to_string();
        let rows = Rows::Exactly(self.counts.rows());
        let mut op = self.bench.start(name, self.counts.small)?;
        op.print_rows_received();
        for i in 1..=self.counts.small {
            op.fetch(self.client.session(), &sql, rows)?;
            if name != "select_big" && op.over_limit(i) {
                break;
            }
        }
        op.finish()
    }

    /// `order_by_range`, `order_by_key_prefix` (ranges that grow by a row each) and
    /// `order_by_key2_diff` (all of one size): inside the window query and fetch of each.
    fn range(&mut self, name: &str, grows: bool) -> Result<()> {
        let select = self.client.texts.template(name);
        let ranges = self.counts.ranges;
        let step = self.counts.loops / ranges;
        let mut sql = String::new();
        let mut op = self.bench.start(name, ranges)?;
        op.print_rows_received();
        for i in 1..=ranges {
            let start = step * i;
            let length = if grows { i } else { ranges };
            select.fill(&mut sql, &[start.into(), (start + length).into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(length + 1))?;
            if op.over_limit(i) {
                break;
            }
        }
        op.finish()
    }

    /// `select_diff_key`: inside the window queries on one key or another, two rows each.
    fn select_diff_key(&mut self) -> Result<()> {
        let select = self.client.texts.template("select_diff_key");
        let mut sql = String::new();
        let mut op = self.bench.start("select_diff_key", self.counts.ranges)?;
        op.print_rows_received();
        for i in 1..=self.counts.ranges {
            select.fill(&mut sql, &[i.into(), self.keys[i as usize].into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(2))?;
            if op.over_limit(i) {
                break;
            }
        }
        op.finish()
    }
}
