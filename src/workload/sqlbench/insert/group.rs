//! Group functions, on keys and without.

use super::{Insert, expect_values};
use crate::error::{Result, bail};
use crate::sql::{Arg, Template};
use crate::workload::Rows;

/// The statements of a round of `min_max_on_key`, in order.
const MIN_MAX_ON_KEY: [&str; 6] = [
    "key_min_id",
    "key_max_id",
    "key_min_id2",
    "key_max_id2",
    "key_min_text",
    "key_max_text",
];

/// The statements of a round of `min_max`, in order.
const MIN_MAX: [&str; 6] = [
    "min_id2", "max_id2", "min_id3", "max_id3", "min_text", "max_text",
];

impl Insert<'_, '_> {
    pub(super) fn group(&mut self) -> Result<()> {
        self.select_group()?;
        let (small, ranges) = (self.counts.small, self.counts.ranges);
        self.min_max("min_max_on_key", &MIN_MAX_ON_KEY, 5 * ranges)?;
        self.min_max("min_max", &MIN_MAX, small)?;
        self.count("count_on_key")?;
        self.count("count")?;
        self.count_distinct()
    }

    /// `select_group`: inside the window ten statements a round, with the comparison of
    /// their values. The suite counts eleven a round and starts at one.
    fn select_group(&mut self) -> Result<()> {
        let group = GroupTexts::new(self);
        let planned = 1 + GroupTexts::COUNTED * self.counts.small;
        let mut sql = String::new();
        let mut op = self.bench.start("select_group", planned)?;
        op.print_count(planned);
        let mut count: u64 = 1;
        for _ in 0..self.counts.small {
            for (sql, expected) in &group.checked {
                expect_values(&mut op, &mut self.client, sql, expected)?;
            }
            op.fetch(self.client.session(), &group.by_modulo, Rows::Exactly(10))?;
            let so_far = count + GroupTexts::COUNTED - 1;
            group.by_three.fill(&mut sql, &[so_far.into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(100))?;
            count += GroupTexts::COUNTED;
            if op.over_limit(count) {
                break;
            }
        }
        op.finish()
    }

    /// `min_max_on_key`, `min_max`: inside the window query and fetch of six statements a
    /// round, one row each.
    fn min_max(&mut self, name: &str, texts: &[&str; 6], rounds: u64) -> Result<()> {
        let templates: Vec<Template> = texts
            .iter()
            .map(|name| self.client.texts.template(name))
            .collect();
        let mut sql = String::new();
        let mut op = self.bench.start(name, 6 * rounds)?;
        for j in 1..=rounds {
            let j: [Arg<'_>; 1] = [j.into()];
            for template in &templates {
                template.fill(&mut sql, &j[..template.places().len()]);
                op.fetch(self.client.session(), &sql, Rows::Exactly(1))?;
            }
            if op.over_limit(op.statements()) {
                break;
            }
        }
        op.finish()
    }

    /// `count_on_key`, `count`: inside the window query and fetch of a hundred counts of
    /// ever more rows.
    fn count(&mut self, name: &str) -> Result<()> {
        let select = self.client.texts.template(name);
        let rows = self.counts.rows();
        let step = rows / 100;
        let mut sql = String::new();
        let mut op = self.bench.start(name, 100)?;
        for x in (0..rows).step_by(step as usize) {
            select.fill(&mut sql, &[x.into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(1))?;
        }
        if op.statements() != 100 {
            bail!("{name} sent {} statements instead of 100", op.statements());
        }
        op.finish()
    }

    /// `count_distinct_big`: inside the window, each time, the count of all and the counts
    /// by text.
    fn count_distinct(&mut self) -> Result<()> {
        let of_all = self.client.texts.text("count_distinct_text").to_string();
        let by_text = self.client.texts.text("count_distinct_by_text").to_string();
        let loops = self.counts.small;
        let mut op = self.bench.start("count_distinct_big", 2 * loops)?;
        for i in 1..=loops {
            op.fetch(self.client.session(), &of_all, Rows::Exactly(1))?;
            op.fetch(self.client.session(), &by_text, Rows::Exactly(3))?;
            if op.over_limit(2 * i) {
                break;
            }
        }
        op.finish()
    }
}

/// The statements of `select_group` with what the suite knows about their values.
struct GroupTexts {
    checked: Vec<(String, Vec<Option<f64>>)>,
    by_modulo: String,
    by_three: Template,
}

impl GroupTexts {
    /// Counted a round: seven, and one for each of the rest.
    const COUNTED: u64 = 11;

    fn new(phase: &Insert<'_, '_>) -> Self {
        let texts = &phase.client.texts;
        let text = |name: &str| texts.text(name).to_string();
        let (rows, loops) = (phase.counts.rows() as f64, phase.counts.loops as f64);
        let last = rows - 1.0;
        let sum = rows * last / 2.0;
        let known = |values: &[f64]| values.iter().copied().map(Some).collect();
        let mut from_sql = String::new();
        let from: [Arg<'_>; 1] = [(2 * phase.counts.loops).into()];
        texts
            .template("group_count_from")
            .fill(&mut from_sql, &from);
        let all = [rows, sum, 0.0, last, last / 2.0];
        GroupTexts {
            checked: vec![
                (text("group_count"), known(&[rows])),
                (text("group_min_id"), known(&[0.0])),
                (text("group_max_id"), known(&[last])),
                (text("group_sum_id"), known(&[sum])),
                (text("group_id3"), known(&[0.0, last, sum])),
                (text("group_text"), vec![None, None]),
                (from_sql, known(&[loops])),
                (text("group_all"), known(&all)),
            ],
            by_modulo: text("group_by_modulo"),
            by_three: texts.template("group_by_three"),
        }
    }
}
