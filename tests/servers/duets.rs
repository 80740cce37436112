//! Two loads in duet on real servers: each server is asked, at every turn, whether any of
//! its clients has something under way.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mountmark::engine::{Address, Kind, Session, connect};
use mountmark::error::{Result, ensure};
use mountmark::measure::{CpuTime, DeviceCounters};
use mountmark::workload::load::{Cell, LoadResult, Options, run};
use mountmark::workload::{BOARD_BYTES, Bench, DuetResult, Event, Gate, Probe};

use super::support::Place;

/// What both sides note in the order in which it happens: the side whose turn ends or
/// begins.
type Log = Arc<Mutex<Vec<usize>>>;

/// Asks the server each time that counters are read: before and after a turn of the other.
struct Asking {
    session: Box<dyn Session>,
    side: usize,
    log: Log,
}

impl Asking {
    /// Clients of the load that are doing something.
    fn busy(&mut self) -> usize {
        let sql = "SELECT query FROM pg_stat_activity WHERE backend_type = 'client backend' \
                   AND pid <> pg_backend_pid() AND state <> 'idle'";
        self.session.values(sql).expect("an answer").len()
    }
}

impl Probe for Asking {
    fn device(&mut self) -> Option<DeviceCounters> {
        let busy = self.busy();
        assert_eq!(busy, 0, "side {} has something under way", self.side);
        self.log.lock().unwrap().push(self.side);
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
        Ok(())
    }
}

fn play(
    (address, side): (Address, usize),
    board: std::path::PathBuf,
    log: Log,
    (options, cell): (Options, Cell),
) -> Result<(LoadResult, DuetResult)> {
    options.preload(cell).fill(&address)?;
    let duet = mountmark::workload::Duet {
        board,
        side,
        first: 0,
        slice_ns: 2_000_000,
    };
    let mut probe = Asking {
        session: connect(&address)?,
        side,
        log,
    };
    let (mut load, mut turns) = (None, None);
    let mut tell = |event: Event| {
        match event {
            Event::LoadFinished(result) => load = Some(*result),
            Event::PhaseFinished(phase) => turns = phase.duet,
            _ => {}
        }
        Ok(())
    };
    let gate = Gate::new(Some(&duet))?;
    let limit = Duration::from_secs(60);
    let mut bench = Bench::new(&address, &mut probe, &mut tell, limit).with_gate(gate);
    run(&mut bench, &options, cell)?;
    ensure!(load.is_some() && turns.is_some(), "nothing was told");
    Ok((load.unwrap(), turns.unwrap()))
}

pub fn nothing_is_under_way_when_the_turn_changes() {
    let (Some(a), Some(b)) = (Place::new(Kind::Postgres), Place::new(Kind::Postgres)) else {
        return;
    };
    let servers = [a.start(), b.start()];
    let board = tempfile::NamedTempFile::new().unwrap();
    board.as_file().set_len(BOARD_BYTES).unwrap();
    let log = Log::default();
    let options = Options {
        preload: 10,
        warmup_s: 0.1,
        tuples: Some(3000),
        threads: 3,
        ..Options::default()
    };
    let cell = Cell {
        clients: 7,
        databases: 1,
    };
    let results: Vec<(LoadResult, DuetResult)> = thread::scope(|scope| {
        let sides: Vec<_> = (0..2)
            .map(|side| {
                let address = servers[side].address();
                let (board, log) = (board.path().to_path_buf(), log.clone());
                let what = (options.clone(), cell);
                scope.spawn(move || play((address, side), board, log, what))
            })
            .collect();
        let ended = sides.into_iter().map(|side| side.join().expect("no panic"));
        ended.map(|result| result.expect("a load")).collect()
    });
    for (load, turns) in &results {
        assert_eq!((load.committed, load.threads), (3000, 3));
        assert!(turns.turns > 5, "{turns:?}");
        assert!(load.slices.len() as u64 >= turns.turns / 2);
    }
    // One reading before a pause and one after it; between the two only the other reads.
    let log = log.lock().unwrap();
    let changes = log.windows(2).filter(|w| w[0] != w[1]).count();
    assert!(changes > 10, "{log:?}");
    drop(servers);
}
