//! Fares, their classes and restrictions.

use super::air;
use super::flights;
use super::ground::AIRPORTS;

const FARES: u64 = 534;

/// Of each restriction that fares have: carriers, all existing, and fares. The sum of the
/// products is what the join over both finds; the other fares have no restriction.
const RESTRICTED: [(u64, u64); 8] = [
    (12, 2),
    (33, 2),
    (34, 5),
    (29, 52),
    (34, 6),
    (30, 2),
    (26, 50),
    (20, 118),
];

/// Restrictions there are.
const RESTRICTIONS: u64 = 65;

/// Carriers of all restrictions.
const CARRIERS: u64 = 612;

/// Fares from San Francisco to Dallas: ten cost 280 to 825.
const SAN_FRANCISCO_DALLAS: u64 = 12;

fn restriction(n: u64) -> String {
    format!("R/{}", n + 1)
}

/// Fare classes: 149, of which fares have the first 19.
fn class(n: u64) -> String {
    let letter = |n: u64| char::from(b'A' + (n % 26) as u8);
    match n {
        0..26 => format!("{}", letter(n)),
        _ => format!("{}{}", letter(n), letter(n / 26)),
    }
}

pub(super) fn compound_classes() -> Vec<String> {
    let yes = |yes: bool| if yes { "YES" } else { "NO" };
    (0..149_u64)
        .map(|n| {
            format!(
                "'{}','{}','{}','{}','{}','{}','{}','{}','1234567'",
                class(n),
                class(n % 26),
                ["FIRST", "BUSINESS", "COACH", "STANDARD"][n as usize % 4],
                yes(n % 5 == 0),
                yes(n % 3 == 0),
                yes(n % 2 == 0),
                yes(n % 7 == 0),
                ["NONE", "HIGH", "MID", "LOW"][n as usize / 4 % 4],
            )
        })
        .collect()
}

fn fare_code(n: u64) -> String {
    format!("{}", 7_100_001 + n)
}

/// The restriction of the `n`-th fare: by the counts above, counted from the last one.
fn restriction_of_fare(n: u64) -> String {
    let mut from_last = FARES - 1 - n;
    for (code, (_, fares)) in (0..).zip(RESTRICTED) {
        if from_last < fares {
            return restriction(code);
        }
        from_last -= fares;
    }
    String::new()
}

/// Airports of the `n`-th fare.
fn route(n: u64) -> (usize, usize) {
    const SAN_FRANCISCO: usize = 8;
    const DALLAS: usize = 4;
    if n < SAN_FRANCISCO_DALLAS {
        return (SAN_FRANCISCO, DALLAS);
    }
    let from = n as usize % 9;
    let to = (from + 1 + n as usize / 9 % 8) % 9;
    match (from, to) {
        (SAN_FRANCISCO, DALLAS) => (DALLAS, SAN_FRANCISCO),
        other => other,
    }
}

fn cost(n: u64) -> u64 {
    match n {
        0..10 => 300 + 45 * n,
        10 => 150,
        11 => 990,
        _ => 90 + 7 * (n * 13 % 120),
    }
}

pub(super) fn fares() -> Vec<String> {
    (0..FARES)
        .map(|n| {
            let (from, to) = route(n);
            let airline = match n % 9 {
                8 => String::new(),
                airline => air::airline(airline),
            };
            format!(
                "'{}','{}','{}','{}','{airline}','{}',{}.00,{}.00",
                fare_code(n),
                AIRPORTS[from].0,
                AIRPORTS[to].0,
                class(n % 19),
                restriction_of_fare(n),
                cost(n),
                2 * cost(n),
            )
        })
        .collect()
}

/// Five or six fares a flight; every fare is one of some flight.
pub(super) fn flight_fares() -> Vec<String> {
    let mut rows = Vec::new();
    for (n, flight) in (0..).zip(flights::all()) {
        for fare in 0..5 + u64::from(n < 103) {
            let fare = (5 * n + 89 * fare) % FARES;
            rows.push(format!("{},'{}'", flight.code, fare_code(fare)));
        }
    }
    rows
}

pub(super) fn restrictions() -> Vec<String> {
    (0..RESTRICTIONS)
        .map(|n| {
            let stopovers = if n % 2 == 0 { "Y" } else { "N" };
            format!(
                "'{}','FOR TRAVEL OF KIND {}','TOUR CONDUCTORS'' AND AGENTS'' FARES',{},'{stopovers}',{},{}",
                restriction(n),
                n + 1,
                7 * (n % 3),
                n % 4,
                30 + n,
            )
        })
        .collect()
}

/// The carriers of the restrictions that fares have; all others get the rest in turn,
/// nine of which name no airline.
pub(super) fn restrict_carriers() -> Vec<String> {
    let mut rows = Vec::new();
    for (code, (carriers, _)) in (0..).zip(RESTRICTED) {
        let row = |airline| format!("'{}','{}'", restriction(code), air::airline(airline));
        rows.extend((0..carriers).map(row));
    }
    let used = RESTRICTED.len() as u64;
    let rest = CARRIERS - rows.len() as u64;
    for n in 0..rest {
        let code = restriction(used + n % (RESTRICTIONS - used));
        let airline = match n {
            0..9 => air::NO_AIRLINE.to_string(),
            _ => air::airline(40 + n / (RESTRICTIONS - used)),
        };
        rows.push(format!("'{code}','{airline}'"));
    }
    rows
}

pub(super) fn restrict_classes() -> Vec<String> {
    (0..4)
        .map(|n| format!("'{}','{}'", restriction(1), class(100 + n)))
        .collect()
}
