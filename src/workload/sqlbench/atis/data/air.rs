//! Aircraft and airlines.

/// Airlines.
const AIRLINES: u64 = 314;

/// Airlines that have flights; the first ones.
pub(super) const FLYING: u64 = 9;

/// Kinds of aircraft in use.
pub(super) const IN_USE: usize = 22;

/// Those in use whose range is not known; none is a jet.
const WITHOUT_RANGE: [usize; 4] = [3, 9, 12, 15];

/// Category and how many of it have 0, 1, 2, 3 and 4 engines: 18, 13, 70, 11 and 23 in all.
/// More than four have two engines in three categories.
const CATEGORIES: [(&str, [u64; 5]); 6] = [
    ("", [2, 0, 0, 0, 0]),
    ("AMPHIBIAN", [0, 0, 3, 0, 0]),
    ("HELICOPTER", [0, 3, 4, 0, 0]),
    ("JET", [0, 1, 15, 11, 23]),
    ("PROPELLER", [2, 9, 16, 0, 0]),
    ("TURBOPROP", [14, 0, 32, 0, 0]),
];

/// What tells an aircraft from the others of its category.
struct Kind {
    category: &'static str,
    engines: u64,
    /// Number within the category.
    number: u64,
}

impl Kind {
    fn code(&self) -> String {
        code(self.category, self.number)
    }

    /// More than 10,000 for jets only, zero for 41 of the others.
    fn pay_load(&self) -> u64 {
        match (self.category, self.number) {
            ("JET", 49) => 165_710,
            ("JET", n) => 20_000 + 2_500 * n,
            ("PROPELLER", 0) => 240,
            ("PROPELLER" | "TURBOPROP", n) if n < 22 => 1_200 + 150 * n,
            _ => 0,
        }
    }

    /// Zero for 28: the turboprops in use and others that are not. Jets differ.
    fn range(&self) -> u64 {
        match (self.category, self.number) {
            ("TURBOPROP", n) if n < 28 => 0,
            ("JET", n) => 1_500 + 110 * n,
            (_, n) => 300 + 20 * n,
        }
    }

    /// Jets differ.
    fn speed(&self) -> u64 {
        match self.category {
            "JET" => 450 + 3 * self.number,
            "HELICOPTER" => 110 + self.number,
            _ => 180 + 2 * self.number,
        }
    }

    fn row(&self) -> String {
        let Kind {
            category,
            engines,
            number,
        } = self;
        let jet = *category == "JET";
        let wide = if jet && *engines > 2 { "YES" } else { "NO" };
        let pressurized = if jet { "YES" } else { "NO" };
        let kind = if category.is_empty() {
            "OTHER"
        } else {
            category
        };
        format!(
            "'{}','{kind} MODEL {number}',{engines},'{category}','{wide}',{}.25,{}.50,{},{},{},{},{},'{pressurized}'",
            self.code(),
            30 + number,
            40 + number,
            5_000 + 1_700 * number,
            8 + 5 * number,
            self.pay_load(),
            self.speed(),
            self.range(),
        )
    }
}

fn code(category: &str, number: u64) -> String {
    let initial = category.chars().next().unwrap_or('X');
    format!("{initial}{number:02}")
}

pub(super) fn aircraft() -> Vec<String> {
    let mut rows = Vec::new();
    for (category, engines) in CATEGORIES {
        let of_engines = (0..5).flat_map(|n| std::iter::repeat_n(n, engines[n as usize] as usize));
        for (number, engines) in (0..).zip(of_engines) {
            let kind = Kind {
                category,
                engines,
                number,
            };
            rows.push(kind.row());
        }
    }
    rows
}

/// True when the range of the `n`-th aircraft in use is known, which makes it a jet.
pub(super) fn has_range(n: usize) -> bool {
    !WITHOUT_RANGE.contains(&n)
}

/// The code of the `n`-th aircraft in use.
pub(super) fn in_use(n: usize) -> String {
    match WITHOUT_RANGE.iter().position(|other| *other == n) {
        Some(number) => code("TURBOPROP", number as u64),
        None => code("JET", 2 * n as u64),
    }
}

/// The code of the `n`-th airline: two letters.
pub(super) fn airline(n: u64) -> String {
    let letter = |n: u64| char::from(b'A' + n as u8);
    format!("{}{}", letter(n / 26), letter(n % 26))
}

/// The code of none.
pub(super) const NO_AIRLINE: &str = "ZZ";

pub(super) fn airlines() -> Vec<String> {
    (0..AIRLINES)
        .map(|n| format!("'{}','AIRLINE {}',''", airline(n), n + 1))
        .collect()
}

/// Two ranges of flight numbers for each of some pairs of airlines.
pub(super) fn dual_carriers() -> Vec<String> {
    (0..114_u64)
        .map(|n| {
            let (main, dual) = (airline(n / 2 % 19), airline(19 + n / 2));
            let low = 1_000 + 100 * (n % 2);
            let (high, name) = (low + 99, n / 2 % 19 + 1);
            format!("'{main}','{dual}',{low},{high},'AIRLINE {name} EXPRESS'")
        })
        .collect()
}
