//! A table with a key on almost every column, and inserts of many rows a statement.

use super::load::Batch;
use super::{Insert, bench1};
use crate::error::Result;
use crate::sql::{Arg, Limits, Table};

impl Insert<'_, '_> {
    pub(super) fn many_keys(&mut self) -> Result<()> {
        let table = key_table(&self.limits());
        self.client.create("bench1", &table)?;
        self.client.lock("bench1 WRITE")?;
        self.insert_key()?;
        self.vacuum_bench1()?;
        self.by_search_field("update_of_primary_key_many_keys", "update_many_keys", 256)?;
        self.vacuum_bench1()?;
        self.by_search_field("delete_big_many_keys", "delete_many_keys", 128)?;
        self.client.unlock()?;
        self.delete_all()?;
        self.client.drop("bench1")?;
        self.client.vacuum(self.bench, &[])
    }

    /// `insert_key`: inside the window the INSERT of every row, batched with `--fast`
    /// where an INSERT takes many rows, and with `--fast` their transaction.
    fn insert_key(&mut self) -> Result<()> {
        let single = (!self.batches()).then(|| self.client.texts.template("insert_key"));
        let row = self.client.texts.template("key_row");
        let head = self.client.texts.text("insert_rows");
        let mut batch = Batch::new(head, self.client.limits.query_size);
        let mut sql = String::new();
        let loops = self.counts.many_keys;
        let mut op = self.bench.start("insert_key", loops)?;
        op.print_count(loops);
        self.client.begin(&mut op)?;
        for (i, r) in (0..loops).zip(&self.keys) {
            let values = key_values(i, *r);
            if let Some(single) = &single {
                single.fill(&mut sql, &values);
                op.execute(self.client.session(), &sql)?;
            } else if let Some(full) = batch.add(&row, &values) {
                op.execute(self.client.session(), full)?;
            }
        }
        if let Some(rest) = batch.rest() {
            op.execute(self.client.session(), rest)?;
        }
        self.client.commit(&mut op)?;
        op.finish()
    }

    /// `update_of_primary_key_many_keys` (of which only the first half finds rows) and
    /// `delete_big_many_keys`: inside the window a statement for each value of the search
    /// field, and for the updates with `--fast` their transaction.
    fn by_search_field(&mut self, name: &str, text: &str, values: u64) -> Result<()> {
        let statement = self.client.texts.template(text);
        let transaction = text == "update_many_keys";
        let mut sql = String::new();
        let mut op = self.bench.start(name, values)?;
        if transaction {
            self.client.begin(&mut op)?;
        }
        for i in 0..values {
            statement.fill(&mut sql, &[i.into()]);
            op.execute(self.client.session(), &sql)?;
        }
        if transaction {
            self.client.commit(&mut op)?;
        }
        op.finish()
    }

    /// `delete_all_many_keys`: inside the window one DELETE or TRUNCATE of a table that is
    /// empty already. (The suite's own figure includes `delete_big_many_keys`, whose
    /// timer it does not start again.)
    fn delete_all(&mut self) -> Result<()> {
        let name = match (self.client.fast, self.client.limits.truncate_table) {
            (true, true) => "truncate",
            (true, false) => "delete_all",
            (false, _) => "delete_all_many_keys",
        };
        let sql = self.client.texts.text(name).to_string();
        let mut op = self.bench.start("delete_all_many_keys", 1)?;
        op.execute(self.client.session(), &sql)?;
        op.finish()
    }

    /// `multiple_value_insert`, `drop table`, where an INSERT takes many rows: inside
    /// the first window the INSERTs, as few as the longest statement allows, and with
    /// `--fast` the table lock and the transaction; inside the second the DROP.
    pub(super) fn multiple_values(&mut self) -> Result<()> {
        if !self.limits().insert_multi_value {
            return Ok(());
        }
        self.client.drop_leftovers(&["bench1"])?;
        self.client.create("bench1", &bench1("index_id3"))?;
        let row = self.client.texts.template("row");
        let head = self.client.texts.text("insert_rows");
        let mut batch = Batch::new(head, self.client.limits.query_size);
        let loops = self.counts.loops;
        let mut op = self.bench.start("multiple_value_insert", loops)?;
        op.print_count(loops);
        self.client.lock("bench1 WRITE")?;
        self.client.begin(&mut op)?;
        for i in 0..loops {
            if let Some(full) = batch.add(&row, &[i.into(), "EFGHIJKLM".into()]) {
                op.execute(self.client.session(), full)?;
            }
        }
        if let Some(rest) = batch.rest() {
            op.execute(self.client.session(), rest)?;
        }
        // UNLOCK TABLES first, as the suite has it, would leave the rows to the commit
        // unlocked; the order makes no difference to one client.
        self.client.commit(&mut op)?;
        self.client.unlock()?;
        op.finish()?;

        let mut op = self.bench.start("drop table", 1)?;
        op.execute(self.client.session(), "DROP TABLE bench1")?;
        op.finish()
    }
}

/// The values of row `i` with key `r`, in the order of the places of its text.
fn key_values(i: u64, r: u64) -> [Arg<'static>; 3] {
    [(i & 127).into(), r.into(), (i & 32767).into()]
}

/// As many keys as the server takes, 16 at most, and a field to search by; the primary
/// key spans all fields but that one.
fn key_table(limits: &Limits) -> Table {
    let keys = limits.max_index.min(16);
    let parts = limits.max_index_parts.min(keys);
    let column = |n| match n {
        1 => "field1 tinyint not null".to_string(),
        2 => "field2 mediumint not null".to_string(),
        3 => "field3 smallint not null".to_string(),
        4 => "field4 char(16) not null".to_string(),
        5 => "field5 integer not null".to_string(),
        6 => "field6 float not null".to_string(),
        7 => "field7 double not null".to_string(),
        n => format!("field{n} char(6) not null"),
    };
    let mut columns: Vec<String> = (1..=keys).map(column).collect();
    columns.insert(1, "field_search tinyint not null".to_string());
    let fields: Vec<String> = (1..=parts).map(|n| format!("field{n}")).collect();
    let mut indexes = vec![
        format!("primary key ({})", fields.join(",")),
        "index index2 (field_search)".to_string(),
    ];
    indexes.extend((3..=keys).map(|n| format!("index index{n} (field{n})")));
    Table { columns, indexes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Dialect;

    #[test]
    fn the_table_has_sixteen_keys_and_a_search_field() {
        let table = key_table(&Limits::of(Dialect::Sqlite));
        assert_eq!(table.columns.len(), 17);
        assert_eq!(table.indexes.len(), 16);
        assert!(!table.indexes[0].contains("field_search"));
    }
}
