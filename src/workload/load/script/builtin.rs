//! The scripts that need no file: pgbench's and sysbench's, and one tuple a transaction.

use super::error::ScriptError;
use super::keys::Keys;
use super::mix::Values;
use super::program::Program;
use crate::sql::Dialect;

/// The tables that a built-in script works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Schema {
    /// `tuples (client, number, note)`, which only grows.
    Tuples,
    /// pgbench's four; for each unit of scale 1 branch, 10 tellers and 100,000 accounts,
    /// numbered from 1, balances 0; the bid of teller t is (t - 1) / 10 + 1, that of
    /// account a is (a - 1) / 100000 + 1.
    Pgbench,
    /// `sbtest1` to `sbtest<tables>`, each with `table_size` rows: id from 1 on, k random in
    /// 1 to table_size, c and pad random digits in groups (see [`Schema::C`]).
    Sysbench,
}

impl Schema {
    /// What sysbench's column c holds; `#` stands for a random digit.
    pub const C: &str = "###########-###########-###########-###########-###########-\
                         ###########-###########-###########-###########-###########";
    /// What sysbench's column pad holds.
    pub const PAD: &str = "###########-###########-###########-###########-###########";

    fn text(self) -> &'static str {
        match self {
            Schema::Tuples => include_str!("../../../../sql/load/insert.schema.sql"),
            Schema::Pgbench => include_str!("../../../../sql/load/pgbench.schema.sql"),
            Schema::Sysbench => include_str!("../../../../sql/load/sysbench.schema.sql"),
        }
    }

    /// The statements that make the tables, in order, without semicolons; indexes that
    /// are better made after the rows come last, and begin with `CREATE INDEX`.
    pub fn statements(self, dialect: Dialect, tables: u32) -> Vec<String> {
        let id_type = match dialect {
            Dialect::Postgres => "SERIAL",
            Dialect::Mysql | Dialect::Mariadb => "INTEGER AUTO_INCREMENT",
            Dialect::Sqlite => "INTEGER",
        };
        let lines = self.text().lines().filter(|line| !line.starts_with("--"));
        let lines = lines.map(|line| line.trim_end_matches(';').replace(":id_type", id_type));
        let (indexes, creates): (Vec<_>, Vec<_>) =
            lines.partition(|line| line.starts_with("CREATE INDEX"));
        let all = creates.into_iter().chain(indexes);
        all.flat_map(|line| {
            let copies = if line.contains(TABLE) { tables } else { 1 };
            (1..=copies).map(move |table| line.replace(TABLE, &table.to_string()))
        })
        .collect()
    }
}

const TABLE: &str = ":table";

/// A script that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// As `-b` takes it.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// The tables that it works on.
    pub schema: Schema,
    /// True where two clients can insert the same key: a duplicate key then means "try
    /// again", as it does in sysbench.
    pub retries_duplicates: bool,
    text: &'static str,
}

macro_rules! builtins {
    ($($name:literal $schema:ident $retries:literal $about:literal,)*) => {
        &[$(Builtin {
            name: $name,
            about: $about,
            schema: Schema::$schema,
            retries_duplicates: $retries,
            text: include_str!(concat!("../../../../sql/load/", $name, ".sql")),
        }),*]
    };
}

/// Every built-in script.
pub const BUILTINS: &[Builtin] = builtins![
    "insert" Tuples false "one tuple a transaction",
    "tpcb-like" Pgbench false "pgbench's: three updates, a select, an insert",
    "simple-update" Pgbench false "pgbench's: tpcb-like without tellers and branches",
    "select-only" Pgbench false "pgbench's: one account by its key",
    "oltp_point_select" Sysbench false "sysbench's: one row by its key",
    "oltp_read_only" Sysbench false "sysbench's: ten keys and four ranges",
    "oltp_read_write" Sysbench true "sysbench's: reads, two updates, a delete, an insert",
    "oltp_write_only" Sysbench true "sysbench's: two updates, a delete, an insert",
    "oltp_insert" Sysbench false "sysbench's: one row more",
    "oltp_update_index" Sysbench false "sysbench's: an indexed column of one row",
    "oltp_update_non_index" Sysbench false "sysbench's: a column without index of one row",
    "oltp_delete" Sysbench false "sysbench's: one row by its key, if there",
];

impl Builtin {
    /// By its name, or by the beginning of it that no other shares.
    ///
    /// # Errors
    /// There is none of that name, or more than one begins so.
    pub fn named(name: &str) -> Result<&'static Builtin, ScriptError> {
        if let Some(found) = BUILTINS.iter().find(|b| b.name == name) {
            return Ok(found);
        }
        let similar: Vec<_> = BUILTINS
            .iter()
            .filter(|b| !name.is_empty() && b.name.starts_with(name))
            .collect();
        let all = |of: &mut dyn Iterator<Item = &Builtin>| {
            let names: Vec<_> = of.map(|b| b.name).collect();
            names.join(", ")
        };
        match similar[..] {
            [one] => Ok(one),
            [] => Err(ScriptError::whole(
                name,
                format!("no such script; one of: {}", all(&mut BUILTINS.iter())),
            )),
            _ => Err(ScriptError::whole(
                name,
                format!(
                    "more than one script begins so: {}",
                    all(&mut similar.into_iter())
                ),
            )),
        }
    }

    /// The variables that the script needs and nothing sets, with their defaults, to be
    /// given as `-D` are.
    pub fn defaults(&self) -> &'static [(&'static str, &'static str)] {
        match self.schema {
            Schema::Tuples | Schema::Pgbench => &[],
            Schema::Sysbench => &[
                ("tables", "1"),
                ("table_size", "10000"),
                ("range_size", "100"),
            ],
        }
    }

    /// The script in its language, for tables numbered up to `tables`; sysbench's draw
    /// their `keys` so.
    ///
    /// A table's number cannot be a parameter, so for [`Values::AsParams`] each statement
    /// is written once for each table.
    pub fn text(&self, values: Values, tables: u32, keys: &Keys) -> String {
        let text = match self.schema {
            Schema::Sysbench => keys.apply(self.text),
            Schema::Tuples | Schema::Pgbench => self.text.to_string(),
        };
        match values {
            Values::InText => text,
            Values::AsParams => for_each_table(&text, tables),
        }
    }

    /// The compiled script.
    ///
    /// # Errors
    /// None in practice: the texts are tested.
    pub fn program(
        &self,
        values: Values,
        tables: u32,
        keys: &Keys,
    ) -> Result<Program, ScriptError> {
        Program::parse(self.name, &self.text(values, tables, keys))
    }
}

/// Puts lines that name a numbered table into an `\if` with a branch for each.
fn for_each_table(text: &str, tables: u32) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let is_numbered = |line: &&str| line.contains("sbtest:table");
    for run in lines.chunk_by(|a, b| is_numbered(a) == is_numbered(b)) {
        let run = run.join("\n") + "\n";
        if !is_numbered(&run.as_str()) {
            out.push_str(&run);
            continue;
        }
        for table in 1..=tables {
            if tables > 1 {
                let word = if table == 1 { "if" } else { "elif" };
                out.push_str(&format!("\\{word} :table = {table}\n"));
            }
            out.push_str(&run.replace(TABLE, &table.to_string()));
        }
        if tables > 1 {
            out.push_str("\\endif\n");
        }
    }
    out
}
