//! Updates, each statement a transaction of its own.

use super::{Insert, expect_values};
use crate::error::Result;

impl Insert<'_, '_> {
    pub(super) fn update(&mut self) -> Result<()> {
        self.update_of_key()?;
        self.vacuum_bench1()?;
        self.update_of_key_big()?;
        self.vacuum_bench1()?;
        self.update_with_key()?;
        self.update_with_key_prefix()?;
        self.update_big()
    }

    /// `update_of_key`: inside the window UPDATEs that make half of the highest third of
    /// the keys negative, one row each.
    fn update_of_key(&mut self) -> Result<()> {
        let update = self.client.texts.template("update_of_key");
        let half = self.counts.loops / 2;
        let mut sql = String::new();
        let mut op = self.bench.start("update_of_key", half)?;
        for key in &self.keys[..half as usize] {
            update.fill(&mut sql, &[(self.counts.loops + key).into()]);
            op.execute(self.client.session(), &sql)?;
        }
        op.finish()
    }

    /// `update_of_key_big`: inside the window UPDATEs of ranges from zero until the lower
    /// two thirds of the keys are negative, the suite's check of that, and the division
    /// of all negative keys. The suite counts neither the check nor, among the last
    /// three UPDATEs, anything else than them.
    fn update_of_key_big(&mut self) -> Result<()> {
        let loops = self.counts.loops;
        let texts = &self.client.texts;
        let from_zero = texts.template("negate_from_zero");
        let below = texts.template("negate_below");
        let range = texts.template("negate_range");
        let check = texts.text("count_positive").to_string();
        let divide = texts.text("divide_negative").to_string();
        let step = loops / self.counts.ranges + 1;
        let planned = loops.div_ceil(step) + 3;
        let mut sql = String::new();
        let mut op = self.bench.start("update_of_key_big", planned)?;
        op.print_count(planned);
        for i in (0..loops).step_by(step as usize) {
            from_zero.fill(&mut sql, &[i.into()]);
            op.execute(self.client.session(), &sql)?;
        }
        below.fill(&mut sql, &[loops.into()]);
        op.execute(self.client.session(), &sql)?;
        range.fill(&mut sql, &[loops.into(), (2 * loops).into()]);
        op.execute(self.client.session(), &sql)?;
        let left = (1 + loops - loops / 2) as f64;
        expect_values(&mut op, &mut self.client, &check, &[Some(left)])?;
        op.execute(self.client.session(), &divide)?;
        op.finish()
    }

    /// `update_with_key`: inside the window an UPDATE of each row by its whole key.
    fn update_with_key(&mut self) -> Result<()> {
        let update = self.client.texts.template("update_with_key");
        let mut sql = String::new();
        let mut op = self.bench.start("update_with_key", self.counts.rows())?;
        for i in 0..self.counts.rows() {
            update.fill(&mut sql, &[i.into()]);
            op.execute(self.client.session(), &sql)?;
        }
        op.finish()
    }

    /// `update_with_key_prefix`: inside the window an UPDATE of each third row by the
    /// first part of its key, to the value it has.
    fn update_with_key_prefix(&mut self) -> Result<()> {
        let update = self.client.texts.template("update_with_key_prefix");
        let mut sql = String::new();
        let mut op = self
            .bench
            .start("update_with_key_prefix", self.counts.loops)?;
        for i in (1..self.counts.rows()).step_by(3) {
            update.fill(&mut sql, &[i.into()]);
            op.execute(self.client.session(), &sql)?;
            if op.over_limit(op.statements()) {
                break;
            }
        }
        op.finish()
    }

    /// `update_big`: inside the window UPDATEs of all rows.
    fn update_big(&mut self) -> Result<()> {
        let update = self.client.texts.template("update_big");
        let mut sql = String::new();
        let mut op = self.bench.start("update_big", self.counts.small)?;
        for j in 0..self.counts.small {
            update.fill(&mut sql, &[j.into()]);
            op.execute(self.client.session(), &sql)?;
        }
        op.finish()
    }
}
