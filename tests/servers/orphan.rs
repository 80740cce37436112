//! SIGKILL of the process that started a server leaves nothing of the server.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mountmark::engine::Kind;

use crate::support::{Place, alive, assert_gone, engine, launch_in, session};

const CHILD: &str = "MOUNTMARK_TEST_CHILD";

/// The parent part starts the test's own binary with the same test, which then plays
/// the tool that is killed while a statement runs.
pub fn outlives_nobody(kind: Kind) {
    if let Some(dir) = std::env::var_os(CHILD) {
        play_the_tool(kind, Path::new(&dir));
    }
    let Some(place) = Place::new(kind) else {
        return;
    };
    let mut tool = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            &format!("{kind}::outlives_nobody"),
        ])
        .env(CHILD, place.dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pids = BufReader::new(tool.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("pids ")?.1.to_string()));
    let pids = pids.expect("the tool told its server's processes");
    let pids: Vec<u32> = pids.split(' ').map(|p| p.parse().unwrap()).collect();
    assert!(pids.iter().all(|pid| alive(*pid)), "{pids:?}");
    tool.kill().unwrap();
    tool.wait().unwrap();
    assert_gone(&pids);
}

fn play_the_tool(kind: Kind, dir: &Path) -> ! {
    let engine = engine(kind).expect("the server that the parent found");
    let launch = launch_in(dir, engine.as_ref(), &[]);
    let server = engine.launch(&launch).expect("a server");
    let address = server.address();
    std::thread::spawn(move || {
        let mut busy = mountmark::engine::connect(&address).unwrap();
        busy.fetch(match kind {
            Kind::Postgres => "SELECT count(*) FROM generate_series(1, 100000000000)",
            _ => "SELECT benchmark(100000000000, md5('x'))",
        })
    });
    drop(session(server.as_ref()));
    std::thread::sleep(Duration::from_millis(300));
    let pids: Vec<String> = server.pids().iter().map(u32::to_string).collect();
    println!("pids {}", pids.join(" "));
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
