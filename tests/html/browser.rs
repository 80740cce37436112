//! What a browser makes of the page: headless Chromium, which writes what it measured into
//! a page around it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::common::{Place, required};
use super::{fixture, page};

/// The browser, if it is here; where it must be, its absence fails.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("MOUNTMARK_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| {
        std::env::split_paths(&path)
            .map(|dir| dir.join("chromium"))
            .find(|file| file.is_file())
    });
    if found.is_none() {
        assert!(!required("chromium"), "chromium is required here");
        eprintln!("SKIPPED: there is no chromium; name one in MOUNTMARK_CHROMIUM");
    }
    found
}

/// What is measured of a page in a frame.
const MEASURE: &str = r#"
function luminance(color) {
  const part = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const [r, g, b] = color.match(/[\d.]+/g).map(Number);
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}
function measured(frame) {
  const doc = frame.contentDocument, root = doc.documentElement;
  const style = frame.contentWindow.getComputedStyle(doc.body);
  const paper = luminance(style.backgroundColor), ink = luminance(style.color);
  const empty = [...doc.querySelectorAll("svg")].filter((svg) => {
    const box = svg.getBoundingClientRect();
    return box.width < 1 || box.height < 1;
  });
  const nameless = [...doc.querySelectorAll("svg[role=img]")].filter((svg) => !svg.querySelector("title"));
  return [
    "width", root.clientWidth, "scroll", root.scrollWidth,
    "charts", doc.querySelectorAll("figure .plot svg[role=img]").length,
    "bars", doc.querySelectorAll("td.plotted svg").length,
    "tables", doc.querySelectorAll("table").length,
    "headless", [...doc.querySelectorAll("table")].filter((t) => !t.querySelector("th[scope]")).length,
    "empty", empty.length, "nameless", nameless.length,
    "buttons", doc.querySelectorAll("button").length,
    "dark", paper < ink ? 1 : 0,
    "contrast", Math.floor((Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05)),
  ].join(" ");
}
addEventListener("load", () => {
  const all = [...document.querySelectorAll("iframe")].map((frame) => "MEAS" + "URED " + measured(frame) + " END");
  document.body.textContent = all.join("\n");
});
"#;

/// A page in frames of these widths.
fn around(page: &str, widths: &[u32]) -> String {
    let source = page.replace('&', "&amp;").replace('"', "&quot;");
    let frames: String = widths
        .iter()
        .map(|w| {
            format!(
                "<iframe style=\"border:0;width:{w}px;height:900px\" srcdoc=\"{source}\"></iframe>"
            )
        })
        .collect();
    format!("<!DOCTYPE html><meta charset=\"utf-8\"><script>{MEASURE}</script>{frames}")
}

/// One figure of each frame by its name.
struct Seen {
    frames: Vec<String>,
    /// What the page wrote to the console.
    console: Vec<String>,
}

impl Seen {
    fn get(&self, frame: usize, name: &str) -> u64 {
        let mut words = self.frames[frame].split(' ');
        words
            .find(|w| *w == name)
            .unwrap_or_else(|| panic!("no {name}"));
        words.next().unwrap().parse().unwrap()
    }
}

fn look(chromium: &Path, place: &Place, page: &str, widths: &[u32], more: &[&str]) -> Seen {
    let file = place.path("around.html");
    fs::write(&file, around(page, widths)).unwrap();
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .args([
            "--enable-logging=stderr",
            "--window-size=1400,1000",
            "--no-first-run",
        ])
        .arg(format!(
            "--user-data-dir={}",
            place.path("profile").display()
        ))
        .args(more)
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .env("HOME", place.path("data"))
        .output()
        .expect("chromium starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let frames: Vec<String> = dom
        .split("MEASURED ")
        .skip(1)
        .map(|rest| rest.split(" END").next().unwrap().to_string())
        .collect();
    assert_eq!(frames.len(), widths.len(), "{dom:.500} {errors}");
    let console = errors.lines().filter(|line| line.contains("CONSOLE"));
    Seen {
        frames,
        console: console.map(String::from).collect(),
    }
}

#[test]
fn a_browser_shows_the_page() {
    let Some(chromium) = chromium() else { return };
    let place = Place::new();
    let page = page(&[&fixture("fixtures/reports/mixed")], &place);
    for (dark, more) in [
        (0, "--blink-settings=preferredColorScheme=1"),
        (1, "--blink-settings=preferredColorScheme=0"),
    ] {
        let seen = look(&chromium, &place, &page, &[400, 1200], &[more]);
        assert_eq!(seen.console, Vec::<String>::new());
        for (frame, width) in [(0, 400), (1, 1200)] {
            let of = |name| seen.get(frame, name);
            assert_eq!(of("width"), width);
            assert!(
                of("scroll") <= width,
                "{width} px: {} px wide",
                of("scroll")
            );
            assert!(of("charts") >= 3, "{:?}", seen.frames);
            assert!(of("bars") >= 10, "{:?}", seen.frames);
            assert_eq!(of("headless"), 0, "a table without headers");
            assert_eq!(of("empty"), 0, "a drawing without a size");
            assert_eq!(of("nameless"), 0, "a drawing without a title");
            assert_eq!(of("dark"), dark);
            assert!(of("contrast") >= 7, "contrast {}", of("contrast"));
        }
    }
}

/// What is looked for would be seen.
#[test]
fn a_browser_shows_what_is_wrong() {
    let Some(chromium) = chromium() else { return };
    let place = Place::new();
    let wrong = "<!DOCTYPE html><body><p style='width:600px'>wide</p><table><tr><td>1</td></tr></table>\
                 <svg role='img' width='0' height='5'></svg><script>nonsense()</script>";
    let seen = look(&chromium, &place, wrong, &[400], &[]);
    assert!(seen.get(0, "scroll") > 400);
    assert_eq!(seen.get(0, "headless"), 1);
    assert_eq!(seen.get(0, "empty"), 1);
    assert_eq!(seen.get(0, "nameless"), 1);
    assert!(
        seen.console.iter().any(|line| line.contains("nonsense")),
        "{:?}",
        seen.console
    );
}
