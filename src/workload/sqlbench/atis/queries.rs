//! The queries and the rows that each returns, on the original data and on ours.

use crate::sql::Limits;

/// What a server must be able to do for a query.
#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    /// std()
    Std,
    /// HAVING with an alias.
    HavingAlias,
    /// mod() and floor().
    Modulo,
}

pub(super) struct Query {
    pub text: &'static str,
    pub rows: u64,
    needs: Needs,
}

impl Query {
    pub fn runs(&self, limits: &Limits) -> bool {
        match self.needs {
            Needs::Nothing => true,
            Needs::Std => limits.group_func_extra_std,
            Needs::HavingAlias => limits.having_with_alias,
            Needs::Modulo => limits.func_odbc_mod && limits.func_odbc_floor,
        }
    }
}

const fn query(text: &'static str, rows: u64) -> Query {
    needing(Needs::Nothing, text, rows)
}

const fn needing(needs: Needs, text: &'static str, rows: u64) -> Query {
    Query { text, rows, needs }
}

pub(super) const SIMPLE_JOIN: &[Query] = &[
    query("join_1", 1),
    query("join_2", 11),
    query("join_3", 7),
    query("join_4", 4),
    query("join_5", 579),
];

pub(super) const JOIN: &[Query] = &[query("select_join", 579)];

pub(super) const KEY_PREFIX_JOIN: &[Query] = &[query("select_key_prefix_join", 5692)];

pub(super) const DISTINCT: &[Query] = &[
    query("distinct_1", 6),
    query("distinct_2", 9),
    query("distinct_3", 22),
    query("distinct_4", 534),
    query("distinct_5", 579),
    query("distinct_6", 579),
    query("distinct_7", 44),
    query("distinct_8", 44),
];

/// The suite's list without its fourteenth, which asks for what no server has. The
/// twenty-seventh is the twenty-fifth again.
pub(super) const GROUP: &[Query] = &[
    query("group_01", 7),
    query("group_02", 7),
    query("group_03", 4),
    query("group_04", 7),
    query("group_05", 1),
    query("group_06", 1),
    query("group_07", 1),
    query("group_08", 1),
    query("group_09", 1),
    query("group_10", 1),
    query("group_11", 1),
    query("group_12", 1),
    query("group_13", 1),
    needing(Needs::Std, "group_15", 1),
    query("group_16", 1),
    query("group_17", 11),
    query("group_18", 12),
    needing(Needs::HavingAlias, "group_19", 3),
    query("group_20", 3),
    query("group_21", 150),
    needing(Needs::Modulo, "group_22", 21),
    needing(Needs::Modulo, "group_23", 14),
    query("group_24", 409),
    query("group_25", 11),
    query("group_26", 11),
    query("group_25", 11),
    query("group_28", 10),
    query("group_29", 29),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Dialect;

    #[test]
    fn each_server_runs_as_many_as_the_suite_counts() {
        let runs = |dialect| {
            let limits = Limits::of(dialect);
            GROUP.iter().filter(|query| query.runs(&limits)).count()
        };
        assert_eq!(runs(Dialect::Mysql), 28);
        assert_eq!(runs(Dialect::Mariadb), 28);
        assert_eq!(runs(Dialect::Postgres), 26);
        assert_eq!(runs(Dialect::Sqlite), 27);
    }
}
