//! The 28 tables.

use crate::sql::{Dialect, Table};

pub(super) struct Definition {
    pub name: &'static str,
    pub rows: u64,
    /// Separated by a comma and a blank; all NOT NULL.
    columns: &'static str,
    /// Separated by a semicolon.
    keys: &'static str,
}

/// Rows of all tables.
pub(super) const ROWS: u64 = 9768;

impl Definition {
    pub fn definition(&self, dialect: Dialect) -> Table {
        let column = |column: &str| match column.strip_prefix("rank ") {
            // A reserved word since MySQL 8, in no other server.
            Some(kind) if dialect == Dialect::Mysql => format!("`rank` {kind} NOT NULL"),
            _ => format!("{column} NOT NULL"),
        };
        Table {
            columns: self.columns.split(", ").map(column).collect(),
            indexes: self.keys.split(';').map(str::to_string).collect(),
        }
    }
}

const fn table(
    name: &'static str,
    rows: u64,
    columns: &'static str,
    keys: &'static str,
) -> Definition {
    Definition {
        name,
        rows,
        columns,
        keys,
    }
}

pub(super) const TABLES: [Definition; 28] = [
    table(
        "aircraft",
        135,
        "aircraft_code char(3), aircraft_type char(64), engines tinyint, category char(10), wide_body char(3), wing_span float(6,2), length1 float(6,2), weight integer, capacity smallint, pay_load integer, cruising_speed mediumint, range_miles mediumint, pressurized char(3)",
        "primary key (aircraft_code)",
    ),
    table(
        "airline",
        314,
        "airline_code char(2), airline_name char(64), notes char(38)",
        "primary key (airline_code)",
    ),
    table(
        "airport",
        9,
        "airport_code char(3), airport_name char(40), location char(36), state_code char(2), country_name char(25), time_zone_code char(3)",
        "primary key (airport_code)",
    ),
    table(
        "airport_service",
        14,
        "city_code char(4), airport_code char(3), miles_distant float(4,1), direction char(3), minutes_distant smallint",
        "primary key (city_code,airport_code)",
    ),
    table(
        "city",
        11,
        "city_code char(4), city_name char(25), state_code char(2), country_name char(25), time_zone_code char(3)",
        "primary key (city_code)",
    ),
    table(
        "class_of_service",
        27,
        "class_code char(2), rank tinyint, class_description char(80)",
        "primary key (class_code)",
    ),
    table(
        "code_description",
        15,
        "code char(5), description char(110)",
        "primary key (code)",
    ),
    table(
        "compound_class",
        149,
        "fare_class char(3), base_class char(2), class_type char(10), premium char(3), economy char(3), discounted char(3), night char(3), season_fare char(4), class_days char(7)",
        "primary key (fare_class)",
    ),
    table(
        "connect_leg",
        351,
        "connect_code integer, leg_number tinyint, flight_code integer",
        "primary key (connect_code,leg_number,flight_code)",
    ),
    table(
        "fconnection",
        164,
        "connect_code integer, from_airport char(3), to_airport char(3), departure_time smallint, arrival_time smallint, flight_days char(7), stops tinyint, connections tinyint, time_elapsed smallint",
        "primary key (connect_code);index from_airport1 (from_airport);index to_airport1 (to_airport)",
    ),
    table(
        "day_name",
        7,
        "day_code tinyint, day_name char(9)",
        "primary key (day_code)",
    ),
    table(
        "dual_carrier",
        114,
        "main_airline char(2), dual_airline char(2), low_flight smallint, high_flight smallint, fconnection_name char(64)",
        "primary key (main_airline,dual_airline,low_flight);index main_airline1 (main_airline)",
    ),
    table(
        "fare",
        534,
        "fare_code char(8), from_airport char(3), to_airport char(3), fare_class char(3), fare_airline char(2), restrict_code char(5), one_way_cost float(7,2), rnd_trip_cost float(8,2)",
        "primary key (fare_code);index from_airport2 (from_airport);index to_airport2 (to_airport)",
    ),
    table(
        "flight",
        579,
        "flight_code integer, flight_days char(7), from_airport char(3), to_airport char(3), departure_time smallint, arrival_time smallint, airline_code char(2), flight_number smallint, class_string char(8), aircraft_code char(3), meal_code char(7), stops tinyint, dual_carrier char(1), time_elapsed smallint",
        "primary key (flight_code);index from_airport3 (from_airport);index to_airport3 (to_airport)",
    ),
    table(
        "flight_class",
        2895,
        "flight_code integer, fare_class char(3)",
        "primary key (flight_code,fare_class)",
    ),
    table(
        "flight_day",
        448,
        "day_mask char(7), day_code tinyint, day_name char(9)",
        "primary key (day_mask,day_code)",
    ),
    table(
        "flight_fare",
        2998,
        "flight_code integer, fare_code char(8)",
        "primary key (flight_code,fare_code)",
    ),
    table(
        "food_service",
        121,
        "meal_code char(4), meal_number tinyint, meal_class char(10), meal_description char(10)",
        "primary key (meal_code,meal_number,meal_class)",
    ),
    table(
        "ground_service",
        33,
        "city_code char(4), airport_code char(3), transport_code char(1), ground_fare float(6,2)",
        "primary key (city_code,airport_code,transport_code)",
    ),
    table(
        "time_interval",
        12,
        "period char(20), begin_time smallint, end_time smallint",
        "primary key (period,begin_time)",
    ),
    table(
        "month_name",
        12,
        "month_number tinyint, month_name char(9)",
        "primary key (month_number)",
    ),
    table(
        "restrict_carrier",
        612,
        "restrict_code char(5), airline_code char(2)",
        "primary key (restrict_code,airline_code)",
    ),
    table(
        "restrict_class",
        4,
        "restrict_code char(5), ex_fare_class char(12)",
        "primary key (restrict_code,ex_fare_class)",
    ),
    table(
        "restriction",
        65,
        "restrict_code char(5), application char(80), no_discounts char(80), reserve_ticket smallint, stopovers char(1), return_min smallint, return_max smallint",
        "primary key (restrict_code)",
    ),
    table(
        "state",
        63,
        "state_code char(2), state_name char(25), country_name char(25)",
        "primary key (state_code)",
    ),
    table(
        "stop1",
        69,
        "flight_code integer, stop_number tinyint, stop_flight integer",
        "primary key (flight_code,stop_number)",
    ),
    table(
        "time_zone",
        9,
        "time_zone_code char(3), time_zone_name char(32)",
        "primary key (time_zone_code,time_zone_name)",
    ),
    table(
        "transport",
        4,
        "transport_code char(1), transport_desc char(32)",
        "primary key (transport_code)",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_the_rows_of_the_suite() {
        assert_eq!(TABLES.iter().map(|t| t.rows).sum::<u64>(), ROWS);
    }

    #[test]
    fn rank_is_quoted_where_it_is_reserved() {
        let columns = |dialect| TABLES[5].definition(dialect).columns[1].clone();
        assert_eq!(columns(Dialect::Mysql), "`rank` tinyint NOT NULL");
        assert_eq!(columns(Dialect::Mariadb), "rank tinyint NOT NULL");
    }
}
