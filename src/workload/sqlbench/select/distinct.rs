//! Groups, and counts of what is distinct.

use super::Select;
use crate::error::Result;
use crate::workload::Rows;

impl Select<'_, '_> {
    /// `count_group_on_key_parts` and all after it: inside each window one query and its
    /// fetch, many times.
    pub(super) fn distinct(&mut self) -> Result<()> {
        let medium = self.counts.medium;
        let (regions, groups) = (self.counts.regions, self.model.groups());
        self.repeated("count_group_on_key_parts", medium, groups, false)?;
        if self.more {
            self.repeated("count_group", medium, groups, false)?;
            self.repeated("count_group_with_order", medium, groups, false)?;
        }
        self.repeated("count_distinct_key_prefix", medium, 1, true)?;
        self.repeated("count_distinct", medium, 1, true)?;
        self.repeated("count_distinct_2", medium, 1, true)?;
        self.repeated("count_distinct_group_on_key", medium, regions, true)?;
        self.repeated("count_distinct_group_on_key_parts", medium, groups, true)?;
        self.repeated("count_distinct_group", medium, groups, true)?;
        let few = (medium / 10).max(1);
        self.repeated("count_distinct_big", few, self.counts.loops, true)
    }

    fn repeated(&mut self, name: &str, loops: u64, rows: u64, limited: bool) -> Result<()> {
        let sql = self.client.texts.text(name).to_string();
        let mut op = self.bench.start(name, loops)?;
        op.print_rows_received();
        for i in 1..=loops {
            op.fetch(self.client.session(), &sql, Rows::Exactly(rows))?;
            if limited && op.over_limit(i) {
                break;
            }
        }
        op.finish()
    }
}
