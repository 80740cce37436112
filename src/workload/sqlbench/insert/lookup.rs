//! OR lists, look-ups by key and comparisons on a column.

use super::Insert;
use crate::error::Result;
use crate::sql::Arg;
use crate::workload::Rows;

/// Look-ups; each is called as its text.
const KEYS: [&str; 6] = [
    "select_key_prefix",
    "select_key",
    "select_key_return_key",
    "select_key2",
    "select_key2_return_key",
    "select_key2_return_prim",
];

/// The fixed comparisons and the rows that each finds.
const COMPARISONS: [(&str, u64); 20] = [
    ("compare_01", 6),
    ("compare_02", 2),
    ("compare_03", 2),
    ("compare_04", 2),
    ("compare_05", 5),
    ("compare_06", 2),
    ("compare_07", 5),
    ("compare_08", 10),
    ("compare_09", 0),
    ("compare_10", 1),
    ("compare_11", 3),
    ("compare_12", 2),
    ("compare_13", 6),
    ("compare_14", 9),
    ("compare_15", 11),
    ("compare_16", 10),
    ("compare_17", 2),
    ("compare_18", 3),
    ("compare_19", 3),
    ("compare_20", 3),
];

/// What the suite counts for a round of them: the entries of its list, two for each.
const COUNTED_A_ROUND: u64 = 2 * COMPARISONS.len() as u64;

impl Insert<'_, '_> {
    pub(super) fn lookup(&mut self) -> Result<()> {
        self.or_lists("select_range_prefix", "id")?;
        self.or_lists("select_range_key2", "id3")?;
        KEYS.iter().try_for_each(|name| self.keys(name))?;
        self.compare("select_range_prefix", "id")?;
        self.compare("select_range_key2", "id3")
    }

    /// `select_range_prefix` and `select_range_key2`, first part: inside the window the
    /// drawing of the values, and query and fetch of each OR list, of the same as an IN
    /// list, and of the OR list with an upper bound. The rows of the IN lists are not in
    /// the printed figure.
    fn or_lists(&mut self, name: &str, column: &str) -> Result<()> {
        let plan = OrPlan::new(&self.client.limits, self.counts.ranges);
        let select = self.client.texts.template("select_range");
        let mut list = OrList::new(column, self.counts.rows());
        let mut sql = String::new();
        let mut printed_rows = 0;
        let mut count = 0;
        let mut op = self.bench.start(name, plan.planned)?;
        op.print_count(plan.planned);
        while count < plan.planned {
            for values in (0..=plan.longest).step_by(plan.longest as usize / 4) {
                let loops = self.counts.loops;
                let (found, below_ten) =
                    list.draw(values, |i| self.sequence.step(i, loops) % (4 * loops));
                select.fill(&mut sql, &[Arg::Text(&list.or)]);
                op.fetch(self.client.session(), &sql, Rows::Exactly(found))?;
                if plan.with_in {
                    select.fill(&mut sql, &[Arg::Text(&list.within)]);
                    op.fetch(self.client.session(), &sql, Rows::Exactly(found))?;
                }
                select.fill(&mut sql, &[Arg::Text(&list.bounded)]);
                op.fetch(self.client.session(), &sql, Rows::Exactly(below_ten))?;
                printed_rows += found + below_ten;
            }
            count += plan.round;
            if op.over_limit(count) {
                break;
            }
        }
        op.print_rows(printed_rows);
        op.finish()
    }

