//! Phase `select`: queries on keys of many parts.
//!
//! The phase's total starts after the connection has been made.

mod counts;
mod distinct;
mod model;
mod range;

use counts::Counts;
use model::Model;

use super::client::Client;
use super::{Options, Profile, random::letter};
use crate::error::{Error, Result};
use crate::sql::{Arg, Table, Template};
use crate::workload::{Bench, Rows};

/// The queries of a round of `select_big`, in order.
const BIG: [&str; 7] = [
    "big_region",
    "big_idn",
    "big_rev_idn",
    "big_grp",
    "big_two_regions",
    "big_four_regions",
    "big_grp_alone",
];

/// The queries of a round of `min_max_on_key`, in order.
const MIN_MAX: [&str; 7] = [
    "min_region",
    "max_region",
    "min_max_region",
    "min_rev_idn",
    "max_grp",
    "max_idn",
    "max_region_below",
];

/// The queries of a round of `count_on_key`, in order.
const COUNT: [&str; 5] = [
    "count_region",
    "count_region_grp",
    "count_regions_above",
    "count_regions_to",
    "count_region_grps_above",
];

pub(super) fn run(bench: &mut Bench<'_>, options: &Options) -> Result<()> {
    let client = Client::connect(bench, "select", options)?;
    bench.phase_begins();
    let counts = Counts::new(options);
    let mut phase = Select {
        bench,
        client,
        model: Model::new(&counts),
        counts,
        more: options.profile == Profile::Mariadb,
    };
    phase.create()?;
    phase.insert()?;
    phase.cache()?;
    phase.select_big()?;
    phase.select_range()?;
    phase.on_key("min_max_on_key", &MIN_MAX)?;
    phase.on_key("count_on_key", &COUNT)?;
    phase.distinct()?;
    phase.client.unlock()?;
    phase.client.drop("bench1")?;
    phase.client.vacuum(phase.bench, &[])
}

struct Select<'p, 'a> {
    bench: &'p mut Bench<'a>,
    client: Client,
    counts: Counts,
    model: Model,
    /// The column and the two operations of the newer tree.
    more: bool,
}

impl Select<'_, '_> {
    fn create(&mut self) -> Result<()> {
        let mut table = Table::new(
            &[
                "region char(1) NOT NULL",
                "idn integer NOT NULL",
                "rev_idn integer NOT NULL",
                "grp integer NOT NULL",
            ],
            &[
                "primary key (region,idn)",
                "unique (region,rev_idn)",
                "unique (region,grp,idn)",
            ],
        );
        if self.more {
            table
                .columns
                .push("grp_no_key integer NOT NULL".to_string());
        }
        self.client.drop_leftovers(&["bench1"])?;
        self.client.create("bench1", &table)?;
        self.client.lock("bench1 WRITE")?;
        self.client.vacuum(self.bench, &[])
    }

    /// `insert`: inside the window the INSERT of each row, the first half and one more
    /// without a column list, and with `--fast` their transaction.
    fn insert(&mut self) -> Result<()> {
        let names = if self.more {
            ["insert_more", "insert_more_fields"]
        } else {
            ["insert", "insert_fields"]
        };
        let [plain, with_fields] = names.map(|name| self.client.texts.template(name));
        let Counts {
            loops,
            regions,
            groups,
            ..
        } = self.counts;
        let (mut sql, mut region) = (String::new(), String::new());
        let mut op = self.bench.start("insert", loops)?;
        self.client.begin(&mut op)?;
        for id in 0..loops {
            set(&mut region, id % regions);
            let insert = if id <= loops / 2 {
                &plain
            } else {
                &with_fields
            };
            let rev = loops - 1 - id;
            let grp = 3 * id % groups;
            insert.fill(
                &mut sql,
                &[Arg::Text(&region), id.into(), rev.into(), grp.into()],
            );
            op.execute(self.client.session(), &sql)?;
        }
        self.client.commit(&mut op)?;
        op.finish()?;
        self.client.unlock()?;
        self.client.vacuum(self.bench, &["bench1"])?;
        self.client.lock("bench1 WRITE")
    }

    /// `select_cache`, `select_cache2`: inside each window query and fetch of two sums,
    /// the same every time, and different ones.
    fn cache(&mut self) -> Result<()> {
        let loops = self.counts.loops;
        let warm_up = self.client.texts.text("warm_up").to_string();
        self.client.session().fetch(&warm_up).map_err(Error::new)?;
        let same = self.client.texts.text("select_cache").to_string();
        let mut op = self.bench.start("select_cache", loops)?;
        for _ in 0..loops {
            op.fetch(self.client.session(), &same, Rows::Exactly(1))?;
        }
        op.finish()?;

        let different = self.client.texts.template("select_cache2");
        let mut sql = String::new();
        let mut op = self.bench.start("select_cache2", loops)?;
        for j in 0..loops {
            different.fill(&mut sql, &[j.into()]);
            op.fetch(self.client.session(), &sql, Rows::Exactly(1))?;
        }
        op.finish()
    }

