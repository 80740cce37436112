//! Places: states, cities, airports and the ways between them.

/// Airport, its city's name, its state, its time zone. In this order their zones give
/// [`zone`].
pub(super) const AIRPORTS: [(&str, &str, &str, &str); 9] = [
    ("ATL", "ATLANTA", "GA", "EST"),
    ("BOS", "BOSTON", "MA", "EST"),
    ("BWI", "BALTIMORE", "MD", "EST"),
    ("DEN", "DENVER", "CO", "MST"),
    ("DFW", "DALLAS", "TX", "CST"),
    ("OAK", "OAKLAND", "CA", "PST"),
    ("PHL", "PHILADELPHIA", "PA", "EST"),
    ("PIT", "PITTSBURGH", "PA", "EST"),
    ("SFO", "SAN FRANCISCO", "CA", "PST"),
];

/// City code, name, state, time zone. Eight states; one, of Washington, is not that of
/// the airport that serves it.
const CITIES: [(&str, &str, &str, &str); 11] = [
    ("MATL", "ATLANTA", "GA", "EST"),
    ("BBOS", "BOSTON", "MA", "EST"),
    ("BBAL", "BALTIMORE", "MD", "EST"),
    ("DDAL", "DALLAS", "TX", "CST"),
    ("FFTW", "FORT WORTH", "TX", "CST"),
    ("DDEN", "DENVER", "CO", "MST"),
    ("OOAK", "OAKLAND", "CA", "PST"),
    ("PPHL", "PHILADELPHIA", "PA", "EST"),
    ("PPIT", "PITTSBURGH", "PA", "EST"),
    ("SSFO", "SAN FRANCISCO", "CA", "PST"),
    ("WWAS", "WASHINGTON", "DC", "EST"),
];

/// City, airport, direction. Thirteen ways: twelve of them inside a state, of which the
/// two of San Francisco have one direction.
const SERVICES: [(&str, &str, &str); 13] = [
    ("MATL", "ATL", "S"),
    ("BBOS", "BOS", "NE"),
    ("BBAL", "BWI", "S"),
    ("DDAL", "DFW", "NW"),
    ("FFTW", "DFW", "NE"),
    ("DDEN", "DEN", "E"),
    ("OOAK", "OAK", "S"),
    ("OOAK", "SFO", "SW"),
    ("PPHL", "PHL", "SW"),
    ("PPIT", "PIT", "W"),
    ("SSFO", "SFO", "SE"),
    ("SSFO", "OAK", "SE"),
    ("WWAS", "BWI", "N"),
];

const STATES: &str = "AL ALABAMA,AK ALASKA,AZ ARIZONA,AR ARKANSAS,CA CALIFORNIA,CO COLORADO,CT CONNECTICUT,DE DELAWARE,DC DISTRICT OF COLUMBIA,FL FLORIDA,GA GEORGIA,HI HAWAII,ID IDAHO,IL ILLINOIS,IN INDIANA,IA IOWA,KS KANSAS,KY KENTUCKY,LA LOUISIANA,ME MAINE,MD MARYLAND,MA MASSACHUSETTS,MI MICHIGAN,MN MINNESOTA,MS MISSISSIPPI,MO MISSOURI,MT MONTANA,NE NEBRASKA,NV NEVADA,NH NEW HAMPSHIRE,NJ NEW JERSEY,NM NEW MEXICO,NY NEW YORK,NC NORTH CAROLINA,ND NORTH DAKOTA,OH OHIO,OK OKLAHOMA,OR OREGON,PA PENNSYLVANIA,RI RHODE ISLAND,SC SOUTH CAROLINA,SD SOUTH DAKOTA,TN TENNESSEE,TX TEXAS,UT UTAH,VT VERMONT,VA VIRGINIA,WA WASHINGTON,WV WEST VIRGINIA,WI WISCONSIN,WY WYOMING";

const PROVINCES: &str = "AB ALBERTA,BC BRITISH COLUMBIA,MB MANITOBA,NB NEW BRUNSWICK,NL NEWFOUNDLAND,NT NORTHWEST TERRITORIES,NS NOVA SCOTIA,ON ONTARIO,PE PRINCE EDWARD ISLAND,QC QUEBEC,SK SASKATCHEWAN,YT YUKON";

const ZONES: [(&str, &str); 9] = [
    ("AST", "ATLANTIC"),
    ("EST", "EASTERN"),
    ("CST", "CENTRAL"),
    ("MST", "MOUNTAIN"),
    ("PST", "PACIFIC"),
    ("AKT", "ALASKAN"),
    ("HAT", "HAWAIIAN"),
    ("NST", "NEWFOUNDLAND"),
    ("UTC", "UNIVERSAL"),
];

const TRANSPORTS: [(&str, &str); 4] = [
    ("L", "LIMOUSINE"),
    ("T", "TAXI"),
    ("R", "RENTAL CAR"),
    ("A", "AIR TAXI"),
];

/// Hours of an airport's zone west of the easternmost.
pub(super) fn zone(airport: usize) -> i64 {
    match AIRPORTS[airport].3 {
        "EST" => 0,
        "CST" => 1,
        "MST" => 2,
        _ => 3,
    }
}

pub(super) fn airports() -> Vec<String> {
    AIRPORTS
        .iter()
        .map(|(code, city, state, zone)| {
            format!("'{code}','{city} AIRPORT','{city}','{state}','USA','{zone}'")
        })
        .collect()
}

pub(super) fn cities() -> Vec<String> {
    CITIES
        .iter()
        .map(|(code, name, state, zone)| format!("'{code}','{name}','{state}','USA','{zone}'"))
        .collect()
}

/// The ways, and as in the original one row that says nothing.
pub(super) fn airport_services() -> Vec<String> {
    let mut rows: Vec<String> = (5..)
        .zip(SERVICES)
        .map(|(n, (city, airport, direction))| {
            format!("'{city}','{airport}',{n}.0,'{direction}',{}", 3 * n)
        })
        .collect();
    rows.push("'','',0.0,'',0".to_string());
    rows
}

/// A fare for each way, over eleven cities; the other rows are free, and one says nothing.
pub(super) fn ground_services() -> Vec<String> {
    let mut rows = Vec::new();
    for (n, (city, airport, _)) in SERVICES.iter().enumerate() {
        rows.push(format!("'{city}','{airport}','L',{}.50", 6 + n));
        rows.push(format!("'{city}','{airport}','R',0.00"));
        if n < 6 {
            rows.push(format!("'{city}','{airport}','A',0.00"));
        }
    }
    rows.push("'','','',0.00".to_string());
    rows
}

pub(super) fn states() -> Vec<String> {
    let of = |list: &'static str, country: &'static str| {
        list.split(',').filter_map(move |entry| {
            let (code, name) = entry.split_once(' ')?;
            Some(format!("'{code}','{name}','{country}'"))
        })
    };
    of(STATES, "USA").chain(of(PROVINCES, "CANADA")).collect()
}

pub(super) fn time_zones() -> Vec<String> {
    ZONES
        .iter()
        .map(|(code, name)| format!("'{code}','{name} STANDARD TIME'"))
        .collect()
}

pub(super) fn transports() -> Vec<String> {
    TRANSPORTS
        .iter()
        .map(|(code, name)| format!("'{code}','{name}'"))
        .collect()
}
