//! Flights and what hangs on them.
//!
//! 501 flights are made, each another pair of route and aircraft or, between Atlanta and
//! Boston, another time; the first 78 of them fly once more at another time of day, with
//! the same number. 64 of those 78 have an aircraft of known range, and 409 of the 501.

use super::air;
use super::ground::{AIRPORTS, zone};
use super::words::day_mask;

const FLIGHTS: u64 = 579;
/// Flights that are not repetitions.
const ORIGINAL: u64 = 501;
/// Flight numbers there are.
const NUMBERS: u64 = 430;
/// Routes are taken in turn; two of the turns are from Atlanta to Boston.
const TURNS: u64 = 65;
const ATLANTA_BOSTON: (usize, usize) = (0, 1);
const ITS_TURNS: [u64; 2] = [0, 20];

/// Classes of seats; a flight has five of them.
const CLASSES: [&str; 14] = [
    "F", "FN", "Y", "YN", "B", "BN", "C", "CN", "Q", "QN", "M", "MN", "K", "KN",
];

#[derive(Clone)]
pub(super) struct Flight {
    pub code: u64,
    /// Of the flight itself, or of the one it repeats.
    original: u64,
    repeats: bool,
    from: usize,
    to: usize,
    elapsed: i64,
    stops: u64,
}

/// The 72 pairs of airports without eight; Atlanta to Boston is not among them.
fn other_routes() -> Vec<(usize, usize)> {
    let mut routes: Vec<(usize, usize)> = (0..9)
        .flat_map(|from| (0..9).map(move |to| (from, to)))
        .filter(|(from, to)| from != to && (*from, *to) != ATLANTA_BOSTON)
        .collect();
    // Between the two airports of each of some pairs of cities nobody flies: PIT-PHL,
    // PIT-BWI and BWI-PHL, one way and back, and OAK-ATL.
    routes
        .retain(|route| ![(7, 6), (6, 7), (7, 2), (2, 7), (2, 6), (6, 2), (5, 0)].contains(route));
    routes
}

/// The route of an original flight: 63 routes and Atlanta to Boston in turn, and one more
/// for the last flight.
fn route(n: u64, others: &[(usize, usize)]) -> (usize, usize) {
    let turn = n % TURNS;
    if n == ORIGINAL - 1 {
        return others[63];
    }
    if ITS_TURNS.contains(&turn) {
        return ATLANTA_BOSTON;
    }
    let before = ITS_TURNS.iter().filter(|own| **own < turn).count();
    others[turn as usize - before]
}

/// Minutes in the air. From Atlanta to Boston they are all different and, with the
/// repetitions, 154.3684 on average.
fn elapsed(n: u64, (from, to): (usize, usize)) -> i64 {
    if (from, to) == ATLANTA_BOSTON {
        let own = 2 * (n / TURNS) + n % TURNS / ITS_TURNS[1];
        let last = if own == 15 { 17 } else { 0 };
        return 147 + own as i64 + last;
    }
    let zones = (zone(from) - zone(to)).abs();
    50 + 85 * zones + (n * 7 % 60) as i64
}

/// 32 flights with stops fly a jet, two another aircraft. Among the 32 are two pairs of a
/// flight and its repetition, and two flights of one jet from Atlanta to Boston; all
/// others differ in route or aircraft.
fn stops(n: u64, original: u64) -> u64 {
    let paired = [1, 2].contains(&original);
    let alone = [3, 9, 20, 130].contains(&n);
    let known = |n: u64| air::has_range(n as usize % air::IN_USE);
    let among =
        (200..ORIGINAL).contains(&n) && known(n) && (200..n).filter(|n| known(*n)).count() < 26;
    match n {
        200 => 2,
        _ => u64::from(paired || alone || among),
    }
}

pub(super) fn all() -> Vec<Flight> {
    let others = other_routes();
    (0..FLIGHTS)
        .map(|n| {
            let repeats = n >= ORIGINAL;
            let original = if repeats { n - ORIGINAL } else { n };
            let (from, to) = route(original, &others);
            Flight {
                code: code(n),
                original,
                repeats,
                from,
                to,
                elapsed: elapsed(original, (from, to)),
                stops: stops(n, original),
            }
        })
        .collect()
}

/// 279 codes are 112793 or more.
fn code(n: u64) -> u64 {
    match n {
        0..300 => 101_908 + 36 * n,
        _ => 112_793 + 114 * (n - 300),
    }
}

