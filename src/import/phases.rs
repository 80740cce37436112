//! Which phase an operation of a RUN file belongs to: the summary adds the operations of
//! all phases up by name.

/// Operations that only one phase has. What several have in common (`insert`,
/// `create_table`, `drop_table`, `select_big`, `select_group`, `min_max_on_key`,
/// `count_on_key`, `count_distinct_big`, `book-keeping`) is in none of these.
const OWN: [(&str, &str); 9] = [
    (
        "alter-table",
        "alter_table_add create_index drop_index alter_table_drop",
    ),
    (
        "ATIS",
        "select_simple_join select_join select_key_prefix_join select_distinct",
    ),
    ("big-tables", "select_many_fields insert_many_fields"),
    (
        "connect",
        "connect connect+select_simple select_simple select_simple_cache connect+select_1_row \
         select_1_row select_1_row_cache select_2_rows select_column+column select_big_str",
    ),
    (
        "create",
        "create_MANY_tables select_group_when_MANY_tables drop_table_when_MANY_tables \
         create+drop create_key+drop",
    ),
    (
        "insert",
        "insert_duplicates prepared_select once_prepared_select order_by_big_key \
         order_by_big_key_desc order_by_big_key_prefix order_by_big_key2 order_by_big_key_diff \
         order_by_big order_by_range order_by_key_prefix order_by_key2_diff select_diff_key \
         select_range_prefix select_range_key2 select_key_prefix select_key select_key_return_key \
         select_key2 select_key2_return_key select_key2_return_prim min_max count update_of_key \
         update_of_key_big update_with_key update_with_key_prefix update_big outer_join_on_key \
         outer_join outer_join_found outer_join_not_found select_in select_join_in \
         insert_select_1_key insert_select_2_keys delete_key delete_range insert_key \
         update_of_primary_key_many_keys delete_big_many_keys delete_all_many_keys \
         multiple_value_insert",
    ),
    (
        "select",
        "select_cache select_cache2 select_range count_group_on_key_parts count_group \
         count_group_with_order count_distinct_key_prefix count_distinct count_distinct_2 \
         count_distinct_group_on_key count_distinct_group_on_key_parts count_distinct_group",
    ),
    (
        "transactions",
        "insert_commit insert_autocommit insert_rollback update_rollback delete_rollback \
         update_commit update_autocommit delete_commit delete_autocommit",
    ),
    ("wisconsin", "delete_big wisc_benchmark"),
];

/// The one phase that has an operation of that name.
pub(super) fn of(operation: &str) -> Option<&'static str> {
    let has = |names: &str| names.split_whitespace().any(|name| name == operation);
    let found = OWN.iter().find(|(_, names)| has(names));
    found.map(|(phase, _)| *phase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sqlbench::PHASES;

    #[test]
    fn every_phase_has_its_own_and_shares_none() {
        let mut names: Vec<&str> = OWN.iter().flat_map(|(_, n)| n.split_whitespace()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(OWN.iter().map(|(phase, _)| phase).eq(PHASES));
        assert_eq!(of("select_key"), Some("insert"));
        assert_eq!(of("insert"), None);
    }
}
