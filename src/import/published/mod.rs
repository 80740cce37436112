//! Published tables, as tidy CSV: a line a figure, under a head of comments that say what was
//! studied and what is to be known of it. They become a run like any other, of one round.
//!
//! Columns, in any order: `workload`, `target`, `figure` and `value`; where there are such
//! axes `engine`, `memory`, `settings` (`NAME=VALUE`, blanks between several), `clients`,
//! `databases`; and `step`, of a workload that has several. Figures: `seconds` (until
//! returned), `user seconds`, `system seconds`, `tps at N`, and `note`, whose value is text.

mod cases;
mod csv;

use std::path::Path;

use super::assemble;
use super::{Bad, Imported, Options, names};
use crate::record::{ImportedRecord, PublishedRecord};

/// A published table, read.
#[derive(Debug)]
pub(super) struct Table {
    study: PublishedRecord,
    cases: Vec<cases::Case>,
}

/// True for the text of a published table.
pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_comment(line));
    let columns = lines.next().map(csv::fields);
    columns.is_some_and(|columns| {
        ["workload", "target", "figure", "value"]
            .iter()
            .all(|name| columns.as_ref().is_ok_and(|c| c.iter().any(|c| c == name)))
    })
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

impl Table {
    /// Reads `text`, for which [`is_one`] is true; also gives the lines that cannot be read.
    pub fn read(text: &str) -> (Self, Vec<Bad>) {
        let mut study = PublishedRecord::default();
        let mut bad = Vec::new();
        let mut rows = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            match line.strip_prefix('#') {
                Some(comment) => bad.extend(said(&mut study, comment).map(|why| (number, why))),
                None if line.trim().is_empty() => {}
                None => rows.push((number, line)),
            }
        }
        let (cases, wrong) = cases::read(&rows);
        bad.extend(wrong);
        bad.sort();
        (Table { study, cases }, bad)
    }

    /// The run that it makes, told of as `path`.
    pub fn run(self, path: &Path, options: &Options) -> Imported {
        let cases: Vec<_> = self.cases.into_iter().map(cases::Case::record).collect();
        let file = ImportedRecord {
            file: names::file_name(path),
            ..ImportedRecord::default()
        };
        let mut run = assemble::blank(&cases, vec![file], options);
        run.published = Some(self.study);
        run.plan.profile = "published".to_string();
        Imported {
            run,
            cases,
            faults: Vec::new(),
        }
    }
}

/// Takes up what a comment of the head says; a reason where it says nothing known.
fn said(study: &mut PublishedRecord, comment: &str) -> Option<String> {
    let (word, text) = comment.split_once(':')?;
    let text = text.trim().to_string();
    match word.trim() {
        "study" => study.study = text,
        "note" => study.notes.push(text),
        "objection" => study.objections.push(text),
        "today" => match text.split_once(" = ") {
            Some((today, label)) => {
                let label = label.trim().to_string();
                study.today.insert(today.trim().to_string(), label);
            }
            None => return Some("write '# today: LABEL OF TODAY = LABEL OF THE STUDY'".into()),
        },
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;

    const TEXT: &str = "\
# study: a study
# note: how
# objection: one run
# today: ext3_defaults = ext3_data=ordered
# today: nothing
# a remark: with a colon

workload,target,engine,memory,settings,databases,step,figure,value
insert,\"ext3_data=ordered,extents\",mysql,64M,,,,seconds,12.5
insert,ext2_defaults,mysql,64M,,,,seconds,ten
load,ext2_defaults,postgres,,wal_sync_method=fsync,256,,tps at 1000,20
load,ext2_defaults,postgres,,wal_sync_method=fsync,256,,seconds,110
load,ext2_defaults,postgres,,wal_sync_method=fsync,256,,note,\"by eye, twice\"
small-files,xfs_defaults,,,machine=K7 7200rpm,,remove,seconds,5
small-files,xfs_defaults,,,machine=K7 7200rpm,,remove,user seconds,1
small-files,xfs_defaults,,,machine=K7 7200rpm,,remove,system seconds,2
small-files,xfs_defaults,,,,,remove,colour,1
small-files,xfs_defaults
";

    #[test]
    fn a_table_becomes_cases_and_its_faults_are_told() {
        assert!(is_one(TEXT) && !is_one("a,b\n1,2\n") && !is_one(""));
        let (table, bad) = Table::read(TEXT);
        let lines: Vec<usize> = bad.iter().map(|b| b.0).collect();
        assert_eq!(lines, [5, 10, 17, 18], "{bad:?}");
        let options = Options::default();
        let Imported { run, cases, .. } = table.run(Path::new("dir/study.csv"), &options);
        let study = run.published.unwrap();
        assert_eq!((study.study.as_str(), study.notes.len()), ("a study", 1));
        assert_eq!(study.label("ext3_defaults"), "ext3_data=ordered");
        assert_eq!(run.imported[0].file, "study.csv");
        assert_eq!(cases.len(), 3);
        assert!(cases.iter().all(|c| c.outcome == Outcome::Measured));
        let insert = &cases[0];
        assert_eq!(insert.case.target, "ext3_data=ordered,extents");
        assert_eq!(insert.case.memory_bytes, Some(64 << 20));
        let ends = insert.phases[0].ends.unwrap();
        assert_eq!(ends.returned.wall_ns, 12_500_000_000);
        assert!(ends.flushed.is_none() && ends.settled.is_none());
        let load = cases[1].load.as_ref().unwrap();
        assert_eq!(load.checkpoints[0].elapsed_ns, 50_000_000_000);
        assert_eq!((load.committed, load.wall_ns), (1000, 110_000_000_000));
        assert_eq!(cases[1].case.load.unwrap().databases, 256);
        assert_eq!(cases[1].case.settings["wal_sync_method"], "fsync");
        assert_eq!(cases[1].remarks, ["ext2_defaults: by eye, twice"]);
        let archive = &cases[2];
        assert_eq!(archive.case.settings["machine"], "K7 7200rpm");
        assert_eq!(archive.phases[0].name, "remove");
        assert_eq!(archive.phases[0].client.unwrap().user_ns, 1_000_000_000);
    }
}