impl Flight {
    fn number(&self) -> u64 {
        100 + self.original % NUMBERS
    }

    /// Index among the aircraft in use; 44 pairs of it and the airline.
    fn aircraft(&self) -> usize {
        self.original as usize % air::IN_USE
    }

    fn airline(&self) -> String {
        air::airline(self.original % 44 % air::FLYING)
    }

    fn classes(&self) -> impl Iterator<Item = &'static str> {
        let first = 2 * (self.original % 44 % air::FLYING);
        (first..first + 5).map(|n| CLASSES[n as usize % CLASSES.len()])
    }

    /// Departure and arrival, minutes of the local day. Late flights, on five pairs of
    /// zones, arrive on the next day. The repeated flights of two pairs of zones have the
    /// slip of twelve hours that the original data have there.
    fn times(&self) -> (i64, i64) {
        let zones = (zone(self.from), zone(self.to));
        let may_be_late = matches!(zones, (_, 0) | (0, 1));
        let slips = self.repeats && matches!(zones, (1, 2 | 3));
        let departure = if may_be_late && !self.repeats && self.original >= 440 {
            23 * 60 + 5
        } else if slips {
            14 * 60
        } else {
            6 * 60 + (self.original as i64 * 37 + i64::from(self.repeats) * 210) % 480
        };
        let slip = if slips { 12 * 60 } else { 0 };
        let arrival = departure + self.elapsed + 60 * (zones.0 - zones.1) - slip;
        (departure, arrival.rem_euclid(24 * 60))
    }

    fn row(&self) -> String {
        let (departure, arrival) = self.times();
        let clock = |minutes: i64| minutes / 60 * 100 + minutes % 60;
        let classes: String = self.classes().filter(|class| class.len() == 1).collect();
        format!(
            "{},'{}','{}','{}',{},{},'{}',{},'{classes}','{}','M{:02}',{},'N',{}",
            self.code,
            day_mask(1 + self.original % 127),
            AIRPORTS[self.from].0,
            AIRPORTS[self.to].0,
            clock(departure),
            clock(arrival),
            self.airline(),
            self.number(),
            air::in_use(self.aircraft()),
            1 + self.original % 31,
            self.stops,
            self.elapsed,
        )
    }
}

pub(super) fn flights() -> Vec<String> {
    all().iter().map(Flight::row).collect()
}

pub(super) fn flight_classes() -> Vec<String> {
    let rows = |flight: &Flight| -> Vec<String> {
        let row = |class| format!("{},'{class}'", flight.code);
        flight.classes().map(row).collect()
    };
    all().iter().flat_map(rows).collect()
}

/// A leg more than stops, each a flight.
fn stops_of(flight: &Flight) -> Vec<String> {
    let leg = |n| {
        format!(
            "{},{n},{}",
            flight.code,
            code((flight.code + 7 * n) % FLIGHTS)
        )
    };
    (1..=flight.stops + 1).map(leg).collect()
}

pub(super) fn stop_flights() -> Vec<String> {
    let flights = all();
    let stopping = flights.iter().filter(|flight| flight.stops > 0);
    stopping.flat_map(stops_of).collect()
}

const CONNECTIONS: u64 = 164;
/// Connections of three flights; the others have two.
const LONG_CONNECTIONS: u64 = 23;

fn legs(n: u64) -> u64 {
    2 + u64::from(n < LONG_CONNECTIONS)
}

pub(super) fn connections() -> Vec<String> {
    let others = other_routes();
    (0..CONNECTIONS)
        .map(|n| {
            let (from, to) = others[n as usize % others.len()];
            let (departure, elapsed) = (600 + 100 * (n % 9), 200 + n);
            format!(
                "{},'{}','{}',{departure},{},'{}',0,{},{elapsed}",
                305_276 + n,
                AIRPORTS[from].0,
                AIRPORTS[to].0,
                departure + 400,
                day_mask(1 + n % 127),
                legs(n) - 1,
            )
        })
        .collect()
}

pub(super) fn connect_legs() -> Vec<String> {
    let leg = |n: u64, leg: u64| format!("{},{leg},{}", 305_276 + n, code((3 * n + leg) % FLIGHTS));
    (0..CONNECTIONS)
        .flat_map(|n| (1..=legs(n)).map(move |number| leg(n, number)))
        .collect()
}
