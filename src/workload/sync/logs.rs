//! The logs of databases as they write them, one commit a call.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::buffer::Aligned;
use super::calls::filled;
use super::{Scratch, Shape};

/// A WAL segment of PostgreSQL, bytes.
pub(super) const SEGMENT: u64 = 16 << 20;

type Open = fn(&Path) -> io::Result<Box<dyn Shape>>;

/// Every log, with what opens it in a directory.
pub(super) const ALL: [(&str, Open); 4] = [
    ("log postgres WAL 8K", postgres),
    ("log innodb redo 1K", innodb),
    ("log sqlite WAL 2 frames", sqlite_wal),
    ("log sqlite rollback journal", sqlite_journal),
];

/// PostgreSQL: blocks of 8 KiB one after the other through a segment that was used
/// before, `fdatasync` after each; at its end the older segment is renamed and comes next.
struct PostgresWal {
    dir: PathBuf,
    segments: [Scratch; 2],
    number: u64,
    file: File,
    at: u64,
    block: Aligned,
}

fn postgres(dir: &Path) -> io::Result<Box<dyn Shape>> {
    let segments = ["segment-0", "segment-1"].map(|name| Scratch::new(dir, name));
    for segment in &segments {
        filled(&segment.path, SEGMENT)?;
    }
    Ok(Box::new(PostgresWal {
        dir: dir.to_path_buf(),
        file: OpenOptions::new().write(true).open(&segments[0].path)?,
        segments,
        number: 1,
        at: 0,
        block: Aligned::new(8 << 10),
    }))
}

impl Shape for PostgresWal {
    fn bytes(&self) -> u64 {
        self.block.len() as u64
    }

    fn call(&mut self) -> io::Result<()> {
        if self.at == SEGMENT {
            // The one just finished is the next but one.
            self.number += 1;
            let recycled = self.dir.join(format!("segment-{}", self.number));
            let [first, second] = &mut self.segments;
            fs::rename(&first.path, &recycled)?;
            first.path = recycled;
            std::mem::swap(first, second);
            self.file = OpenOptions::new().write(true).open(&first.path)?;
            self.at = 0;
        }
        self.file.write_all_at(&self.block, self.at)?;
        self.at += self.block.len() as u64;
        self.file.sync_data()
    }
}

/// InnoDB: blocks of 512 bytes in a file of fixed size that is written round and round;
/// a commit writes the last, unfinished block again and one more, then `fsync`.
struct InnodbRedo {
    _scratch: Scratch,
    file: File,
    at: u64,
    blocks: Aligned,
}

const REDO: u64 = 8 << 20;
const REDO_BLOCK: u64 = 512;

fn innodb(dir: &Path) -> io::Result<Box<dyn Shape>> {
    let scratch = Scratch::new(dir, "redo");
    filled(&scratch.path, REDO)?;
    Ok(Box::new(InnodbRedo {
        file: OpenOptions::new().write(true).open(&scratch.path)?,
        _scratch: scratch,
        at: 0,
        blocks: Aligned::new(2 * REDO_BLOCK as usize),
    }))
}

impl Shape for InnodbRedo {
    fn bytes(&self) -> u64 {
        self.blocks.len() as u64
    }

    fn call(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.blocks, self.at)?;
        self.at += REDO_BLOCK;
        if self.at + self.bytes() > REDO {
            self.at = 0;
        }
        self.file.sync_all()
    }
}

/// SQLite's WAL: a commit appends two frames (a page and its header) and makes them
/// durable with `fdatasync`; after 1000 pages the log begins anew in the same file.
struct SqliteWal {
    _scratch: Scratch,
    file: File,
    frames: u64,
    frame: Vec<u8>,
}

const PAGE: usize = 4096;
const FRAME_HEADER: usize = 24;
const WAL_HEADER: u64 = 32;
const WAL_PAGES: u64 = 1000;

fn sqlite_wal(dir: &Path) -> io::Result<Box<dyn Shape>> {
    let scratch = Scratch::new(dir, "db-wal");
    let file = File::create_new(&scratch.path)?;
    Ok(Box::new(SqliteWal {
        file,
        _scratch: scratch,
        frames: 0,
        frame: Aligned::new(PAGE + FRAME_HEADER).to_vec(),
    }))
}

impl Shape for SqliteWal {
    fn bytes(&self) -> u64 {
        2 * self.frame.len() as u64
    }

    fn call(&mut self) -> io::Result<()> {
        if self.frames >= WAL_PAGES {
            self.frames = 0;
        }
        if self.frames == 0 {
            self.file
                .write_all_at(&self.frame[..WAL_HEADER as usize], 0)?;
        }
        for _ in 0..2 {
            let at = WAL_HEADER + self.frames * self.frame.len() as u64;
            self.file.write_all_at(&self.frame, at)?;
            self.frames += 1;
        }
        self.file.sync_data()
    }
}

/// SQLite's rollback journal: a commit makes the journal with its header and the old
/// page, makes it durable, sets the number of records and makes that and the directory
/// durable, writes the page into the database, makes it durable, and removes the journal.
struct SqliteJournal {
    _database: Scratch,
    journal: Scratch,
    dir: File,
    file: File,
    page: u64,
    record: Vec<u8>,
}

const PAGES: u64 = (1 << 20) / PAGE as u64;
const JOURNAL_HEADER: usize = 512;

fn sqlite_journal(dir: &Path) -> io::Result<Box<dyn Shape>> {
    let database = Scratch::new(dir, "db");
    filled(&database.path, PAGES * PAGE as u64)?;
    Ok(Box::new(SqliteJournal {
        file: OpenOptions::new().write(true).open(&database.path)?,
        _database: database,
        journal: Scratch::new(dir, "db-journal"),
        dir: File::open(dir)?,
        page: 0,
        record: Aligned::new(PAGE + 8).to_vec(),
    }))
}

impl Shape for SqliteJournal {
    fn bytes(&self) -> u64 {
        (JOURNAL_HEADER + self.record.len() + 12 + PAGE) as u64
    }

    fn call(&mut self) -> io::Result<()> {
        let journal = File::create_new(&self.journal.path)?;
        journal.write_all_at(&self.record[..JOURNAL_HEADER], 0)?;
        journal.write_all_at(&self.record, JOURNAL_HEADER as u64)?;
        journal.sync_data()?;
        journal.write_all_at(&self.record[..12], 0)?;
        journal.sync_data()?;
        self.dir.sync_all()?;
        let at = self.page * PAGE as u64;
        self.file.write_all_at(&self.record[..PAGE], at)?;
        self.page = (self.page + 1) % PAGES;
        self.file.sync_data()?;
        drop(journal);
        fs::remove_file(&self.journal.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_log_goes_round_and_leaves_nothing() {
        let temp = tempfile::tempdir_in("/dev/shm").unwrap();
        for (name, open) in ALL {
            let mut shape = open(temp.path()).unwrap();
            for _ in 0..4200 {
                shape.call().unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            let size: u64 = fs::read_dir(temp.path())
                .unwrap()
                .map(|e| e.unwrap().metadata().unwrap().len())
                .sum();
            assert!(size <= 2 * SEGMENT, "{name} has grown to {size}");
            drop(shape);
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0, "{name}");
        }
    }
}
