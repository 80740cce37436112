//! Writes a made-up run of many cases, for what a report of it costs:
//! `cargo run --release --example many-cases -- DIR TARGETS PHASES LOADS ROUNDS`, then
//! `mountmark report DIR --format html -o page.html`.

#[path = "../tests/html/many.rs"]
mod many;

use std::path::Path;

use mountmark::record::load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: many-cases DIR TARGETS PHASES LOADS ROUNDS";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, targets, phases, loads, rounds] = arguments.as_slice() else {
        return Err(usage.into());
    };
    let shape = many::Shape {
        targets: targets.parse()?,
        phases: phases.parse()?,
        loads: loads.parse()?,
        rounds: rounds.parse()?,
    };
    let stored = |name: &str| load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let mixed = stored("fixtures/reports/mixed")?;
    let loads = mixed.cases.iter().find(|case| case.load.is_some());
    let loads = loads.ok_or("the stored run has no load")?;
    many::write(
        Path::new(dir),
        shape,
        &stored("bench-results/example")?,
        loads,
    );
    println!("{} cases in {dir}", shape.cases());
    Ok(())
}
