//! Decimal seconds as they are printed, without a detour through floating point.

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// A printed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seconds {
    pub ns: u64,
    /// True when it has digits behind the point.
    pub fractional: bool,
}

impl Seconds {
    /// Digits and at most one point; what is finer than a nanosecond is cut off.
    pub fn parse(text: &str) -> Option<Seconds> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(rest) || whole.is_empty() && rest.is_empty() {
            return None;
        }
        let whole: u64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        let mut nine = rest.get(..rest.len().min(9))?.to_string();
        nine.extend(std::iter::repeat_n('0', 9 - nine.len()));
        let fraction: u64 = nine.parse().ok()?;
        Some(Seconds {
            ns: whole.checked_mul(SECOND)?.checked_add(fraction)?,
            fractional: text.contains('.'),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_exactly() {
        for (text, ns) in [
            ("47.0701", 47_070_100_000),
            ("0.00193405", 1_934_050),
            ("122.838", 122_838_000_000),
            ("3", 3_000_000_000),
            (".5", 500_000_000),
            ("1.0000000019", 1_000_000_001),
        ] {
            assert_eq!(Seconds::parse(text).map(|s| s.ns), Some(ns), "{text}");
        }
        for text in [
            "",
            ".",
            "-1",
            "1e-05",
            "1,5",
            "nan",
            "1.2.3",
            "99999999999999999999",
        ] {
            assert_eq!(Seconds::parse(text), None, "{text}");
        }
        assert!(!Seconds::parse("12").unwrap().fractional);
    }
}
