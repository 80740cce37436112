//! Deletes from the first table, until it is empty.

use super::Insert;
use crate::error::Result;

impl Insert<'_, '_> {
    pub(super) fn delete(&mut self) -> Result<()> {
        self.client.lock("bench1 WRITE")?;
        self.delete_key()?;
        self.delete_range()?;
        self.client.unlock()?;
        self.client.drop("bench1")?;
        self.client.vacuum(self.bench, &[])
    }

    /// `delete_key`: inside the window DELETEs by a key, of which every second finds a row.
    fn delete_key(&mut self) -> Result<()> {
        let delete = self.client.texts.template("delete_key");
        let loops = self.counts.loops;
        let mut sql = String::new();
        let mut op = self.bench.start("delete_key", loops / 10)?;
        for key in self.keys[..loops as usize].iter().step_by(10) {
            delete.fill(&mut sql, &[(loops + key).into()]);
            op.execute(self.client.session(), &sql)?;
        }
        op.finish()
    }

    /// `delete_range`: inside the window ten DELETEs of ranges that grow from zero, two of
    /// larger ones, and one of what is left. The suite counts twelve.
    fn delete_range(&mut self) -> Result<()> {
        let loops = self.counts.loops;
        let texts = &self.client.texts;
        let from_zero = texts.template("delete_from_zero");
        let range = texts.template("delete_range");
        let below = texts.template("delete_below");
        let all = texts.text("delete_all").to_string();
        let mut sql = String::new();
        let mut op = self.bench.start("delete_range", 12)?;
        op.print_count(12);
        for end in (0..=loops).step_by(loops as usize / 10) {
            from_zero.fill(&mut sql, &[end.into()]);
            op.execute(self.client.session(), &sql)?;
        }
        range.fill(&mut sql, &[loops.into(), (2 * loops).into()]);
        op.execute(self.client.session(), &sql)?;
        if self.client.fast {
            op.execute(self.client.session(), &all)?;
        } else {
            below.fill(&mut sql, &[self.counts.rows().into()]);
            op.execute(self.client.session(), &sql)?;
        }
        op.finish()
    }
}
