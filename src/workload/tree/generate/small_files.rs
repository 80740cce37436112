//! A million little files in a dozen directories, like the archive of a disc catalogue:
//! one record a file, named by its number.

use std::io::Write;

use super::{Packer, Pool};
use crate::error::Result;
use crate::workload::tree::random::Random;

/// Files at scale 1.
const FILES: f64 = 1_000_000.0;

/// Categories and how many of a hundred files they hold.
const CATEGORIES: [(&str, u64); 12] = [
    ("blues", 4),
    ("classical", 13),
    ("country", 3),
    ("data", 4),
    ("folk", 6),
    ("jazz", 8),
    ("misc", 21),
    ("newage", 4),
    ("reggae", 2),
    ("rock", 28),
    ("soundtrack", 4),
    ("spoken", 3),
];

const SEED: u64 = 0x736d_616c_6c66_696c;

/// Writes the archive: 1.1 GB of content at `scale` 1.
pub(in super::super) fn small_files(out: &mut impl Write, scale: f64) -> Result<()> {
    let mut random = Random::new(SEED);
    let pool = Pool::text(&mut random, 1 << 17);
    let files = ((FILES * scale).round() as u64).max(CATEGORIES.len() as u64);
    let mut packer = Packer::new(out);
    let mut content = Vec::new();
    let (mut share, mut done) = (0, 0);
    for (category, percent) in CATEGORIES {
        share += percent;
        packer.dir(category, 0o755, 1_060_000_000)?;
        let until = (files * share / 100).max(done + 1);
        for number in done..until {
            // Unlike enough to be hashed well, and no two alike: the multiplier is odd.
            let id = (number as u32).wrapping_mul(2_654_435_761);
            let name = format!("{category}/{id:08x}");
            let time = 900_000_000 + random.range(0, 160_000_000);
            let size = size(&mut random);
            pool.fill(
                &mut random,
                &format!("DISCID={id:08x}\n"),
                size,
                &mut content,
            );
            packer.file(&name, 0o644, time, &content)?;
        }
        done = until;
    }
    packer.finish()
}

/// Mostly about 1 kB, up to 2 kB; 1.1 kB on average.
fn size(random: &mut Random) -> u64 {
    match random.once_in(8) {
        true => random.range(1300, 2001),
        false => random.range(700, 1350),
    }
}
