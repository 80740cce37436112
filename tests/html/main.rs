//! The report as a page: the golden file of one, pages of many cases, and what a browser
//! makes of them.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

mod browser;
#[path = "../common/mod.rs"]
mod common;
mod many;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, text};
use mountmark::record::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The page of the runs in `dirs`, as the program writes it.
fn page(dirs: &[&Path], place: &Place) -> String {
    let path = place.path("page.html");
    let output = place
        .command()
        .arg("report")
        .args(dirs)
        .args(["--format", "html", "-o"])
        .arg(&path)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(text(&output), "", "a page in a file leaves nothing to say");
    fs::read_to_string(path).unwrap()
}

/// Without style and script, which are no figures; a line an element, to be read in a diff.
fn figures(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, after)) = ["<style>", "<script>"]
        .iter()
        .filter_map(|tag| rest.split_once(tag))
        .min_by_key(|(before, _)| before.len())
    {
        text.push_str(before);
        rest = after.split_once("</s").expect("an end").1;
        rest = rest.split_once('>').expect("an end").1;
    }
    text.push_str(rest);
    let line = |name: &str| (format!("<{name}"), format!("\n<{name}"));
    for name in [
        "section", "tr", "svg", "h2", "h3", "p>", "li", "table", "article", "ul",
    ] {
        let (from, to) = line(name);
        text = text.replace(&from, &to);
    }
    text
}

/// Written anew with MOUNTMARK_BLESS=1.
#[test]
fn the_page_of_a_run_is_as_before() {
    let place = Place::new();
    for (run, golden) in [
        ("bench-results/example", "fixtures/reports/example.html"),
        ("fixtures/reports/mixed", "fixtures/reports/mixed.html"),
    ] {
        let now = figures(&page(&[&fixture(run)], &place));
        if std::env::var_os("MOUNTMARK_BLESS").is_some() {
            fs::write(fixture(golden), &now).unwrap();
        }
        let before = fs::read_to_string(fixture(golden)).unwrap();
        let differs = now
            .lines()
            .zip(before.lines())
            .find(|(now, before)| now != before);
        assert_eq!(differs, None, "{golden}");
        assert_eq!(now.lines().count(), before.lines().count(), "{golden}");
    }
}

/// What a record says never becomes markup.
#[test]
fn text_of_records_is_escaped() {
    let place = Place::new();
    let mut results = load(&fixture("bench-results/example")).unwrap();
    let evil = "<script>alert('1')</script>\"&'";
    results.run.label = Some(evil.to_string());
    results.run.remarks.push(evil.to_string());
    for key in &mut results.run.plan.cases {
        key.settings.insert(evil.to_string(), evil.to_string());
        key.target.push_str(evil);
    }
    let mut store = Store::create(&place.path("results"), results.run).unwrap();
    for mut case in results.cases {
        case.case
            .settings
            .insert(evil.to_string(), evil.to_string());
        case.case.target.push_str(evil);
        case.phases[0].operations[0].name = evil.to_string();
        case.durability = Some(DurabilityRecord::NotDurable(evil.to_string()));
        store.append(&case).unwrap();
    }
    let page = page(&[store.dir()], &place);
    assert!(!page.contains("<script>alert"), "a script came through");
    assert!(
        page.matches("&lt;script&gt;alert").count() > 10,
        "it is shown"
    );
}

/// Ten thousand cases, as many rounds, as many keys, and as keys measured once.
#[test]
fn ten_thousand_cases_are_a_page_to_mail() {
    let place = Place::new();
    let model = load(&fixture("bench-results/example")).unwrap();
    let mixed = load(&fixture("fixtures/reports/mixed")).unwrap();
    let load = mixed.cases.iter().find(|c| c.load.is_some()).unwrap();
    for (targets, phases, loads, rounds) in [(20, 16, 4, 25), (100, 18, 2, 5), (500, 20, 0, 1)] {
        let shape = many::Shape {
            targets,
            phases,
            loads,
            rounds,
        };
        assert_eq!(shape.cases(), 10_000);
        let dir = place.path("many");
        many::write(&dir, shape, &model, load);
        let size = page(&[&dir], &place).len();
        assert!(size < 2_000_000, "{shape:?}: {size} bytes");
        fs::remove_dir_all(&dir).unwrap();
    }
}

/// Several runs are one page, and no id is there twice.
#[test]
fn runs_share_a_page() {
    let place = Place::new();
    let run = fixture("fixtures/reports/mixed");
    let page = page(&[&run, &fixture("bench-results/example"), &run], &place);
    assert_eq!(page.matches("<article").count(), 3);
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id is there twice");
    let dangling: Vec<&str> = page
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|id| ids.binary_search(id).is_err())
        .collect();
    assert!(dangling.is_empty(), "{dangling:?}");
}

/// The figures of the text report are those of the page.
#[test]
fn the_page_says_what_the_text_says() {
    let place = Place::new();
    let run = fixture("fixtures/reports/mixed");
    let page = page(&[&run], &place);
    let output = place.command().arg("report").arg(&run).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let number = |word: &&str| {
        word.len() > 3 && word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let numbers: Vec<&str> = shown
        .split(|c: char| c.is_whitespace() || "()†‡°+,;".contains(c))
        .filter(number)
        .collect();
    assert!(numbers.len() > 50, "{shown}");
    let lacking: Vec<&&str> = numbers.iter().filter(|n| !page.contains(**n)).collect();
    assert!(lacking.is_empty(), "not on the page: {lacking:?}");
}
