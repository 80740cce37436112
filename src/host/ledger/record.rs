//! The lines of a state file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Item;
use crate::error::{Context, Result};

/// What is appended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Run {
        version: u32,
        run_id: String,
        pid: u32,
    },
    Note {
        id: u64,
        item: Item,
    },
    Done {
        id: u64,
    },
}

/// A state file as read back: what was noted and not done.
pub(super) struct Record {
    pub run_id: String,
    pub pid: u32,
    pub items: Vec<Item>,
}

impl Record {
    /// `None` for a file without a complete first line.
    pub fn read(file: &mut File, path: &Path) -> Result<Option<Record>> {
        let mut text = String::new();
        file.read_to_string(&mut text)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut record = None;
        let mut items: Vec<(u64, Item)> = Vec::new();
        for line in whole.lines() {
            let line = serde_json::from_str(line).with_context(|| {
                format!(
                    "{} is not a state file of this version of mountmark",
                    path.display()
                )
            })?;
            match line {
                Line::Run { run_id, pid, .. } => record = Some((run_id, pid)),
                Line::Note { id, item } => items.push((id, item)),
                Line::Done { id } => items.retain(|(noted, _)| *noted != id),
            }
        }
        Ok(record.map(|(run_id, pid)| Record {
            run_id,
            pid,
            items: items.into_iter().map(|(_, item)| item).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    fn read(text: &str) -> Result<Option<Record>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        Record::read(&mut file, Path::new("state"))
    }

    #[test]
    fn a_torn_last_line_loses_nothing_that_was_done() {
        let run = r#"{"run":{"version":1,"run_id":"r","pid":7}}"#;
        let note = r#"{"note":{"id":0,"item":{"kind":"image","path":"/x"}}}"#;
        let whole = format!("{run}\n{note}\n");
        let record = read(&format!("{whole}{{\"done\":{{\"id")).unwrap().unwrap();
        assert_eq!((record.run_id.as_str(), record.pid), ("r", 7));
        assert_eq!(record.items, [Item::Image { path: "/x".into() }]);
        let record = read(&format!("{whole}{{\"done\":{{\"id\":0}}}}\n")).unwrap();
        assert!(record.unwrap().items.is_empty());
        assert!(read("").unwrap().is_none());
        assert!(read(&run[..20]).unwrap().is_none());
        assert!(read("nonsense\n").is_err());
    }
}
