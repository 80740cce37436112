//! CREATE TABLE and its indexes in each dialect, mapped as sql-bench's server objects do.

use super::Dialect;

/// A table as the suite describes it: MySQL's spelling is the neutral one.
#[derive(Clone, Debug)]
pub struct Table {
    /// Column definitions, `id int not null`.
    pub columns: Vec<String>,
    /// `primary key (a,b)`, `unique (a,b)` or `index NAME (a)`.
    pub indexes: Vec<String>,
}

impl Table {
    /// From string slices.
    pub fn new(columns: &[&str], indexes: &[&str]) -> Self {
        Table {
            columns: columns.iter().map(ToString::to_string).collect(),
            indexes: indexes.iter().map(ToString::to_string).collect(),
        }
    }

    /// The statements that make the table under `name`, in order.
    pub fn create(&self, name: &str, dialect: Dialect) -> Vec<String> {
        match dialect {
            Dialect::Mysql | Dialect::Mariadb => {
                let parts: Vec<&str> = self.parts().collect();
                vec![format!("CREATE TABLE {name} ({})", parts.join(","))]
            }
            Dialect::Sqlite => self.create_sqlite(name),
            Dialect::Postgres => self.create_postgres(name),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().chain(&self.indexes).map(String::as_str)
    }

    /// Keys inside CREATE TABLE, plain indexes apart, named by table.
    fn create_sqlite(&self, name: &str) -> Vec<String> {
        let inside: Vec<&str> = self.parts().filter(|p| !p.starts_with("index ")).collect();
        let mut statements = vec![format!("CREATE TABLE {name} ({})", inside.join(","))];
        for index in &self.indexes {
            if let Some((own, columns)) = plain_index(index) {
                statements.push(format!("CREATE INDEX {name}_{own} ON {name} {columns}"));
            }
        }
        statements
    }

    /// Columns only, with mapped types; every key and index is an index of its own,
    /// `<table>_index_`, `<table>_index_1`, …: there is no primary key constraint.
    fn create_postgres(&self, name: &str) -> Vec<String> {
        let columns: Vec<String> = self.columns.iter().map(|c| postgres_column(c)).collect();
        let mut statements = vec![format!("CREATE TABLE {name} ({})", columns.join(","))];
        for (n, index) in self.indexes.iter().enumerate() {
            let (unique, columns) = match plain_index(index) {
                Some((_, columns)) => ("", columns),
                None => ("UNIQUE ", index.find('(').map_or("", |at| &index[at..])),
            };
            let number = if n == 0 { String::new() } else { n.to_string() };
            statements.push(format!(
                "CREATE {unique}INDEX {name}_index_{number} ON {name} {columns}"
            ));
        }
        statements
    }
}

/// `index NAME (a,b)` into its name and column list.
fn plain_index(definition: &str) -> Option<(&str, &str)> {
    let rest = definition.strip_prefix("index ")?;
    let at = rest.find('(')?;
    Some((rest[..at].trim(), &rest[at..]))
}

/// The type mapping of the suite's PostgreSQL object, first occurrence per column.
fn postgres_column(column: &str) -> String {
    let Some((name, rest)) = column.split_once(' ') else {
        return column.to_string();
    };
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let (kind, tail) = rest.split_at(end);
    let without_width = || match tail.strip_prefix('(').and_then(|t| t.split_once(')')) {
        Some((_, after)) => after,
        None => tail,
    };
    match kind.to_ascii_lowercase().as_str() {
        "tinyint" | "smallint" | "mediumint" | "integer" | "int" => {
            format!("{name} int{}", without_width())
        }
        "float" | "double" => format!("{name} float{}", without_width()),
        "blob" => format!("{name} text{tail}"),
        _ => column.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench1() -> Table {
        Table::new(
            &[
                "id int(9) NOT NULL",
                "small tinyint",
                "f float(6,2)",
                "c char(30)",
                "b blob",
            ],
            &["primary key (id,small)", "index ix_f (f)"],
        )
    }

    #[test]
    fn mysql_takes_the_definition_as_it_stands() {
        assert_eq!(
            bench1().create("t", Dialect::Mariadb),
            [
                "CREATE TABLE t (id int(9) NOT NULL,small tinyint,f float(6,2),c char(30),b blob,primary key (id,small),index ix_f (f))"
            ]
        );
    }

    #[test]
    fn postgres_maps_types_and_makes_every_key_an_index() {
        assert_eq!(
            bench1().create("t", Dialect::Postgres),
            [
                "CREATE TABLE t (id int NOT NULL,small int,f float,c char(30),b text)",
                "CREATE UNIQUE INDEX t_index_ ON t (id,small)",
                "CREATE INDEX t_index_1 ON t (f)"
            ]
        );
    }

    #[test]
    fn sqlite_keeps_keys_inside_and_names_indexes_by_table() {
        let statements = bench1().create("t", Dialect::Sqlite);
        assert_eq!(statements.len(), 2);
        assert!(statements[0].ends_with("primary key (id,small))"));
        assert_eq!(statements[1], "CREATE INDEX t_ix_f ON t (f)");
    }
}
