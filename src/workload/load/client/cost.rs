//! What recording costs a transaction: everything that is counted when one is committed,
//! without the clock. Printed by hand:
//!
//! ```text
//! cargo test --release --lib recorder -- --ignored --nocapture
//! ```

use std::hint::black_box;
use std::sync::Arc;

use super::*;
use crate::sql::Dialect;
use crate::workload::load::Options;
use crate::workload::load::catalogue::Catalogue;
use crate::workload::load::databases::Cell;
use crate::workload::load::period::Amount;

const TRANSACTIONS: u32 = 20_000_000;

/// Latencies as they come: spread over four orders of magnitude.
fn latencies() -> Vec<Duration> {
    let mut value = 1u64;
    let mut next = || {
        value = value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Duration::from_nanos(20_000 << (value >> 60) | value >> 50)
    };
    (0..4096).map(|_| next()).collect()
}

#[test]
#[ignore = "a figure, not a check: run it by hand in release"]
fn recorder_cost_of_a_transaction() {
    let cell = Cell {
        clients: 1,
        databases: 1,
    };
    let options = Options::default();
    let catalogue = Catalogue::new(&options, cell, Dialect::Postgres).expect("a script");
    let shape = Shape {
        scheduled: false,
        timed_statements: 0,
        databases: 1,
        scripts: 1,
    };
    let rules = Rules {
        limit: None,
        reconnect: false,
        max_tries: 1,
        shape,
    };
    let mut client = Client::new(catalogue.player(0), vec![0], None, rules);
    let period = Arc::new(Period::new(Amount::default(), &[1_000, 5_000, 10_000]));
    let (alarm, pulse) = (Alarm::new().unwrap(), Pulse::default());
    let turnstile = Turnstile::new();
    let common = Common {
        period: &period,
        alarm: &alarm,
        pulse: &pulse,
        turnstile: &turnstile,
    };
    let mut tally = Tally::new(shape);
    let since = period.begin();
    let latencies = latencies();
    client.since = since;
    let start = Instant::now();
    for n in 0..TRANSACTIONS {
        let now = since + latencies[n as usize % latencies.len()];
        tally.attempted += 1;
        client.commit(common, &mut tally, black_box(now));
    }
    let ns = start.elapsed().as_nanos() as f64 / f64::from(TRANSACTIONS);
    assert_eq!(tally.committed, u64::from(TRANSACTIONS));
    assert_eq!(tally.inconsistency(), None);
    println!("recorder: {ns:.1} ns a transaction, without the clock");
}
