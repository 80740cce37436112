//! The original files: one a table, a line a row, values as SQL writes them except for
//! quotes inside strings.

use std::path::Path;

use super::Contents;
use super::tables::TABLES;
use crate::error::{Context, Result, bail};

/// Reads `<table>.txt` of every table in `dir`.
pub(super) fn read(dir: &Path) -> Result<Contents> {
    TABLES
        .iter()
        .map(|table| {
            let path = dir.join(format!("{}.txt", table.name));
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read the ATIS table {}", path.display()))?;
            let rows = rows(&text);
            if rows.len() as u64 != table.rows {
                bail!(
                    "{} has {} rows, expected {}; these are not the original ATIS files",
                    path.display(),
                    rows.len(),
                    table.rows
                );
            }
            Ok(rows)
        })
        .collect()
}

/// Value lists; a quote that a backslash escapes becomes two quotes, which every server
/// takes.
fn rows(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.replace("\\'", "''"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_quotes_are_doubled_and_blank_lines_skipped() {
        assert_eq!(
            rows("'A',1,'CHILDREN\\'S'\n\n'B',2,''\n"),
            ["'A',1,'CHILDREN''S'", "'B',2,''"]
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = crate::error::one_line(&read(dir.path()).unwrap_err());
        assert!(error.contains("aircraft.txt"), "{error}");
    }
}
