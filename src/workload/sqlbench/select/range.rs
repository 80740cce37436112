//! Selections by long lists.

use std::fmt::Write;

use super::super::random::{Sequence, letter};
use super::model::Named;
use super::{Select, set};
use crate::error::Result;
use crate::sql::{Arg, Limits, Template};
use crate::workload::Rows;

/// What the sequence is taken modulo.
const MODULO: u64 = 100_000;

/// Times the four long selections are sent in a round.
const REPEATS: usize = 10;

/// The queries of a round: the IN list, and the others many times.
const A_ROUND: u64 = 1 + 4 * REPEATS as u64;

/// The conditions of a round as text.
#[derive(Default)]
struct Lists {
    /// `grp = 1 OR grp=…`
    groups: String,
    /// `1,…`
    numbers: String,
    /// `(region='A' AND grp=1) OR …`
    pairs: String,
}

impl Lists {
    /// Draws the lists of a round.
    fn draw(
        &mut self,
        select: &Limits,
        sequence: &mut Sequence,
        named: &mut Named,
        (regions, groups): (u64, u64),
    ) {
        let Lists {
            groups: by_group,
            numbers,
            pairs,
        } = self;
        let written = (|| {
            for text in [&mut *by_group, &mut *numbers, &mut *pairs] {
                text.clear();
            }
            by_group.push_str("grp = 1");
            numbers.push('1');
            pairs.push_str("(region='A' AND grp=1)");
            for j in 1..longest(select) {
                let t = sequence.step(j, MODULO);
                let (region, group) = (t % regions, t % groups);
                write!(by_group, " OR grp={group}")?;
                write!(numbers, ",{group}")?;
                named.group(group);
                if j < select.max_conditions / 2 {
                    write!(pairs, " OR (region='{}' AND grp={group})", letter(region))?;
                    named.pair(region, group);
                }
            }
            std::fmt::Result::Ok(())
        })();
        debug_assert!(written.is_ok(), "a String takes everything");
    }
}

/// Terms of a list.
fn longest(limits: &Limits) -> u64 {
    limits
        .max_columns
        .min(500)
        .min((limits.query_size - 50) / 24)
        .min(limits.max_conditions / 2 - 3)
}

impl Select<'_, '_> {
    /// `select_range`: inside the window the drawing of the lists, and query and fetch of
    /// one IN list and of four long selections ten times a round.
    pub(super) fn select_range(&mut self) -> Result<()> {
        let texts = &self.client.texts;
        let within = texts.template("range_in");
        let long = [
            "range_or",
            "range_pairs",
            "range_or_below",
            "range_or_regions",
        ]
        .map(|name| texts.template(name));
        let limits = self.client.limits;
        let of = (self.counts.regions, self.counts.groups);
        let rounds = self.counts.small;
        let mut lists = Lists::default();
        let mut sequence = Sequence::new(0);
        let (mut sql, mut region) = (String::new(), String::new());
        let mut op = self.bench.start("select_range", A_ROUND * rounds)?;
        op.print_rows_received();
        for i in 0..rounds {
            let r = i % (self.counts.regions + 1);
            set(&mut region, r);
            let mut named = self.model.lists();
            lists.draw(&limits, &mut sequence, &mut named, of);
            let rows = self.model.range(r, &named);
            let args = [Arg::Text(&region), Arg::Text(&lists.numbers)];
            within.fill(&mut sql, &args);
            op.fetch(self.client.session(), &sql, Rows::Exactly(rows[0]))?;
            for _ in 0..REPEATS {
                for (query, rows) in long.iter().zip(rows) {
                    fill(query, &mut sql, &region, &lists);
                    op.fetch(self.client.session(), &sql, Rows::Exactly(rows))?;
                }
            }
            if op.over_limit(op.statements()) {
                break;
            }
        }
        op.finish()
    }
}

fn fill(query: &Template, sql: &mut String, region: &str, lists: &Lists) {
    match query.places() {
        [_] => query.fill(sql, &[Arg::Text(&lists.pairs)]),
        _ => query.fill(sql, &[Arg::Text(region), Arg::Text(&lists.groups)]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::profile;
    use super::super::super::{Options, Profile};
    use super::super::{Counts, Model};
    use super::*;
    use crate::sql::Dialect;

    /// The printed rows, from the model alone.
    fn rows(options: &Options) -> u64 {
        let counts = Counts::new(options);
        let model = Model::new(&counts);
        let limits = Limits::of(Dialect::Mysql);
        let mut sequence = Sequence::new(0);
        let mut lists = Lists::default();
        (0..counts.small)
            .map(|i| {
                let mut named = model.lists();
                let of = (counts.regions, counts.groups);
                lists.draw(&limits, &mut sequence, &mut named, of);
                let rows = model.range(i % (counts.regions + 1), &named);
                rows[0] + REPEATS as u64 * rows.iter().sum::<u64>()
            })
            .sum()
    }

    #[test]
    fn lists_find_the_rows_the_suite_found() {
        assert_eq!(rows(&profile(Profile::Original)), 1_057_904);
        assert_eq!(rows(&profile(Profile::SmallTest)), 13_597);
    }

    #[test]
    fn big_finds_the_rows_the_suite_found() {
        let counts = Counts::new(&profile(Profile::Original));
        let model = Model::new(&counts);
        let rows: u64 = (0..counts.small)
            .flat_map(|i| model.big(i % (counts.regions + 1), 11 * i % counts.groups, i))
            .sum();
        assert_eq!(rows, 17_207);
    }
}
