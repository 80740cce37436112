//! Cuts a script into SQL statements and backslash commands, as psql's scanner does.

use std::ops::Range;

use super::error::{ScriptError, Source};

/// A statement as it is sent, before its variables are looked at.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub text: String,
    /// Where it begins in the script.
    pub at: usize,
    /// The parts of `text` that are quoted.
    pub quoted: Vec<Range<usize>>,
    /// The parts of `text` that are comments.
    pub comments: Vec<Range<usize>>,
    /// Whether there is more than blanks, comments and semicolons.
    pub says_something: bool,
}

/// What ended a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Semicolon,
    /// A backslash command, which begins at the scanner's place.
    Backslash,
    End,
}

pub(super) struct Scanner<'a> {
    source: Source<'a>,
    /// The next byte to look at.
    pub at: usize,
    raw: Raw,
    parens: Vec<usize>,
    body: Body,
}

/// Follows the words of a statement, because semicolons between BEGIN ATOMIC and END of a
/// function do not end it.
#[derive(Default)]
struct Body {
    words: Vec<String>,
    depth: usize,
}

impl Body {
    fn word(&mut self, word: &str) {
        let word = word.to_ascii_lowercase();
        if self.makes_routine() {
            match word.as_str() {
                "begin" => self.depth += 1,
                "case" if self.depth > 0 => self.depth += 1,
                "end" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        } else if self.words.len() < 4 {
            self.words.push(word);
        }
    }

    fn makes_routine(&self) -> bool {
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        if let ["create", "or", "replace", ..] = words[..] {
            words.drain(1..3);
        }
        matches!(words[..], ["create", "function" | "procedure", ..])
    }
}

impl<'a> Scanner<'a> {
    pub fn new(source: Source<'a>) -> Self {
        Scanner {
            source,
            at: 0,
            raw: Raw::default(),
            parens: Vec::new(),
            body: Body::default(),
        }
    }

    fn rest(&self) -> &'a str {
        &self.source.text[self.at..]
    }

    /// Takes `length` bytes into the statement.
    fn take(&mut self, length: usize) {
        if self.raw.text.is_empty() {
            self.raw.at = self.at;
        }
        self.raw.text.push_str(&self.rest()[..length]);
        self.at += length;
    }

    /// The next statement, and what ended it.
    pub fn statement(&mut self) -> Result<(Raw, Ending), ScriptError> {
        let ending = loop {
            let Some(next) = self.rest().bytes().next() else {
                break Ending::End;
            };
            if let Some(ending) = self.step(next)? {
                break ending;
            }
        };
        if let Some(open) = self.parens.first() {
            return Err(self.source.error(*open, "'(' is never closed"));
        }
        self.body = Body::default();
        Ok((std::mem::take(&mut self.raw), ending))
    }

    fn step(&mut self, next: u8) -> Result<Option<Ending>, ScriptError> {
        let rest = self.rest();
        if next.is_ascii_whitespace() || next == 0x0b {
            self.blank();
        } else if rest.starts_with("--") {
            self.line_comment();
        } else if rest.starts_with("/*") {
            let length = block_comment(rest)
                .ok_or_else(|| self.source.error(self.at, "the comment is never closed"))?;
            let comment = self.span(length);
            self.raw.comments.push(comment);
        } else if next == b'\\' {
            match rest.as_bytes().get(1) {
                Some(b';' | b':') => {
                    self.at += 1;
                    self.take(1);
                }
                _ => return Ok(Some(Ending::Backslash)),
            }
        } else if next == b';' {
            self.take(1);
            if self.parens.is_empty() && self.body.depth == 0 {
                return Ok(Some(Ending::Semicolon));
            }
        } else {
            self.raw.says_something = true;
            self.content(next)?;
        }
        Ok(None)
    }

    /// Blanks count once a statement has begun.
    fn blank(&mut self) {
        if self.raw.text.is_empty() {
            self.at += 1;
        } else {
            self.take(1);
        }
    }

    /// Comment lines before a statement are not part of it.
    fn line_comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        if self.raw.text.is_empty() {
            self.at += length;
        } else {
            let comment = self.span(length);
            self.raw.comments.push(comment);
        }
    }

    /// Takes `length` bytes and says where they are in the statement.
    fn span(&mut self, length: usize) -> Range<usize> {
        let start = self.raw.text.len();
        self.take(length);
        start..start + length
    }

    fn take_quoted(&mut self, length: usize) {
        let quoted = self.span(length);
        self.raw.quoted.push(quoted);
    }

    fn content(&mut self, next: u8) -> Result<(), ScriptError> {
        let rest = self.rest();
        match next {
            b'\'' => self.quoted(0, false),
            b'"' => self.quoted(0, false),
            b'$' => match dollar_quote(rest) {
                Some(Ok(length)) => {
                    self.take_quoted(length);
                    Ok(())
                }
                Some(Err(())) => Err(self
                    .source
                    .error(self.at, "the dollar-quoted string is never closed")),
                None => {
                    self.take(1);
                    Ok(())
                }
            },
            b'(' => {
                self.parens.push(self.at);
                self.take(1);
                Ok(())
            }
            b')' => {
                self.parens.pop();
                self.take(1);
                Ok(())
            }
            _ if starts_word(next) => {
                let length = rest.bytes().take_while(|b| continues_word(*b)).count();
                let word = &rest[..length];
                let escapes = word.eq_ignore_ascii_case("e");
                if escapes && rest.as_bytes().get(1) == Some(&b'\'') {
                    return self.quoted(1, true);
                }
                if self.parens.is_empty() {
                    self.body.word(word);
                }
                self.take(length);
                Ok(())
            }
            b'0'..=b'9' => {
                self.take(rest.bytes().take_while(u8::is_ascii_digit).count());
                Ok(())
            }
            _ => {
                self.take(rest.chars().next().map_or(1, char::len_utf8));
                Ok(())
            }
        }
    }

    /// A quoted string or name whose quote stands behind `prefix` bytes. A doubled quote
    /// is two strings in a row, which for this purpose is the same.
    fn quoted(&mut self, prefix: usize, escapes: bool) -> Result<(), ScriptError> {
        let bytes = self.rest().as_bytes();
        let quote = bytes[prefix];
        let mut at = prefix + 1;
        loop {
            match bytes.get(at) {
                None => break,
                Some(b'\\') if escapes => at += 2,
                Some(b) if *b == quote => {
                    self.take_quoted(at + 1);
                    return Ok(());
                }
                Some(_) => at += 1,
            }
        }
        let what = match quote {
            b'"' => "the quoted name is never closed",
            _ => "the quoted string is never closed",
        };
        Err(self.source.error(self.at + prefix, what))
    }
}

fn starts_word(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || !b.is_ascii()
}

fn continues_word(b: u8) -> bool {
    starts_word(b) || b.is_ascii_digit() || b == b'$'
}

/// The length of the comment that begins `text`, others inside included.
fn block_comment(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0);
    loop {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            [] => return None,
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of the dollar-quoted string that begins `text`; `None` when the dollar sign
/// begins no quote, an error when the quote has no end.
fn dollar_quote(text: &str) -> Option<Result<usize, ()>> {
    let tag_end = 1 + text[1..].find('$')?;
    let tag = &text[1..tag_end];
    let is_tag = tag.bytes().all(|b| continues_word(b) && b != b'$')
        && !tag.starts_with(|c: char| c.is_ascii_digit());
    if !is_tag {
        return None;
    }
    let mark = &text[..=tag_end];
    let body = &text[mark.len()..];
    Some(body.find(mark).map(|n| n + 2 * mark.len()).ok_or(()))
}
