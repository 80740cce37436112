//! The lines that the suite prints: an operation, a total, a row of totals.

use super::number::Seconds;
use crate::record::CpuRecord;

/// Wall time and, where the line tells it, CPU of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub wall: Seconds,
    pub cpu: Option<CpuRecord>,
}

/// `Time for select_big (70:17207): 0.05 wallclock secs ( …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub name: String,
    pub count: u64,
    pub rows: Option<u64>,
    pub times: Times,
    pub estimated: bool,
}

/// A row below "Totals per operation:".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub name: String,
    pub times: Times,
    pub count: u64,
    pub flags: String,
}

/// What follows `prefix` in any case.
fn after<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// The rest behind `Estimated`, and whether that stood there.
fn estimated(text: &str) -> (&str, bool) {
    match after(text, "estimated ") {
        Some(rest) => (rest.trim_start(), true),
        None => (text, false),
    }
}

/// `3.11 wallclock secs ( 0.03 usr  0.00 sys + …`, older `3 secs ( 0.03 usr 0.00 sys = …`.
fn times(text: &str) -> Result<Times, String> {
    let plain = text.replace(['(', ')', '+', '='], " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let wall = words
        .first()
        .and_then(|w| Seconds::parse(w))
        .ok_or("its wall time is not a number of seconds")?;
    if !words.iter().any(|w| w.eq_ignore_ascii_case("secs")) {
        return Err("there is no 'secs' behind its wall time".to_string());
    }
    let before = |unit: &str| {
        let at = words.iter().position(|w| w.eq_ignore_ascii_case(unit))?;
        Some(Seconds::parse(words[at.checked_sub(1)?]))
    };
    let cpu = match (before("usr"), before("sys")) {
        (Some(Some(user)), Some(Some(system))) => Some(CpuRecord {
            user_ns: user.ns,
            system_ns: system.ns,
        }),
        (None, None) => None,
        _ => return Err("its usr and sys times are not numbers of seconds".to_string()),
    };
    Ok(Times { wall, cpu })
}

/// `None` for a line that does not claim to be the figure of an operation. The lines that
/// the suite prints without a colon are read, too.
pub(super) fn operation(line: &str) -> Option<Result<Operation, String>> {
    let (rest, estimated) = estimated(line.trim_start());
    let rest = after(rest, "time ")?.trim_start();
    let rest = after(rest, "for ").or_else(|| after(rest, "to "))?;
    Some(named(rest, estimated))
}

fn named(rest: &str, estimated: bool) -> Result<Operation, String> {
    let open = rest
        .match_indices('(')
        .map(|(at, _)| at)
        .find(|at| rest[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
        .ok_or("there is no count in parentheses")?;
    let name = rest[..open].trim();
    if name.is_empty() {
        return Err("there is no name before its count".to_string());
    }
    let (counts, rest) = rest[open + 1..]
        .split_once(')')
        .ok_or("its count has no closing parenthesis")?;
    let mut counts = counts.split(':').map(str::parse);
    let count = counts.next();
    let rows = counts.next_back();
    let (Some(Ok(count)), Ok(rows)) = (count, rows.transpose()) else {
        return Err("its count is not a number".to_string());
    };
    let times = times(rest.trim_start().trim_start_matches(':'))?;
    if times.cpu.is_none() {
        return Err("it has no usr and sys times".to_string());
    }
    Ok(Operation {
        name: name.to_string(),
        count,
        rows,
        times,
        estimated,
    })
}

/// The total of a phase and whether it is estimated; `None` for any other line.
pub(super) fn total(text: &str) -> Option<Result<(Times, bool), String>> {
    let (rest, estimated) = estimated(text.trim_start());
    let rest = after(rest, "total time:")?;
    Some(times(rest).map(|times| (times, estimated)))
}

/// `alter_table_add  1.33  0.01  0.00  0.01  100 +`
pub(super) fn row(line: &str) -> Result<Row, String> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_flags = |w: &&str| w.chars().all(|c| matches!(c, '+' | '?' | '*'));
    let flags = match words.last().filter(|w| is_flags(w)) {
        Some(flags) => flags.to_string(),
        None => String::new(),
    };
    if !flags.is_empty() {
        words.pop();
    }
    let &[name, wall, user, system, cpu, count] = words.as_slice() else {
        return Err("a row of totals is a name, four times and a count".to_string());
    };
    let time = |what: &str, word: &str| {
        Seconds::parse(word).ok_or(format!(
            "its {what} time '{word}' is not a number of seconds"
        ))
    };
    time("cpu", cpu)?;
    Ok(Row {
        name: name.to_string(),
        times: Times {
            wall: time("wall", wall)?,
            cpu: Some(CpuRecord {
                user_ns: time("usr", user)?.ns,
                system_ns: time("sys", system)?.ns,
            }),
        },
        count: count
            .parse()
            .map_err(|_| format!("its count '{count}' is not a number"))?,
        flags,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Operation {
        operation(line).expect("an operation").expect("well formed")
    }

    #[test]
    fn lines_are_read_as_the_suite_prints_them() {
        let o = read(
            "Time for select_big (70:17207): 0.24 wallclock secs ( 0.07 usr  0.01 sys +  0.00 cusr  0.00 csys =  0.08 CPU)",
        );
        assert_eq!(
            (o.name.as_str(), o.count, o.rows),
            ("select_big", 70, Some(17207))
        );
        assert_eq!(o.times.wall.ns, 240_000_000);
        assert_eq!(o.times.cpu.expect("its CPU").user_ns, 70_000_000);
        for (line, name, count) in [
            (
                "Time for insert (1000)0.02 wallclock secs ( 0.01 usr  0.00 sys =  0.01 CPU)",
                "insert",
                1000,
            ),
            (
                "Time for select_in (500:5000) 0.08 wallclock secs (12.02 usr 10.01 sys +  0.00 cusr  0.00 csys =  0.03 CPU)",
                "select_in",
                500,
            ),
            (
                "Time for drop table(2): 0.001 wallclock secs ( 0.00 usr  0.00 sys +  0.00 cusr  0.00 csys =  0.00 CPU)",
                "drop table",
                2,
            ),
            (
                "Time to connect+select_1_row(10):  1 secs ( 0.02 usr  0.01 sys =  0.03 cpu)",
                "connect+select_1_row",
                10,
            ),
        ] {
            let o = read(line);
            assert_eq!((o.name.as_str(), o.count), (name, count));
        }
        assert!(
            read("estimated TIME for x  (5): 9 wallclock secs (1 usr 2 sys = 3 cpu)").estimated
        );
        assert_eq!(operation("Testing server 'MySQL' at"), None);
    }

    #[test]
    fn what_is_malformed_is_told_apart() {
        let reason = |line: &str| operation(line).expect("it claims to be one").unwrap_err();
        assert!(reason("Time for insert: 3 wallclock secs").contains("count"));
        assert!(reason("Time for (3): 3 wallclock secs").contains("name"));
        assert!(reason("Time for x (3): soon").contains("wall time"));
        assert!(reason("Time for x (3: 3 secs").contains("closing"));
        assert!(reason("Time for x (3:y): 3 secs").contains("number"));
        assert!(reason("Time for x (3): 3 secs").contains("usr"));
        assert!(reason("Time for x (3): 3 secs (a usr 1 sys = 1 cpu)").contains("usr"));
        assert!(row("x 1.0 1.0 1.0 1.0").unwrap_err().contains("four times"));
        assert!(row("x 1.0 1.0 y 1.0 3").unwrap_err().contains("sys"));
        assert_eq!(row("x 1 2 3 4 5 +?").expect("a row").flags, "+?");
    }

    #[test]
    fn totals_may_be_estimated() {
        let (times, estimated) = total("Estimated total time: 271 wallclock secs")
            .expect("a total")
            .expect("well formed");
        assert!(estimated && !times.wall.fractional && times.cpu.is_none());
        assert!(total("Time for x (1): 1 secs").is_none());
    }
}
