//! Where the original's own print differs from what it did, and how its lines look.

use super::figures::{Line, Phase};

/// Lines that the original begins with "Time to"; the others with "Time for". Its summary
/// takes either.
const TO: [(&str, &str); 14] = [
    ("ATIS", "insert"),
    ("ATIS", "drop_table"),
    ("big-tables", "select_many_fields"),
    ("big-tables", "insert_many_fields"),
    ("connect", "connect"),
    ("connect", "connect+select_1_row"),
    ("connect", "select_1_row"),
    ("connect", "select_1_row_cache"),
    ("connect", "select_2_rows"),
    ("connect", "select_big_str"),
    ("create", "select_group_when_MANY_tables"),
    ("select", "insert"),
    ("wisconsin", "insert"),
    ("wisconsin", "delete_big"),
];

/// Lines that the original prints without a colon or with a blank in the name, so that
/// its summary does not see them.
const UNSEEN: [(&str, &str); 4] = [
    ("alter-table", "insert"),
    ("insert", "select_in"),
    ("insert", "select_join_in"),
    ("insert", "drop table"),
];

/// "to" or "for".
pub(super) fn preposition(phase: &str, name: &str) -> &'static str {
    match TO.contains(&(phase, name)) {
        true => "to",
        false => "for",
    }
}

/// What stands between a name and its count.
pub(super) fn gap(phase: &str, line: &Line) -> &'static str {
    match (phase, line.name.as_str()) {
        ("big-tables", _) | (_, "drop table") => "",
        ("transactions", _) if line.rows.is_none() => "  ",
        _ => " ",
    }
}

/// What stands between the count and the wall time.
pub(super) fn colon(phase: &str, line: &Line) -> &'static str {
    match (phase, line.name.as_str()) {
        ("alter-table", "insert") if !line.summed => "",
        ("insert", "select_in" | "select_join_in") if !line.summed => " ",
        _ => ": ",
    }
}

/// With `compat`, gives a phase the counts and timers that the original prints. What was
/// imported has them already.
pub(super) fn apply(phase: &mut Phase, compat: bool, imported: bool) {
    if compat && !imported {
        figures(phase);
    }
    let name = phase.name.clone();
    shapes(&name, &mut phase.lines, compat);
}

fn figures(phase: &mut Phase) {
    let of = |name: &str| phase.lines.iter().find(|l| l.name == name).cloned();
    match phase.name.as_str() {
        "insert" => {
            // It prints the number of range loops, though it sends the query ten times.
            let ranges = of("order_by_range").map(|l| l.count);
            // Its timer is not started anew after the deletes of the search field.
            let deletes = of("delete_big_many_keys").map(|l| l.times);
            for line in &mut phase.lines {
                match line.name.as_str() {
                    "outer_join_not_found" => line.count = ranges.unwrap_or(line.count),
                    "delete_all_many_keys" => {
                        line.times = line.times.plus(deletes.unwrap_or_default());
                    }
                    _ => {}
                }
            }
        }
        // It prints the last index instead of the number of tables.
        "wisconsin" => {
            let created = phase.lines.iter_mut().filter(|l| l.name == "create_table");
            created.for_each(|line| line.count = 3);
        }
        _ => {}
    }
}

/// With `compat` leaves the lines out of the sums that the original leaves out; otherwise
/// makes all of them well formed.
pub(super) fn shapes(phase: &str, lines: &mut [Line], compat: bool) {
    for line in lines {
        let unseen = UNSEEN.contains(&(phase, line.name.as_str()));
        line.summed = !(compat && unseen);
        if !compat && line.name.contains(' ') {
            line.name = line.name.replace(' ', "_");
        }
    }
}

/// True where lines of `phase` are in the sums that the original leaves out.
pub(super) fn sums_more(phase: &str) -> bool {
    UNSEEN.iter().any(|(p, _)| *p == phase)
}