    /// `select_big`: inside the window query and fetch of seven selections a round.
    fn select_big(&mut self) -> Result<()> {
        let queries = Queries::new(&self.client, &BIG);
        let Counts {
            small,
            regions,
            groups,
            ..
        } = self.counts;
        let (mut sql, mut region) = (String::new(), String::new());
        let mut op = self.bench.start("select_big", 7 * small)?;
        op.print_rows_received();
        for i in 0..small {
            let g = 11 * i % groups;
            let r = i % (regions + 1);
            set(&mut region, r);
            let rows = self.model.big(r, g, i);
            for (query, rows) in queries.0.iter().zip(rows) {
                query.fill(&mut sql, &region, i, g);
                op.fetch(self.client.session(), &sql, Rows::Exactly(rows))?;
            }
        }
        op.finish()
    }

    /// `min_max_on_key`, `count_on_key`: inside the window query and fetch of some group
    /// functions a round, one row each.
    fn on_key(&mut self, name: &str, texts: &[&str]) -> Result<()> {
        let queries = Queries::new(&self.client, texts);
        let Counts {
            loops,
            regions,
            groups,
            ..
        } = self.counts;
        let planned = texts.len() as u64 * loops;
        let (mut sql, mut region) = (String::new(), String::new());
        let mut op = self.bench.start(name, planned)?;
        for j in 0..loops {
            set(&mut region, j % regions);
            for query in &queries.0 {
                query.fill(&mut sql, &region, j, 3 * j % groups);
                op.fetch(self.client.session(), &sql, Rows::Exactly(1))?;
            }
            if op.over_limit(op.statements()) {
                break;
            }
        }
        op.finish()
    }
}

/// Makes `text` the name of the `n`-th region.
fn set(text: &mut String, n: u64) {
    text.clear();
    text.push(letter(n));
}

/// Queries with some of the places `{r}`, `{i}` and `{g}`.
struct Queries(Vec<Query>);

struct Query {
    template: Template,
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
enum Place {
    Region,
    Number,
    Group,
}

impl Queries {
    fn new(client: &Client, names: &[&str]) -> Self {
        let place = |name: &String| match name.as_str() {
            "r" => Place::Region,
            "g" => Place::Group,
            _ => Place::Number,
        };
        let query = |name: &&str| {
            let template = client.texts.template(name);
            let places = template.places().iter().map(place).collect();
            Query { template, places }
        };
        Queries(names.iter().map(query).collect())
    }
}

impl Query {
    /// At most three places; nothing is allocated.
    #[inline]
    fn fill(&self, sql: &mut String, region: &str, number: u64, group: u64) {
        let mut args = [Arg::Int(0); 3];
        for (arg, place) in args.iter_mut().zip(&self.places) {
            *arg = match place {
                Place::Region => Arg::Text(region),
                Place::Number => number.into(),
                Place::Group => group.into(),
            };
        }
        self.template.fill(sql, &args[..self.places.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, on_sqlite, profile, table};
    use super::*;

    const SMALL_TEST: &str = "
        insert (1000)
        select_cache (1000)
        select_cache2 (1000)
        select_big (7:401)
        select_range (41:13597)
        min_max_on_key (7000)
        count_on_key (5000)
        count_group_on_key_parts (100:1000)
        count_distinct_key_prefix (100:100)
        count_distinct (100:100)
        count_distinct_2 (100:100)
        count_distinct_group_on_key (100:600)
        count_distinct_group_on_key_parts (100:1000)
        count_distinct_group (100:1000)
        count_distinct_big (10:10000)
    ";

    #[test]
    fn small_test_prints_what_the_suite_prints() {
        let found = on_sqlite("select", &profile(Profile::SmallTest));
        assert_eq!(lines(&found), table(SMALL_TEST));
    }

    #[test]
    fn the_newer_tree_has_two_operations_more() {
        let options = Options {
            loops: 0.01,
            ..profile(Profile::Mariadb)
        };
        let dir = tempfile::tempdir().unwrap();
        let address = super::super::tests::sqlite(dir.path(), "wal");
        let options = Options {
            time_limit_s: 0.0,
            ..options
        };
        let found = super::super::tests::operations(&address, "select", &options).unwrap();
        let names: Vec<&str> = found.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names.len(), 17);
        assert_eq!(
            names[7..10],
            [
                "count_group_on_key_parts",
                "count_group",
                "count_group_with_order"
            ]
        );
        assert_eq!((found[8].count, found[8].rows), (7000, Some(700_000)));
    }
}
