//! Real servers. A server that is not installed is a visible skip, unless the
//! environment variable `MOUNTMARK_REQUIRE` (kinds, separated by commas) names it;
//! `MOUNTMARK_MYSQL` names a `mysqld` file.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

mod calls;
mod corpus;
mod duets;
mod loads;
mod noting;
mod orphan;
mod phases;
mod reference;
mod scripts;
mod sessions;
mod starting;
mod support;
mod texts;

/// Every test for every kind of server.
macro_rules! for_each_server {
    ($($name:ident => $test:path),+ $(,)?) => {
        mod postgres { use mountmark::engine::Kind; $(#[test] fn $name() { $test(Kind::Postgres); })+ }
        mod mariadb { use mountmark::engine::Kind; $(#[test] fn $name() { $test(Kind::Mariadb); })+ }
        mod mysql { use mountmark::engine::Kind; $(#[test] fn $name() { $test(Kind::Mysql); })+ }
    };
}

for_each_server! {
    lives_from_initialise_to_stop => crate::starting::lives_from_initialise_to_stop,
    opens_no_port_and_is_closed_to_others => crate::starting::opens_no_port_and_is_closed_to_others,
    refuses_unknown_settings_in_its_own_words => crate::starting::refuses_unknown_settings,
    keeps_what_makes_it_private => crate::starting::keeps_what_makes_it_private,
    takes_settings_and_tells_them => crate::starting::takes_settings_and_tells_them,
    refuses_a_long_socket_path => crate::starting::refuses_a_long_socket_path,
    refuses_a_directory_in_use => crate::starting::refuses_a_directory_in_use,
    is_killed_when_dropped => crate::starting::is_killed_when_dropped,
    joins_its_cgroup_and_cpus => crate::starting::joins_its_cgroup_and_cpus,
    can_be_watched => crate::starting::can_be_watched,
    gives_errors_a_meaning => crate::sessions::gives_errors_a_meaning,
    prepares_statements => crate::sessions::prepares_statements,
    columns_of_a_prepared_statement_may_change => crate::sessions::columns_of_a_prepared_statement_may_change,
    commits_and_rolls_back => crate::sessions::commits_and_rolls_back,
    moves_big_results_and_statements => crate::sessions::moves_big_results_and_statements,
    tells_when_it_was_killed => crate::sessions::tells_when_it_was_killed,
    a_statement_is_one_send_and_one_receive => crate::calls::a_statement_is_one_send_and_one_receive,
    a_load_waits_in_the_receive_only_where_that_costs_less => crate::calls::a_load_waits_in_the_receive_only_where_that_costs_less,
    answers_like_the_reference_client => crate::reference::answers_like_the_reference_client,
    prepares_every_text => crate::texts::prepares_every_text,
    runs_every_phase => crate::phases::runs_every_phase,
    outlives_nobody => crate::orphan::outlives_nobody,
}

#[test]
fn nothing_is_under_way_when_the_turn_changes() {
    duets::nothing_is_under_way_when_the_turn_changes();
}

#[test]
fn scripts_send_what_pgbench_sends() {
    scripts::send_what_pgbench_sends();
}

#[test]
fn built_in_scripts_send_what_pgbench_sends() {
    scripts::built_in_scripts_send_what_pgbench_sends();
}

#[test]
fn built_in_scripts_find_their_tables() {
    scripts::built_in_scripts_find_their_tables();
}
