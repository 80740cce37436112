//! Sizes, durations, running counters, and their printed forms.

mod quantities;

pub use quantities::{CpuTime, DeviceCounters};

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of bytes; written `64M`, `2G` (powers of 1024) or a bare count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

const STEPS: [(&str, u32); 4] = [("T", 40), ("G", 30), ("M", 20), ("K", 10)];

impl Bytes {
    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Bytes(n << 20)
    }

    /// For people: one decimal, binary unit (`1.5 MiB`).
    pub fn human(self) -> String {
        for (unit, shift) in STEPS {
            if self.0 >> shift > 0 {
                let value = self.0 as f64 / (1u64 << shift) as f64;
                return format!("{value:.1} {unit}iB");
            }
        }
        format!("{} B", self.0)
    }
}

/// Exact: the largest unit that divides the number.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in STEPS {
            if self.0 > 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a size; write it like 64M, 2G or 1048576");
        let upper = text.trim().to_ascii_uppercase();
        let upper = upper.strip_suffix("IB").unwrap_or(&upper);
        let upper = upper.strip_suffix('B').unwrap_or(upper);
        let (digits, shift) = STEPS
            .iter()
            .find_map(|(unit, shift)| Some((upper.strip_suffix(unit)?, *shift)))
            .unwrap_or((upper, 0));
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(wrong());
        }
        let value: u64 = digits.parse().map_err(|_| wrong())?;
        value
            .checked_mul(1 << shift)
            .map(Bytes)
            .ok_or_else(|| format!("'{text}' is more than this tool can count"))
    }
}

/// Reads `250ms`, `5s`, `2m`, `1h` or a bare number of seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a duration; write it like 5ms, 30s, 10m or 2h");
    let trimmed = text.trim();
    let (digits, scale) = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)]
        .iter()
        .find_map(|(unit, scale)| Some((trimmed.strip_suffix(unit)?, *scale)))
        .unwrap_or((trimmed, 1.0));
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(wrong());
    }
    let value: f64 = digits.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(value * scale).map_err(|_| wrong())
}

/// Seconds with three significant digits at least, never in exponent form.
pub fn seconds(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.3}"),
        v if v >= 0.01 => format!("{value:.4}"),
        _ => format!("{value:.5}"),
    }
}

/// A span of time for people: `4.2 s`, `3 min 20 s`, `2 h 5 min`.
pub fn span(duration: Duration) -> String {
    let total = duration.as_secs_f64();
    let whole = total.round() as u64;
    match whole {
        0..=9 => format!("{total:.1} s"),
        10..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_in_the_usual_spellings() {
        assert_eq!("64M".parse(), Ok(Bytes::mib(64)));
        assert_eq!("2g".parse(), Ok(Bytes::mib(2048)));
        assert_eq!("1KiB".parse(), Ok(Bytes(1024)));
        assert_eq!("512".parse(), Ok(Bytes(512)));
        for bad in ["", "M", "-1M", "64X", "1.5G", "99999999999T"] {
            assert!(bad.parse::<Bytes>().is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_read_and_told() {
        assert_eq!(parse_duration("5ms"), Ok(Duration::from_millis(5)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert!(parse_duration("soon").is_err());
        assert!(parse_duration("-1s").is_err());
        assert_eq!(span(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(span(Duration::from_millis(4240)), "4.2 s");
    }

    #[test]
    fn seconds_never_in_exponent_form() {
        assert_eq!(seconds(0.000012), "0.00001");
        assert_eq!(seconds(123.456), "123.5");
        assert_eq!(seconds(0.0), "0.000");
    }

    proptest! {
        #[test]
        fn sizes_read_back(n in any::<u64>()) {
            prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
        }
    }
}
