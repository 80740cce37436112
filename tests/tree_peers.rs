//! Our unpack, copy and remove beside `tar x`, `cp -a` and `rm -rf`: a benchmark slower
//! than the tool people use measures itself. Run by `tests/tree-peers`, in release form,
//! on file systems of its own; alone it is ignored.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mountmark::engine::Address;
use mountmark::error::Result;
use mountmark::measure::stats::median;
use mountmark::measure::{CpuTime, DeviceCounters};
use mountmark::workload::tree::{self, Archive, Options, Order, Step, Task};
use mountmark::workload::{Bench, Event, Probe};
use nix::sys::resource::{UsageWho, getrusage};

struct Syncing(std::fs::File);

impl Probe for Syncing {
    fn device(&mut self) -> Option<DeviceCounters> {
        None
    }
    fn server_cpu(&mut self) -> Option<CpuTime> {
        None
    }
    fn server_memory(&mut self) -> Option<u64> {
        None
    }
    fn dirty_bytes(&mut self) -> Option<u64> {
        None
    }
    fn sync(&mut self) -> Result<()> {
        rustix::fs::syncfs(&self.0)?;
        Ok(())
    }
}

/// Elapsed and CPU time, seconds.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

fn ours(archive: &Archive, data: &Path, step: Step) -> Cost {
    let task = Task {
        steps: vec![step],
        copies: 2,
        archive: archive.path(),
        contents: archive.contents.clone(),
        jobs: 1,
        data: data.to_path_buf(),
    };
    let mut cost = None;
    let mut observer = |event: Event| {
        if let Event::OperationFinished(op) = event {
            cost = Some(Cost {
                wall: op.wall_ns as f64 / 1e9,
                cpu: op.client.total_ns() as f64 / 1e9,
            });
        }
        Ok(())
    };
    let mut probe = Syncing(std::fs::File::open(data).expect("the directory"));
    let mut bench = Bench::new(&Address::None, &mut probe, &mut observer, Duration::MAX);
    tree::run(&mut bench, &task).expect("the step");
    cost.expect("an operation")
}

fn children_cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("rusage");
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|t| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6)
        .sum()
}

fn peer(program: &str, args: &[&str], data: &Path) -> Cost {
    let (start, cpu) = (Instant::now(), children_cpu());
    let status = Command::new(program).args(args).current_dir(data).status();
    let cost = Cost {
        wall: start.elapsed().as_secs_f64(),
        cpu: children_cpu() - cpu,
    };
    assert!(status.expect("it starts").success(), "{program} {args:?}");
    rustix::fs::syncfs(std::fs::File::open(data).expect("the directory")).expect("syncfs");
    cost
}

fn number(name: &str, default: f64) -> f64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// One pair of each step; who comes first alternates.
fn pair(archive: &Archive, tar: &Path, dir: &Path, ours_first: bool) -> Vec<(Cost, Cost)> {
    let (a, b) = (dir.join("ours"), dir.join("theirs"));
    for dir in [&a, &b] {
        std::fs::create_dir(dir).expect("a directory");
    }
    let tar = tar.to_str().expect("utf-8");
    let steps: [(Step, &str, Vec<&str>); 3] = [
        (
            Step::Unpack,
            "tar",
            vec!["-xf", tar, "--one-top-level=unpacked"],
        ),
        (
            Step::Copy,
            "cp",
            vec!["-a", "--reflink=never", "unpacked", "copy"],
        ),
        (Step::Remove, "rm", vec!["-rf", "unpacked", "copy"]),
    ];
    let costs = steps
        .iter()
        .map(|(step, program, args)| match ours_first {
            true => (ours(archive, &a, *step), peer(program, args, &b)),
            false => {
                let theirs = peer(program, args, &b);
                (ours(archive, &a, *step), theirs)
            }
        })
        .collect();
    for dir in [&a, &b] {
        std::fs::remove_dir(dir).expect("nothing is left in it");
    }
    costs
}

#[test]
#[ignore = "takes a minute, and wants a quiet machine: run tests/tree-peers"]
fn steps_cost_no_more_than_the_tools_people_use() {
    let dir = PathBuf::from(std::env::var("TREE_PEERS_DIR").expect("TREE_PEERS_DIR"));
    let rounds = number("TREE_PEERS_ROUNDS", 7.0) as usize;
    for (workload, scale) in [
        ("small-files", number("TREE_PEERS_SMALL", 0.03)),
        ("source-tree", number("TREE_PEERS_SOURCE", 0.3)),
    ] {
        let options = Options {
            scale,
            order: Order::Generated,
            jobs: 1,
            archive: None,
        };
        let archive = Archive::make(workload, &options, Path::new("/dev/shm")).expect("an archive");
        let temp = tempfile::tempdir_in("/dev/shm").expect("a directory");
        let tar = temp.path().join("tree.tar");
        std::fs::copy(archive.path(), &tar).expect("a copy");
        let pairs: Vec<_> = (0..rounds)
            .map(|round| pair(&archive, &tar, &dir, round % 2 == 0))
            .collect();
        for (step, name) in ["unpack / tar -x", "copy / cp -a", "remove / rm -rf"]
            .iter()
            .enumerate()
        {
            let of = |pick: fn(&(Cost, Cost)) -> f64| {
                let values: Vec<f64> = pairs.iter().map(|pair| pick(&pair[step])).collect();
                median(&values).expect("rounds")
            };
            println!(
                "{workload:12} {name:16} wall {:.3} / {:.3} s = {:.2}, CPU {:.3} / {:.3} s = {:.2}",
                of(|(a, _)| a.wall),
                of(|(_, b)| b.wall),
                of(|(a, b)| a.wall / b.wall),
                of(|(a, _)| a.cpu),
                of(|(_, b)| b.cpu),
                of(|(a, b)| a.cpu / b.cpu),
            );
        }
    }
}
