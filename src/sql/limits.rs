//! What sql-bench's server objects say a server can do. The suite branches on these,
//! never on a server's name.

use super::Dialect;

/// The limits that the phases ask for; names are the suite's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Several columns in one ALTER TABLE.
    pub alter_add_multi_col: bool,
    /// ALTER TABLE … DROP COLUMN.
    pub alter_table_dropcol: bool,
    /// `%` as the modulo operator.
    pub func_extra_percent: bool,
    /// IN lists of numbers.
    pub func_extra_in_num: bool,
    /// FLOOR().
    pub func_odbc_floor: bool,
    /// MOD().
    pub func_odbc_mod: bool,
    /// std().
    pub group_func_extra_std: bool,
    /// HAVING may name an alias.
    pub having_with_alias: bool,
    /// Several rows in one INSERT.
    pub insert_multi_value: bool,
    /// LOAD DATA INFILE.
    pub load_data_infile: bool,
    /// LOCK TABLES.
    pub lock_tables: bool,
    /// Columns of a table.
    pub max_columns: u64,
    /// Terms of a condition.
    pub max_conditions: u64,
    /// Indexes of a table.
    pub max_index: u64,
    /// Columns of an index.
    pub max_index_parts: u64,
    /// Tables that `create` makes at once.
    pub max_tables: u64,
    /// Length of a text value.
    pub max_text_size: u64,
    /// Several tables in one DROP TABLE.
    pub multi_drop: bool,
    /// Length of a statement, bytes.
    pub query_size: u64,
    /// TRUNCATE TABLE.
    pub truncate_table: bool,
    /// Transactions with the engine's default storage.
    pub transactions: bool,
    /// The server has a vacuum or optimize procedure.
    pub vacuum: bool,
    /// A statement that fails aborts the open transaction.
    pub aborts_transaction_on_error: bool,
}

const MYSQL: Limits = Limits {
    alter_add_multi_col: true,
    alter_table_dropcol: true,
    func_extra_percent: true,
    func_extra_in_num: true,
    func_odbc_floor: true,
    func_odbc_mod: true,
    group_func_extra_std: true,
    having_with_alias: true,
    insert_multi_value: true,
    load_data_infile: true,
    lock_tables: true,
    max_columns: 2000,
    max_conditions: 9999,
    max_index: 16,
    max_index_parts: 16,
    max_tables: 65000,
    max_text_size: 1_000_000,
    multi_drop: true,
    query_size: 1_000_000,
    truncate_table: true,
    transactions: true,
    vacuum: true,
    aborts_transaction_on_error: false,
};

const POSTGRES: Limits = Limits {
    alter_add_multi_col: false,
    alter_table_dropcol: false,
    group_func_extra_std: false,
    having_with_alias: false,
    insert_multi_value: false,
    load_data_infile: false,
    lock_tables: false,
    max_columns: 1000,
    max_index: 64,
    max_tables: 5000,
    max_text_size: 65000,
    query_size: 16_777_216,
    aborts_transaction_on_error: true,
    ..MYSQL
};

const SQLITE: Limits = Limits {
    alter_add_multi_col: false,
    group_func_extra_std: false,
    load_data_infile: false,
    lock_tables: false,
    max_index: 64,
    max_tables: 5000,
    multi_drop: false,
    truncate_table: false,
    vacuum: false,
    ..MYSQL
};

impl Limits {
    /// The limits of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Sqlite => SQLITE,
            Dialect::Postgres => POSTGRES,
            Dialect::Mysql | Dialect::Mariadb => MYSQL,
        }
    }
}
