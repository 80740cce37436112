//! A tree like that of a large C++ project after its build: sources of many components
//! some levels deep, headers that are linked into one place, an object a source, static
//! libraries and few large shared ones.

use std::io::Write;

use super::{Packer, Pool};
use crate::error::Result;
use crate::workload::tree::random::Random;

/// Bytes at scale 1.
const BYTES: f64 = 295e6;

/// Of a hundred bytes, how many are sources; objects follow from them, libraries take
/// the rest.
const SOURCES: u64 = 38;

const PARTS: &[&str] = &[
    "browser",
    "content",
    "db",
    "dom",
    "editor",
    "extensions",
    "gfx",
    "intl",
    "js",
    "layout",
    "mailnews",
    "netwerk",
    "security",
    "toolkit",
    "widget",
    "xpcom",
];

const SEED: u64 = 0x736f_7572_6365_7472;

/// When the sources were checked out, and when the build began.
const CHECKOUT: u64 = 1_040_000_000;
const BUILD: u64 = 1_105_000_000;

/// Writes the archive: 295 MB of content at `scale` 1.
pub(in super::super) fn source_tree(out: &mut impl Write, scale: f64) -> Result<()> {
    let mut random = Random::new(SEED);
    let text = Pool::text(&mut random, 1 << 18);
    let code = Pool::code(&mut random, 1 << 20);
    let mut tree = Tree {
        packer: Packer::new(out),
        random,
        text,
        content: Vec::new(),
        written: 0,
        objects: Vec::new(),
        links: Vec::new(),
    };
    let bytes = (BYTES * scale) as u64;
    let mut number = 0;
    while tree.written < bytes * SOURCES / 100 {
        tree.component(number)?;
        number += 1;
    }
    tree.dist()?;
    tree.text = code;
    tree.build(bytes)?;
    tree.packer.finish()
}

struct Tree<W: Write> {
    packer: Packer<W>,
    random: Random,
    /// What files are cut from.
    text: Pool,
    content: Vec<u8>,
    written: u64,
    objects: Vec<String>,
    /// Link and target.
    links: Vec<(String, String)>,
}

impl<W: Write> Tree<W> {
    /// A component: headers, sources, tests, scripts.
    fn component(&mut self, number: usize) -> Result<()> {
        // Each part is begun early, so that small trees have all of them.
        let part = match PARTS.get(number) {
            Some(part) => part,
            None => self.random.pick(PARTS),
        };
        let dir = format!("{part}/component{number}");
        let mut sources = format!("{dir}/src");
        if self.random.once_in(5) {
            for below in ["base", "platform", "unix"] {
                sources = format!("{sources}/{below}");
            }
        }
        self.source(&format!("{dir}/Makefile.in"), 9, 12, 0o644)?;
        for i in 0..self.random.range(3, 9) {
            let header = format!("{dir}/public/nsI{part}{number}x{i}.h");
            let mode = if self.random.once_in(10) {
                0o444
            } else {
                0o644
            };
            self.source(&header, 9, 14, mode)?;
            let link = format!("dist/include/{part}/nsI{part}{number}x{i}.h");
            self.links.push((link, format!("../../../{header}")));
        }
        for i in 0..self.random.range(6, 21) {
            let name = format!("{sources}/ns{part}{number}x{i}");
            self.source(&format!("{name}.cpp"), 9, 16, 0o644)?;
            self.objects.push(format!("obj/{name}.o"));
        }
        for i in 0..self.random.range(0, 6) {
            self.source(&format!("{dir}/tests/test{i}.html"), 8, 12, 0o644)?;
        }
        if self.random.once_in(3) {
            self.source(&format!("{dir}/build/prepare.sh"), 8, 11, 0o755)?;
        }
        Ok(())
    }

    /// A text of 2^from to 2^to bytes, each octave as likely as the others.
    fn source(&mut self, path: &str, from: u64, to: u64, mode: u32) -> Result<()> {
        let time = CHECKOUT + self.random.range(0, 60_000_000);
        let size = self.octaves(from, to);
        self.file(path, mode, time, size)
    }

    fn octaves(&mut self, from: u64, to: u64) -> u64 {
        let least = 1 << self.random.range(from, to);
        least + self.random.range(0, least)
    }

    fn file(&mut self, path: &str, mode: u32, time: u64, size: u64) -> Result<()> {
        if let Some((dir, _)) = path.rsplit_once('/') {
            self.packer.dir(dir, 0o755, time)?;
        }
        let head = format!("/* {path} */\n");
        self.text
            .fill(&mut self.random, &head, size, &mut self.content);
        self.written += size;
        self.packer.file(path, mode, time, &self.content)
    }

    /// The headers in one place, as links.
    fn dist(&mut self) -> Result<()> {
        for (number, (link, target)) in std::mem::take(&mut self.links).iter().enumerate() {
            let time = BUILD + number as u64 / 64;
            if let Some((dir, _)) = link.rsplit_once('/') {
                self.packer.dir(dir, 0o775, time)?;
            }
            self.packer.symlink(link, target, time)?;
        }
        Ok(())
    }

    /// Objects, then libraries until `bytes` are reached.
    fn build(&mut self, bytes: u64) -> Result<()> {
        let mut time = BUILD + 300;
        for (number, object) in std::mem::take(&mut self.objects).iter().enumerate() {
            time += u64::from(number % 3 == 0);
            let size = self.octaves(10, 16);
            self.file(object, 0o644, time, size)?;
        }
        let left = bytes.saturating_sub(self.written);
        for part in PARTS {
            time += 2;
            let size = left / 2 / PARTS.len() as u64;
            self.file(&format!("dist/lib/lib{part}.a"), 0o644, time, size)?;
        }
        for name in ["core", "gecko", "mail", "ui"] {
            time += 30;
            let path = format!("dist/bin/lib{name}.so");
            self.file(&path, 0o755, time, left / 8)?;
        }
        Ok(())
    }
}
