//! The power tables of `docs/statistics.md`, computed.

use mountmark::compare::{Rule, USUAL_CHANCE, chance_of_finding, smallest_difference};
use std::fmt::Write as _;
use std::path::Path;

const DEVIATIONS: [f64; 5] = [0.01, 0.025, 0.05, 0.10, 0.25];
const ROUNDS: [usize; 4] = [3, 5, 10, 20];

fn table(corner: &str, cell: impl Fn(f64, usize) -> String) -> String {
    let mut text = format!("| {corner} |");
    for rounds in ROUNDS {
        let _ = write!(text, " {rounds} rounds |");
    }
    text.push_str("\n|---|---|---|---|---|\n");
    for sd in DEVIATIONS {
        let _ = write!(text, "| {} % |", sd * 100.0);
        for rounds in ROUNDS {
            let _ = write!(text, " {} |", cell(sd, rounds));
        }
        text.push('\n');
    }
    text
}

fn smallest(rule: Rule) -> String {
    table("sd a round", |sd, rounds| {
        let fraction =
            smallest_difference(sd, rounds, &rule, USUAL_CHANCE).expect("more than one round");
        match fraction * 100.0 {
            p if p < 9.95 => format!("{p:.1} %"),
            p => format!("{p:.0} %"),
        }
    })
}

fn chances(rule: Rule) -> String {
    table("sd a round", |sd, rounds| {
        let chance = chance_of_finding(0.05, sd, rounds, &rule).expect("more than one round");
        match chance * 100.0 {
            p if p > 99.95 => "> 99.9 %".into(),
            p => format!("{p:.1} %"),
        }
    })
}

/// The text between the marks of a name, which the tables stand between.
fn marked<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = format!("<!-- {name} -->\n");
    let start = page.find(&begin).expect("the mark is in the page") + begin.len();
    let length = page[start..].find("<!-- end -->").expect("the table ends");
    &page[start..start + length]
}

#[test]
fn the_page_has_the_tables_as_computed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/statistics.md");
    let page = std::fs::read_to_string(path).expect("docs/statistics.md is readable");
    let one = Rule::default();
    let ten = one.for_comparisons(10);
    for (name, computed) in [
        ("smallest difference", smallest(one)),
        ("smallest difference, 10 comparisons", smallest(ten)),
        ("chance to find 5 %", chances(one)),
    ] {
        println!("<!-- {name} -->\n{computed}<!-- end -->\n");
        assert_eq!(
            marked(&page, name),
            computed,
            "paste the new table for '{name}'"
        );
    }
}
