//! Values of expressions, their conversions, and their texts.

use std::fmt;
use std::io::Write;

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Unknown.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A floating-point number.
    Double(f64),
}

/// The value of a variable, as a driver binds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// NULL; also a variable that has no value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A floating-point number.
    Double(f64),
    /// A text, given on the command line, fetched by `\gset`, or made.
    Text(&'a str),
}

impl From<Value> for Param<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Param::Null,
            Value::Bool(b) => Param::Bool(b),
            Value::Int(n) => Param::Int(n),
            Value::Double(d) => Param::Double(d),
        }
    }
}

impl Value {
    fn kind(self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "int",
            Value::Double(_) => "double",
        }
    }

    /// Whether `\if` and `CASE` take it for true: NULL and zero are not.
    pub(super) fn is_truthy(self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(b) => b,
            Value::Int(n) => n != 0,
            Value::Double(d) => d != 0.0,
        }
    }

    pub(super) fn to_bool(self) -> Result<bool, String> {
        match self {
            Value::Bool(b) => Ok(b),
            other => Err(format!("cannot take {} for a boolean", other.kind())),
        }
    }

    /// As an integer; a floating-point number is rounded, halves to even.
    pub(super) fn to_int(self) -> Result<i64, String> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Value::Int(n) => Ok(n),
            Value::Double(d) => {
                let rounded = d.round_ties_even();
                if (-LIMIT..LIMIT).contains(&rounded) {
                    Ok(rounded as i64)
                } else {
                    Err(format!("{} is out of range for an int", General(d)))
                }
            }
            other => Err(format!("cannot take {} for an int", other.kind())),
        }
    }

    pub(super) fn to_double(self) -> Result<f64, String> {
        match self {
            Value::Int(n) => Ok(n as f64),
            Value::Double(d) => Ok(d),
            other => Err(format!("cannot take {} for a double", other.kind())),
        }
    }

    /// What the text of a variable means in an expression: NULL, a truth value (`y`,
    /// `yes`, `on`, `true`, … in any length), an integer or a floating-point number.
    pub(super) fn read(text: &str) -> Option<Value> {
        let is_prefix_of = |word: &str| {
            let head = word.get(..text.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(text))
        };
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if text.is_empty() {
            None
        } else if is("null") {
            Some(Value::Null)
        } else if is_prefix_of("true") || is_prefix_of("yes") || is("on") {
            Some(Value::Bool(true))
        } else if is_prefix_of("false") || is_prefix_of("no") || is("off") || is("of") {
            Some(Value::Bool(false))
        } else if is_integer(text) {
            text.trim_start().parse().ok().map(Value::Int)
        } else if text.ends_with(char::is_alphabetic) {
            None
        } else {
            text.trim_start().parse().ok().map(Value::Double)
        }
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.trim_start();
    let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// As it is put into a statement's text.
impl fmt::Display for Param<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::Null => f.write_str("NULL"),
            Param::Bool(b) => write!(f, "{b}"),
            Param::Int(n) => write!(f, "{n}"),
            Param::Double(d) => write!(f, "{}", General(*d)),
            Param::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Param::from(*self).fmt(f)
    }
}

/// A floating-point number as C's `%.15g` writes it, which is how pgbench does (but for
/// its words for infinity and what is no number).
pub(super) struct General(pub f64);

const DIGITS: i32 = 15;

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            return f.write_str("NaN");
        }
        if self.0.is_infinite() {
            return f.write_str(if self.0 < 0.0 {
                "-Infinity"
            } else {
                "Infinity"
            });
        }
        // "-d.dddddddddddddde-308" is the longest.
        let mut buffer = [0u8; 32];
        let mut rest = &mut buffer[..];
        write!(rest, "{:.*e}", DIGITS as usize - 1, self.0.abs()).map_err(|_| fmt::Error)?;
        let length = 32 - rest.len();
        let text = std::str::from_utf8(&buffer[..length]).map_err(|_| fmt::Error)?;
        let (mantissa, exponent) = text.split_once('e').ok_or(fmt::Error)?;
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        if self.0.is_sign_negative() {
            f.write_str("-")?;
        }
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        if !(-4..DIGITS).contains(&exponent) {
            let sign = if exponent < 0 { '-' } else { '+' };
            return write!(f, "{mantissa}e{sign}{:02}", exponent.abs());
        }
        fixed(f, mantissa, exponent)
    }
}

/// The digits of `mantissa` (`d` or `d.ddd`) with the point moved by `exponent`.
fn fixed(f: &mut fmt::Formatter<'_>, mantissa: &str, exponent: i32) -> fmt::Result {
    let (first, more) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if exponent < 0 {
        f.write_str("0.")?;
        for _ in 1..-exponent {
            f.write_str("0")?;
        }
        return write!(f, "{first}{more}");
    }
    let whole = exponent as usize;
    f.write_str(first)?;
    if more.len() <= whole {
        return write!(f, "{more}{:0<1$}", "", whole - more.len());
    }
    write!(f, "{}.{}", &more[..whole], &more[whole..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_c_writes_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (std::f64::consts::PI, "3.14159265358979"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e14, "100000000000000"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (1.5e300, "1.5e+300"),
            (-1e-300, "-1e-300"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, text) in cases {
            assert_eq!(General(value).to_string(), text);
        }
    }

    #[test]
    fn texts_are_read_as_values() {
        let cases = [
            ("null", Some(Value::Null)),
            ("t", Some(Value::Bool(true))),
            ("YES", Some(Value::Bool(true))),
            ("on", Some(Value::Bool(true))),
            ("o", None),
            ("of", Some(Value::Bool(false))),
            ("n", Some(Value::Bool(false))),
            ("1", Some(Value::Int(1))),
            (" -12", Some(Value::Int(-12))),
            ("+3", Some(Value::Int(3))),
            ("1.5", Some(Value::Double(1.5))),
            ("1e3", Some(Value::Double(1000.0))),
            ("", None),
            ("99999999999999999999", None),
            ("abc", None),
            ("é", None),
        ];
        for (text, value) in cases {
            assert_eq!(Value::read(text), value, "{text}");
        }
    }

    #[test]
    fn rounding_goes_to_even_and_stays_in_range() {
        assert_eq!(Value::Double(2.5).to_int(), Ok(2));
        assert_eq!(Value::Double(-3.5).to_int(), Ok(-4));
        assert!(Value::Double(1e19).to_int().is_err());
        assert!(Value::Double(f64::NAN).to_int().is_err());
        assert!(Value::Bool(true).to_int().is_err());
    }
}
