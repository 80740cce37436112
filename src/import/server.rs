//! The engine that a "Server version" stands for.

use crate::record::EngineRecord;

/// Kind and version out of `MySQL 10.11.19 MariaDB 0+deb12u1`.
pub(super) fn engine(server: &str) -> EngineRecord {
    let first = server.split_whitespace().next().unwrap_or_default();
    let kind = match first.to_ascii_lowercase().as_str() {
        // MariaDB's server says so behind the number.
        "mysql" if server.contains("MariaDB") => "mariadb".to_string(),
        "postgresql" => "postgres".to_string(),
        "" => "unknown".to_string(),
        other => other.to_string(),
    };
    let number = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit());
    let version = server.split_whitespace().skip(1).find(number);
    EngineRecord {
        has_server: kind != "sqlite",
        kind,
        version: version.unwrap_or_default().to_string(),
        ..EngineRecord::default()
    }
}

/// The engine as a key names it.
pub(super) fn label(engine: &EngineRecord) -> String {
    let words = [engine.kind.as_str(), engine.version.as_str(), "(imported)"];
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_name_kind_and_number() {
        for (text, expected) in [
            (
                "MySQL 10.11.19 MariaDB 0+deb12u1",
                "mariadb 10.11.19 (imported)",
            ),
            ("MySQL 3.23.41", "mysql 3.23.41 (imported)"),
            ("PostgreSQL 15", "postgres 15 (imported)"),
            ("PostgreSQL version ???", "postgres (imported)"),
            ("SQLite 3.53.2", "sqlite 3.53.2 (imported)"),
            ("Access 2000", "access 2000 (imported)"),
            ("", "unknown (imported)"),
        ] {
            assert_eq!(label(&engine(text)), expected);
        }
    }
}