    /// The six look-ups by key: inside the window, each time, query and fetch of a key
    /// that is there and of one that is not.
    fn keys(&mut self, name: &str) -> Result<()> {
        let select = self.client.texts.template(name);
        let rows = self.counts.rows();
        let loops = self.counts.read_keys;
        let mut sql = String::new();
        let mut op = self.bench.start(name, 2 * loops)?;
        for i in 1..=loops {
            let k = self.sequence.step(i, self.counts.loops) % rows;
            select.fill(&mut sql, &[k.into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(1))?;
            select.fill(&mut sql, &[(k + rows).into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(0))?;
            if op.over_limit(2 * i) {
                break;
            }
        }
        op.finish()
    }

    /// `select_range_prefix` and `select_range_key2`, second part: inside the window
    /// query and fetch of the fixed comparisons, twenty a round. The suite counts forty.
    fn compare(&mut self, name: &str, column: &str) -> Result<()> {
        let queries = self.comparisons(column);
        let rounds = self.counts.ranges;
        let mut op = self.bench.start(name, COUNTED_A_ROUND * rounds)?;
        op.print_count(COUNTED_A_ROUND * rounds);
        op.print_rows_received();
        for i in 1..=rounds {
            for (sql, rows) in &queries {
                op.fetch(self.client.session(), sql, Rows::Exactly(*rows))?;
            }
            if op.over_limit(COUNTED_A_ROUND * i) {
                break;
            }
        }
        op.finish()
    }

    fn comparisons(&self, column: &str) -> Vec<(String, u64)> {
        let middle = self.counts.loops / 2;
        let of_place = |place: &String| match place.as_str() {
            "x" => Arg::Text(column),
            "last" => (self.counts.rows() - 1).into(),
            "middle" => middle.into(),
            "middle_end" => (middle + 2).into(),
            _ => (middle - 1).into(),
        };
        let query = |&(name, rows): &(&str, u64)| {
            let template = self.client.texts.template(name);
            let args: Vec<Arg<'_>> = template.places().iter().map(of_place).collect();
            let mut sql = String::new();
            template.fill(&mut sql, &args);
            (sql, rows)
        };
        COMPARISONS.iter().map(query).collect()
    }
}

/// How many OR lists are sent, and how long they are.
#[derive(Debug, PartialEq, Eq)]
struct OrPlan {
    with_in: bool,
    /// The longest list; lists grow from nothing to it by quarters.
    longest: u64,
    /// Statements a round.
    round: u64,
    planned: u64,
}

impl OrPlan {
    fn new(limits: &crate::sql::Limits, ranges: u64) -> Self {
        let longest = limits
            .max_columns
            .min(50)
            .min((limits.query_size - 50) / 13);
        let round = if limits.func_extra_in_num { 15 } else { 10 };
        OrPlan {
            with_in: limits.func_extra_in_num,
            longest: longest / 4 * 4,
            round,
            planned: (10 * ranges).div_ceil(round) * round,
        }
    }
}

/// One list of values in its three written forms.
struct OrList {
    column: String,
    rows: u64,
    /// Keys of the table that are in the list already.
    seen: Vec<bool>,
    values: Vec<u64>,
    or: String,
    within: String,
    bounded: String,
}

impl OrList {
    fn new(column: &str, rows: u64) -> Self {
        OrList {
            column: column.to_string(),
            rows,
            seen: vec![false; rows as usize],
            values: Vec::new(),
            or: String::new(),
            within: String::new(),
            bounded: String::new(),
        }
    }

    /// Draws the list: 1 and what `next` gives for 1, 2, … Returns the number of rows
    /// that have one of the values, and of those the ones below 10.
    fn draw(&mut self, values: u64, mut next: impl FnMut(u64) -> u64) -> (u64, u64) {
        self.values.clear();
        self.values.push(1);
        self.values.extend((1..values).map(&mut next));
        self.write();
        let mut found = (0, 0);
        for v in self.values.iter().filter(|v| **v < self.rows) {
            if !std::mem::replace(&mut self.seen[*v as usize], true) {
                found.0 += 1;
                found.1 += u64::from(*v < 10);
            }
        }
        for v in self.values.iter().filter(|v| **v < self.rows) {
            self.seen[*v as usize] = false;
        }
        found
    }

    fn write(&mut self) {
        use std::fmt::Write;
        let OrList {
            column,
            values,
            or,
            within,
            bounded,
            ..
        } = self;
        let written = (|| {
            or.clear();
            within.clear();
            bounded.clear();
            write!(or, "{column} = 1")?;
            write!(within, "{column} IN (1")?;
            for v in &values[1..] {
                write!(or, " OR {column}={v}")?;
                write!(within, ",{v}")?;
            }
            within.push(')');
            write!(bounded, "({or}) AND {column} < 10")
        })();
        debug_assert!(written.is_ok(), "a String takes everything");
    }
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;
    use crate::sql::{Dialect, Limits};

    /// The printed rows of the two operations, from the sequence alone.
    fn rows(loops: u64, ranges: u64, limits: &Limits) -> [u64; 2] {
        let (_, mut sequence) = random::keys(loops);
        for i in 0..loops {
            sequence.step(i, loops);
        }
        let plan = OrPlan::new(limits, ranges);
        [(); 2].map(|()| {
            let mut list = OrList::new("id", 3 * loops);
            let mut rows = 0;
            for _ in 0..plan.planned / plan.round {
                for values in (0..=plan.longest).step_by(12) {
                    let found = list.draw(values, |i| sequence.step(i, loops) % (4 * loops));
                    rows += found.0 + found.1;
                }
            }
            rows
        })
    }

    #[test]
    fn or_lists_find_the_rows_the_suite_found() {
        let limits = Limits::of(Dialect::Mysql);
        assert_eq!(rows(1_000, 10, &limits), [865, 864]);
        assert_eq!(rows(10_000, 500, &limits), [42_084, 42_084]);
        assert_eq!(rows(100_000, 500, &limits), [42_084, 42_084]);
        let without_in = Limits {
            func_extra_in_num: false,
            ..limits
        };
        assert_eq!(rows(10_000, 500, &without_in), [63_000, 63_000]);
    }

    #[test]
    fn lists_are_planned_as_the_suite_counts_them() {
        let limits = Limits::of(Dialect::Sqlite);
        let planned = |ranges| OrPlan::new(&limits, ranges).planned;
        assert_eq!((planned(500), planned(10)), (5010, 105));
        let mut list = OrList::new("id", 300);
        assert_eq!(list.draw(0, |i| i), (1, 1));
        assert_eq!(list.or, "id = 1");
        assert_eq!(list.draw(4, |i| 100 * i), (3, 1));
        assert_eq!(list.within, "id IN (1,100,200,300)");
        assert_eq!(
            list.bounded,
            "(id = 1 OR id=100 OR id=200 OR id=300) AND id < 10"
        );
    }
}
