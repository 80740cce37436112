//! `bench-results/<run-id>/run.json` and `cases.jsonl`: one synced line a finished case
//! and round, so that a crash loses at most the case it happened in.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::schema::{CaseRecord, FORMAT, Outcome, RunRecord};
use crate::error::{Context, Result, bail, usage};

const RUN: &str = "run.json";
const CASES: &str = "cases.jsonl";

/// A run being written.
pub struct Store {
    dir: PathBuf,
    run: RunRecord,
    cases: File,
}

impl Store {
    /// Makes the directory of the run and writes its `run.json`.
    ///
    /// # Errors
    /// When the directory exists or cannot be written.
    pub fn create(results: &Path, run: RunRecord) -> Result<Self> {
        let dir = results.join(&run.id);
        let failed = || {
            format!(
                "cannot store results in {}; choose another place with --results",
                dir.display()
            )
        };
        fs::create_dir_all(results).with_context(failed)?;
        fs::create_dir(&dir).with_context(failed)?;
        let cases = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(dir.join(CASES))
            .with_context(failed)?;
        write_run(&dir, &run).with_context(failed)?;
        Ok(Store { dir, run, cases })
    }

    /// Opens a stored run to add to it; `run` is what its `run.json` says now. A last
    /// line that a crash left half-written stays as it is, and a new one begins after it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(dir: &Path, run: RunRecord) -> Result<Self> {
        let path = dir.join(CASES);
        let failed = || format!("cannot add to {}", path.display());
        let mut cases = OpenOptions::new()
            .append(true)
            .read(true)
            .open(&path)
            .with_context(failed)?;
        let length = cases.metadata().with_context(failed)?.len();
        let mut last = [b'\n'];
        if length > 0 {
            cases
                .read_exact_at(&mut last, length - 1)
                .with_context(failed)?;
        }
        if last != [b'\n'] {
            cases.write_all(b"\n").with_context(failed)?;
        }
        Ok(Store {
            dir: dir.to_path_buf(),
            run,
            cases,
        })
    }

    /// The run's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Adds a finished case and syncs it.
    ///
    /// # Errors
    /// When it cannot be saved.
    pub fn append(&mut self, case: &CaseRecord) -> Result<()> {
        let failed = || format!("cannot save the case to {}", self.dir.join(CASES).display());
        let mut line = serde_json::to_vec(case).with_context(failed)?;
        line.push(b'\n');
        self.cases
            .write_all(&line)
            .and_then(|()| self.cases.sync_data())
            .with_context(failed)
    }

    /// Changes `run.json` (its end, a remark found out later); replaced as a whole.
    ///
    /// # Errors
    /// When it cannot be saved.
    pub fn update(&mut self, change: impl FnOnce(&mut RunRecord)) -> Result<()> {
        change(&mut self.run);
        write_run(&self.dir, &self.run)
            .with_context(|| format!("cannot save {}", self.dir.join(RUN).display()))
    }
}

fn write_run(dir: &Path, run: &RunRecord) -> Result<()> {
    let new = dir.join(".run.json.new");
    let mut file = File::create(&new)?;
    serde_json::to_writer_pretty(&mut file, run)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&new, dir.join(RUN))?;
    File::open(dir)?.sync_all()?;
    Ok(())
}

/// A run as read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The run.
    pub run: RunRecord,
    /// Its cases, in the order they were measured.
    pub cases: Vec<CaseRecord>,
    /// What could not be read, in words.
    pub damage: Vec<String>,
}

/// Reads the run in `dir`.
///
/// # Errors
/// No run there, or one in a newer format. A line that cannot be read is told in
/// `damage`; the others are kept.
pub fn load(dir: &Path) -> Result<Results> {
    let path = dir.join(RUN);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("there is no run in {}", dir.display()))?;
    let run: RunRecord = parse(&text).with_context(|| path.display().to_string())?;
    let mut results = Results {
        run,
        cases: Vec::new(),
        damage: Vec::new(),
    };
    let mut interrupted = 0;
    let path = dir.join(CASES);
    let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read {}", path.display()))?;
        if line.trim().is_empty() {
            continue;
        }
        match parse(&line) {
            Ok(case) => supersede(&mut results.cases, &mut interrupted, case),
            Err(error) => results.damage.push(format!(
                "{}:{}: {}",
                path.display(),
                number + 1,
                crate::error::one_line(&error)
            )),
        }
    }
    Ok(results)
}

/// Adds a case; one that had been interrupted gives way to it, measured later.
/// `interrupted` counts those that are still there.
fn supersede(cases: &mut Vec<CaseRecord>, interrupted: &mut usize, case: CaseRecord) {
    let is = |old: &CaseRecord| matches!(old.outcome, Outcome::Interrupted { .. });
    if *interrupted > 0 {
        let before = cases.len();
        cases.retain(|old| !is(old) || (old.round, &old.case) != (case.round, &case.case));
        *interrupted -= before - cases.len();
    }
    *interrupted += usize::from(is(&case));
    cases.push(case);
}

/// A record with its format.
trait Record: serde::de::DeserializeOwned {
    fn format(&self) -> u32;
}

impl Record for RunRecord {
    fn format(&self) -> u32 {
        self.format
    }
}

impl Record for CaseRecord {
    fn format(&self) -> u32 {
        self.format
    }
}

#[derive(serde::Deserialize)]
struct Versioned {
    format: u32,
}

/// Reads a record; looks at the format alone where it cannot, as a newer one may differ.
fn parse<T: Record>(text: &str) -> Result<T> {
    const NOT_OURS: &str = "not a record of mountmark";
    let read = serde_json::from_str::<T>(text);
    let format = match &read {
        Ok(record) => record.format(),
        Err(_) => {
            let versioned: Versioned = serde_json::from_str(text).context(NOT_OURS)?;
            versioned.format
        }
    };
    if format > FORMAT {
        bail!("record format {format} is newer than this mountmark reads ({FORMAT})");
    }
    read.context(NOT_OURS)
}

/// The directories of all runs in `results`, oldest first.
///
/// # Errors
/// When the directory cannot be read; an absent one has no runs.
pub fn runs(results: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(results) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.with_context(|| format!("cannot read {}", results.display()))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join(RUN).is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The newest run in `results`.
///
/// # Errors
/// When there is none.
pub fn newest(results: &Path) -> Result<PathBuf> {
    runs(results)?.pop().ok_or_else(|| {
        usage(format!(
            "there is no run in {}; make one with 'mountmark run', or name its place with --results",
            results.display()
        ))
    })
}
