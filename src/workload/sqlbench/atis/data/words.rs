//! Small tables of words.

const DAYS: [&str; 7] = [
    "MONDAY",
    "TUESDAY",
    "WEDNESDAY",
    "THURSDAY",
    "FRIDAY",
    "SATURDAY",
    "SUNDAY",
];

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

fn numbered(words: &[&str]) -> Vec<String> {
    (1..)
        .zip(words)
        .map(|(n, word)| format!("{n},'{word}'"))
        .collect()
}

pub(super) fn day_names() -> Vec<String> {
    numbered(&DAYS)
}

pub(super) fn month_names() -> Vec<String> {
    numbered(&MONTHS)
}

/// A set of days as text, `1-3----` for Monday and Wednesday; `set` is a bit a day.
pub(super) fn day_mask(set: u64) -> String {
    (0..7)
        .map(|day| match set >> day & 1 {
            1 => char::from(b'1' + day as u8),
            _ => '-',
        })
        .collect()
}

/// Every set of days but the empty one, a row for each of its days.
pub(super) fn flight_days() -> Vec<String> {
    let mut rows = Vec::new();
    for set in 1..128_u64 {
        for (day, name) in DAYS.iter().enumerate() {
            if set >> day & 1 == 1 {
                rows.push(format!("'{}',{},'{name}'", day_mask(set), day + 1));
            }
        }
    }
    rows
}

pub(super) fn classes_of_service() -> Vec<String> {
    let code = |n: u64| match n {
        0..26 => format!("{}", char::from(b'A' + n as u8)),
        _ => "AA".to_string(),
    };
    (0..27)
        .map(|n| format!("'{}',{},'CLASS OF SERVICE {}'", code(n), n + 1, n + 1))
        .collect()
}

pub(super) fn code_descriptions() -> Vec<String> {
    (1..=15)
        .map(|n| format!("'C{n:02}','MEANING OF THE CODE WITH NUMBER {n}'"))
        .collect()
}

/// Meal codes with two meals and two classes each, until the table is full.
pub(super) fn food_services() -> Vec<String> {
    const MEALS: [&str; 4] = ["BREAKFAST", "LUNCH", "DINNER", "SNACK"];
    let mut rows = Vec::new();
    for code in 1..=31 {
        for number in 1..=2 {
            for class in ["FIRST", "COACH"] {
                let meal = MEALS[(code + number) as usize % MEALS.len()];
                rows.push(format!("'M{code:02}',{number},'{class}','{meal}'"));
            }
        }
    }
    rows.truncate(121);
    rows
}

/// Leading zeros as in the original.
pub(super) fn time_intervals() -> Vec<String> {
    (0..12)
        .map(|n| format!("'PERIOD {}',{:04},{:04}", n + 1, 200 * n, 200 * n + 200))
        .collect()
}
