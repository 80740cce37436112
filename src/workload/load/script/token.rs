//! The words of an expression.

use super::error::{ScriptError, Source};
use super::names::is_name_char;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Int(i64),
    /// 2^63: an integer only behind a minus sign.
    IntBeyond,
    Double(f64),
    Var(&'a str),
    Word(&'a str),
    Symbol(&'static str),
    End,
}

/// Longer ones first.
const SYMBOLS: [&str; 20] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "|", "#", "&", "~",
    "(", ")",
];

/// Reads from a place to the end of its line; a backslash at the end of a line joins the
/// next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    source: Source<'a>,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(source: Source<'a>, at: usize) -> Self {
        Tokens { source, at }
    }

    pub fn source(&self) -> Source<'a> {
        self.source
    }

    /// Where the next token begins; the first byte behind the line once at its end.
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        &self.source.text[self.at..]
    }

    /// Skips blanks and joined line ends.
    pub fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.bytes().take_while(|b| is_blank(*b)).count();
            self.at += blanks + continuation(&rest[blanks..]);
            if self.rest().len() == rest.len() {
                return;
            }
        }
    }

    /// The next token and where it begins.
    pub fn next(&mut self) -> Result<(Token<'a>, usize), ScriptError> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.bytes().next().filter(|b| *b != b'\n') else {
            return Ok((Token::End, start));
        };
        let (token, length) = match first {
            b'0'..=b'9' | b'.' => self.number(rest)?,
            b':' => variable(rest),
            _ if is_name_char(first) => {
                let length = rest.bytes().take_while(|b| is_name_char(*b)).count();
                (Token::Word(&rest[..length]), length)
            }
            b',' => (Token::Symbol(","), 1),
            _ => symbol(rest),
        };
        if length == 0 {
            let c = rest.chars().next().unwrap_or_default();
            return Err(self
                .source
                .error(start, format!("unexpected character '{c}'")));
        }
        self.at += length;
        Ok((token, start))
    }

    fn number(&self, rest: &'a str) -> Result<(Token<'a>, usize), ScriptError> {
        let digits = |from: usize| {
            let rest = rest.bytes().skip(from);
            rest.take_while(u8::is_ascii_digit).count()
        };
        let is = |at: usize, set: &[u8]| rest.as_bytes().get(at).is_some_and(|b| set.contains(b));
        let whole = digits(0);
        let mut length = whole;
        if is(length, b".") {
            let fraction = digits(length + 1);
            if whole + fraction == 0 {
                return Ok((Token::End, 0));
            }
            length += 1 + fraction;
        }
        if is(length, b"eE") {
            let sign = usize::from(is(length + 1, b"+-"));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let text = &rest[..length];
        let wrong = |what| self.source.error(self.at, format!("{what}: '{text}'"));
        if length > whole {
            let value: f64 = text.parse().map_err(|_| wrong("not a number"))?;
            if value.is_infinite() {
                return Err(wrong("the number is out of range for a double"));
            }
            return Ok((Token::Double(value), length));
        }
        if text == "9223372036854775808" {
            return Ok((Token::IntBeyond, length));
        }
        match text.parse() {
            Ok(value) => Ok((Token::Int(value), length)),
            Err(_) => Err(wrong("the number is out of range for an int")),
        }
    }
}

pub(super) fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The length of a backslash and line end at the beginning of `text`, 0 for none.
pub(super) fn continuation(text: &str) -> usize {
    match text.as_bytes() {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        _ => 0,
    }
}

fn variable(rest: &str) -> (Token<'_>, usize) {
    let name = rest.bytes().skip(1).take_while(|b| is_name_char(*b));
    match name.count() {
        0 => (Token::End, 0),
        length => (Token::Var(&rest[1..=length]), 1 + length),
    }
}

fn symbol(rest: &str) -> (Token<'_>, usize) {
    match SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
        Some(symbol) => (Token::Symbol(symbol), symbol.len()),
        None => (Token::End, 0),
    }
}
