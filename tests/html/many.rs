//! Made-up runs of many cases, for what a report of them costs: each case is one of a real
//! run with another key and other times, so that its size is real.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use mountmark::record::*;

/// How many cases of what.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// File systems.
    pub targets: usize,
    /// Phases on each.
    pub phases: usize,
    /// Numbers of clients of a load on each.
    pub loads: usize,
    /// Rounds of all of them.
    pub rounds: u32,
}

impl Shape {
    /// Stored cases.
    pub fn cases(&self) -> usize {
        self.targets * (self.phases + self.loads) * self.rounds as usize
    }
}

/// Numbers that look like noise and are the same every time (an LCG of Knuth's).
struct Noise(u64);

impl Noise {
    /// Near to 1.
    fn factor(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        0.95 + 0.1 * ((self.0 >> 33) as f64 / f64::from(1u32 << 31))
    }
}

/// Writes the run into the new directory `dir`, its cases made of those of `model` and its
/// loads of `load`.
pub fn write(dir: &Path, shape: Shape, model: &Results, load: &CaseRecord) {
    fs::create_dir_all(dir).expect("a directory");
    let keys = keys(shape, &model.cases[0].case);
    let mut run = model.run.clone();
    run.id = dir
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    run.plan.rounds = shape.rounds;
    run.plan.units = Vec::new();
    run.plan.order = vec![(0..keys.len()).collect(); shape.rounds as usize];
    run.plan.cases = keys;
    run.plan.load = shape.loads.gt(&0).then(plan);
    let file = File::create(dir.join("run.json")).expect("a file");
    serde_json::to_writer(file, &run).expect("json");
    let file = File::create(dir.join("cases.jsonl")).expect("a file");
    let mut out = BufWriter::new(file);
    let mut noise = Noise(1);
    for round in 0..shape.rounds {
        for (number, key) in run.plan.cases.iter().enumerate() {
            let mut case = match key.load {
                None => model.cases[number % model.cases.len()].clone(),
                Some(_) => load.clone(),
            };
            case.round = round;
            case.case = key.clone();
            case.duet = None;
            let factor = noise.factor() * (1.0 + (number % 7) as f64 / 20.0);
            slow_down(&mut case, factor);
            serde_json::to_writer(&mut out, &case).expect("json");
            out.write_all(b"\n").expect("written");
        }
    }
    out.flush().expect("written");
}

fn keys(shape: Shape, model: &KeyRecord) -> Vec<KeyRecord> {
    let mut keys = Vec::new();
    for target in 0..shape.targets {
        let key = KeyRecord {
            target: format!("ext4_commit={}", target + 1),
            replicate: 0,
            load: None,
            ..model.clone()
        };
        keys.extend((0..shape.phases).map(|phase| KeyRecord {
            workload: format!("phase{phase}"),
            ..key.clone()
        }));
        keys.extend((0..shape.loads).map(|n| KeyRecord {
            workload: "load".to_string(),
            load: Some(LoadKeyRecord {
                clients: 1 << (n % 10),
                databases: 1 + n as u32 / 10,
            }),
            ..key.clone()
        }));
    }
    keys
}

fn plan() -> LoadPlanRecord {
    LoadPlanRecord {
        keys: None,
        scripts: vec![("insert".to_string(), 1)],
        mode: "simple".to_string(),
        preload: 70_000,
        scale: 1,
        threads: 0,
        transactions: None,
        seconds: Some(60.0),
        tuples: None,
        warmup_s: 1.0,
        rate: None,
        limit_ms: None,
        reconnect: false,
        max_tries: 1,
        define: Vec::new(),
    }
}

fn slow_down(case: &mut CaseRecord, factor: f64) {
    let longer = |ns: &mut u64| *ns = (*ns as f64 * factor) as u64;
    for phase in &mut case.phases {
        phase.name.clone_from(&case.case.workload);
        if let Some(ends) = &mut phase.ends {
            longer(&mut ends.returned.wall_ns);
            ends.flushed
                .iter_mut()
                .for_each(|end| longer(&mut end.wall_ns));
            ends.settled
                .iter_mut()
                .for_each(|end| longer(&mut end.wall_ns));
        }
        phase
            .operations
            .iter_mut()
            .for_each(|o| longer(&mut o.wall_ns));
    }
    if let Some(load) = &mut case.load {
        longer(&mut load.wall_ns);
        load.checkpoints
            .iter_mut()
            .for_each(|c| longer(&mut c.elapsed_ns));
        load.progress.iter_mut().for_each(|p| longer(&mut p.0));
    }
}
