//! The report in every format, compared with files under `fixtures/reports`: of the example
//! run (phases and operations) and of a load. `MOUNTMARK_BLESS=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mountmark::report::tidy::{COLUMNS, VERSION};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn report(run: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mountmark"));
    let output = command.arg("report").arg(run).args(args).output();
    let output = output.expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The runs that are shown, and the beginning of their files' names.
fn runs() -> [(PathBuf, &'static str); 2] {
    [
        (root().join("bench-results/example"), "example"),
        (root().join("fixtures/runs/load"), "load"),
    ]
}

#[test]
fn every_format_is_as_it_was() {
    let bless = std::env::var_os("MOUNTMARK_BLESS").is_some();
    for (run, name) in runs() {
        for (format, ending) in [
            ("text", "txt"),
            ("markdown", "md"),
            ("csv", "csv"),
            ("json", "json"),
        ] {
            let shown = report(&run, &["--format", format]);
            let file = root().join(format!("fixtures/reports/{name}.{ending}"));
            if bless {
                fs::write(&file, &shown).expect("a golden file");
            }
            let expected = fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(
                shown, expected,
                "{name} as {format}; MOUNTMARK_BLESS=1 writes the file anew"
            );
        }
    }
}

#[test]
fn a_csv_file_has_as_many_fields_in_every_row() {
    for (run, name) in runs() {
        let text = report(&run, &["--format", "csv"]);
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
        assert_eq!(header, COLUMNS);
        for line in lines {
            let mut quoted = false;
            let commas = line.chars().filter(|c| {
                quoted ^= *c == '"';
                *c == ',' && !quoted
            });
            assert_eq!(commas.count() + 1, COLUMNS.len(), "{name}: {line}");
        }
    }
}

/// Every column is described, and none that is not there.
#[test]
fn the_columns_are_documented() {
    let document = fs::read_to_string(root().join("docs/stored-form.md")).expect("a document");
    let csv = document.split("## JSON").next().expect("the part on CSV");
    let rows = csv.lines().filter(|line| line.starts_with("| `"));
    let mut named: Vec<&str> = rows
        .flat_map(|row| {
            let names = row.split('|').nth(1).unwrap_or_default();
            names.split('`').skip(1).step_by(2).collect::<Vec<_>>()
        })
        .collect();
    let mut columns = COLUMNS.to_vec();
    named.sort_unstable();
    columns.sort_unstable();
    assert_eq!(named, columns);
}

#[test]
fn the_json_report_has_what_its_document_says() {
    let document = fs::read_to_string(root().join("docs/stored-form.md")).expect("a document");
    let shown = document.split("```json").nth(1).expect("an example");
    let shown = shown.split("```").next().expect("its end");
    let shown: serde_json::Value = serde_json::from_str(shown).expect("the example is JSON");
    for (run, name) in runs() {
        let text = report(&run, &["--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report["mountmark_report"], VERSION);
        let names = |value: &serde_json::Value| -> Vec<String> {
            let object = value.as_object().expect("an object");
            object.keys().cloned().collect()
        };
        let (own, documented) = (&report["runs"][0], &shown["runs"][0]);
        assert_eq!(names(own), names(documented), "{name}");
        for comparison in own["comparisons"].as_array().expect("comparisons") {
            assert_eq!(names(comparison), names(&documented["comparisons"][0]));
        }
        for row in own["measurements"].as_array().expect("measurements") {
            for column in names(row) {
                assert!(COLUMNS.contains(&column.as_str()), "{name}: {column}");
            }
        }
    }
}

/// Tables of the text report are tables, and every figure is there.
#[test]
fn markdown_says_what_the_text_says() {
    for (run, name) in runs() {
        let text = report(&run, &["--format", "text"]);
        let markdown = report(&run, &["--format", "md"]);
        let bare = |text: &str| -> Vec<String> {
            let words = text.replace("&nbsp;", "").replace('\\', "");
            let words = words
                .split_whitespace()
                .map(|w| w.trim_matches(':').to_string());
            let marks = ["|", "-", "#", "##", "--"];
            words
                .filter(|w| !w.is_empty() && !marks.contains(&w.as_str()))
                .collect()
        };
        assert_eq!(bare(&text), bare(&markdown), "{name}");
    }
}
