//! A statement text with named places, cut up once and filled in without allocation.

use std::fmt::Write;

/// A value for a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    /// Written in decimal.
    Int(i64),
    /// Written as it stands; quoting is the template's.
    Text(&'a str),
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Arg::Int(value)
    }
}

/// For keys and counters, which never come near `i64::MAX`.
impl From<u64> for Arg<'_> {
    fn from(value: u64) -> Self {
        debug_assert!(i64::try_from(value).is_ok());
        Arg::Int(value as i64)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Arg::Text(value)
    }
}

/// A text such as `SELECT * FROM bench1 WHERE id={k}`.
#[derive(Clone, Debug)]
pub struct Template {
    pieces: Vec<(String, Option<usize>)>,
    places: Vec<String>,
}

impl Template {
    /// Cuts `text` at its `{name}` places; they are numbered by first appearance.
    pub fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut places: Vec<String> = Vec::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_place(rest) {
            let slot = places.iter().position(|p| p == name).unwrap_or_else(|| {
                places.push(name.to_string());
                places.len() - 1
            });
            pieces.push((before.to_string(), Some(slot)));
            rest = after;
        }
        pieces.push((rest.to_string(), None));
        Template { pieces, places }
    }

    /// The names of the places, in the order [`fill`](Template::fill) takes them.
    pub fn places(&self) -> &[String] {
        &self.places
    }

    /// Replaces `into` by the text with `args` in its places, one for each name in the
    /// order of [`places`](Template::places). Nothing is allocated once `into` is large enough.
    #[inline]
    pub fn fill(&self, into: &mut String, args: &[Arg<'_>]) {
        into.clear();
        self.append(into, args);
    }

    /// As [`fill`](Template::fill), after what `into` holds already.
    #[inline]
    pub fn append(&self, into: &mut String, args: &[Arg<'_>]) {
        debug_assert_eq!(args.len(), self.places.len(), "{:?}", self.places);
        for (text, slot) in &self.pieces {
            into.push_str(text);
            match slot.map(|slot| args[slot]) {
                None => {}
                Some(Arg::Text(text)) => into.push_str(text),
                Some(Arg::Int(value)) => {
                    let written = write!(into, "{value}");
                    debug_assert!(written.is_ok(), "a String takes every number");
                }
            }
        }
    }
}

/// The text before the first `{name}`, the name, and the text after it.
fn next_place(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find('{')?;
    let close = open + text[open..].find('}')?;
    Some((&text[..open], &text[open + 1..close], &text[close + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_by_first_appearance() {
        let template = Template::new("INSERT INTO t VALUES ({k},{k},'{text}')");
        assert_eq!(template.places(), ["k", "text"]);
        let mut sql = "left over".to_string();
        template.fill(&mut sql, &[7_i64.into(), "abc".into()]);
        assert_eq!(sql, "INSERT INTO t VALUES (7,7,'abc')");
        template.fill(&mut sql, &[(-1_i64).into(), "".into()]);
        assert_eq!(sql, "INSERT INTO t VALUES (-1,-1,'')");
        Template::new(",({k})").append(&mut sql, &[2_u64.into()]);
        assert_eq!(sql, "INSERT INTO t VALUES (-1,-1,''),(2)");
    }
}
