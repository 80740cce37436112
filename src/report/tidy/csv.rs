//! A CSV file (RFC 4180): a row a measurement, a column a value.

use std::io::{self, Write};

use serde_json::Value;

use super::COLUMNS;
use super::rows::rows;
use crate::record::Results;

/// Writes the header and the rows of all `runs`. What was not measured is an empty field.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(out: &mut dyn Write, runs: &[Results]) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for row in runs.iter().flat_map(rows) {
        let fields = COLUMNS.map(|column| row.get(column).map_or_else(String::new, field));
        writeln!(out, "{}", fields.join(","))?;
    }
    Ok(())
}

/// A value as a field: texts are quoted where they must be.
fn field(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        assert_eq!(
            field(&Value::from("ext4_data=journal")),
            "ext4_data=journal"
        );
        assert_eq!(field(&Value::from("a, \"b\"")), "\"a, \"\"b\"\"\"");
        assert_eq!(field(&Value::from(0.25)), "0.25");
        assert_eq!(field(&Value::from(7u64)), "7");
    }
}
